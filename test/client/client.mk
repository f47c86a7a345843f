# Tests of the client half against a real cluster.
#
#   make check-cluster             FLUSS_BOOTSTRAP, or the cluster of test/cluster
#   make check-cluster SANITIZE=address,undefined
#   build/client/bench             how fast, on that cluster

CLIENT_TEST_DIR = build/client$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
CLIENT_TEST_CFLAGS = $(UNIT_CFLAGS) -O2 -Itest/unit -Itest/client
CLIENT_TEST_SUPPORT = $(UNIT_DIR)/support.o $(UNIT_DIR)/values.o

$(CLIENT_TEST_DIR)/%.o: test/client/%.c $(wildcard test/client/*.h test/unit/*.h src/client/*.h)
	@mkdir -p $(@D)
	$(UNIT_CC) $(CLIENT_TEST_CFLAGS) -c -o $@ $<

CLIENT_TESTS = $(patsubst test/client/%.c,$(CLIENT_TEST_DIR)/%,$(sort $(wildcard test/client/*_test.c)))

$(CLIENT_TEST_DIR)/%_test: $(CLIENT_TEST_DIR)/%_test.o \
		$(CLIENT_TEST_DIR)/tables.o $(CLIENT_TEST_DIR)/rows.o \
		$(CLIENT_TEST_SUPPORT) $(UNIT_DIR)/libfluss.a
	$(UNIT_CC) $(UNIT_CFLAGS) -o $@ $^ $(UNIT_LIBS)

# Writes texts that are none, for the TAP tests.
$(CLIENT_TEST_DIR)/write_raw: $(CLIENT_TEST_DIR)/write_raw.o \
		$(CLIENT_TEST_DIR)/tables.o $(CLIENT_TEST_SUPPORT) $(UNIT_DIR)/libfluss.a
	$(UNIT_CC) $(UNIT_CFLAGS) -o $@ $^ $(UNIT_LIBS)

# Measured as it is used: optimized, with a host that does nothing extra.
$(CLIENT_TEST_DIR)/bench: test/client/bench.c $(CLIENT_SRCS) $(PROTO_C)
	@mkdir -p $(@D)
	$(UNIT_CC) -std=gnu11 -O2 -g -w -Isrc/client $(filter -I%,$(UNIT_CFLAGS)) \
		-o $@ $^ $(UNIT_LIBS)

.PHONY: check-cluster
check-cluster: $(CLIENT_TESTS)
	@set -ae; \
	if [ -z "$$FLUSS_BOOTSTRAP" ]; then . build/cluster/cluster.env; fi; \
	rc=0; for t in $(CLIENT_TESTS); do ./$$t || rc=1; done; exit $$rc
