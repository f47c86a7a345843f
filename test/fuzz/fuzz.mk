# Fuzzing with libFuzzer, under the address and undefined sanitizers.
#
#   make fuzz-log_batch            for a minute; FUZZ_TIME=600 for longer
#
# Targets: test/fuzz/targets.c.  What is found new is kept in build/fuzz; what
# makes a target fail belongs into test/fuzz/corpus, which check-client replays.

FUZZ_CC ?= clang-14
FUZZ_TIME ?= 60
FUZZ_CFLAGS = -std=gnu11 -g -O2 $(WARNINGS) -Isrc/client -Itest/fuzz \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	$(shell $(PKG_CONFIG) --cflags $(CLIENT_LIBS) 2>/dev/null)
FUZZ_SRCS = test/fuzz/targets.c test/fuzz/main.c $(addprefix src/client/,\
	arena.c arrow_codec.c arrow_ipc.c arrow_read.c arrow_write.c buf.c column.c error.c \
	hash.c kv_batch.c log_batch.c row.c row_compacted.c \
	row_indexed.c row_nested.c schema.c type.c value.c)

build/fuzz/%: $(FUZZ_SRCS) $(wildcard src/client/*.h test/fuzz/*.h)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -DFUZZ_TARGET='"$*"' -o $@ $(FUZZ_SRCS) \
		$(shell $(PKG_CONFIG) --libs $(CLIENT_LIBS))

fuzz-%: build/fuzz/%
	@mkdir -p build/fuzz/corpus-$*
	build/fuzz/$* -max_total_time=$(FUZZ_TIME) -rss_limit_mb=1024 \
		-artifact_prefix=build/fuzz/ build/fuzz/corpus-$* test/fuzz/corpus/$*
