#   make bench             the benchmark, against pyfluss on the same cluster

.PHONY: bench
bench:
	@MAKE='$(MAKE)' bench/run
