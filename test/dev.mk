# What a developer runs. These targets set up for themselves what they need, so
# that they work on a machine that has nothing but git and make.
#
#   make test              every test, on a cluster and a PostgreSQL of its own
#   make demo, demo-stop   the demo; it leaves its cluster and PostgreSQL up
#   make dev, dev-stop     a cluster and a PostgreSQL to work with, build/*.env
#   make dev-check         installs there and runs pg_regress
#   make differential      there, too: every query under every setting, compared
#                          with heap tables; SEED=n QUERIES=n make differential
#   make full              what the tests show in small at full size, for hours;
#                          some of it: make full PARTS="memory join"

.PHONY: test demo demo-stop dev dev-stop dev-check differential full

test:
	@MAKE='$(MAKE)' test/run

demo:
	@MAKE='$(MAKE)' demo/run

demo-stop:
	@demo/run stop

dev:
	@test/setup
	@test/cluster/cluster start
	@test/pg/pg start

dev-stop:
	@test/pg/pg stop
	@test/cluster/cluster stop

dev-check: all
	@set -ae; . build/cluster/cluster.env; . build/pg/pg.env; \
	$(MAKE) -s install DESTDIR=$$FLUSS_PG_PREFIX; \
	$(MAKE) -s installcheck TAP_TESTS=

differential: dev
	@set -ae; . build/cluster/cluster.env; . build/pg/pg.env; \
	$(MAKE) -s all; \
	$(MAKE) -s install DESTDIR=$$FLUSS_PG_PREFIX; \
	FLUSS_CLUSTER_DIR=$(CURDIR)/build/cluster test/differential/run $(DIFFERENTIAL)

full:
	@MAKE='$(MAKE)' test/full/run $(PARTS)
