# Unit tests of the client half.  They compile src/client alone, without
# PostgreSQL's include path: that is what keeps PostgreSQL out of it.
#
#   make check-client              all of test/unit/*_test.c
#   make check-client SANITIZE=address,undefined
#   make unit-tests                builds them only

UNIT_DIR = build/unit$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
comma := ,
UNIT_CC ?= cc
UNIT_CFLAGS = -std=gnu11 -g -O1 $(WARNINGS) -Wstrict-prototypes $(WERROR) -Isrc/client \
	$(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer) \
	$(shell $(PKG_CONFIG) --cflags $(CLIENT_LIBS) cmocka 2>/dev/null)
UNIT_LIBS = $(shell $(PKG_CONFIG) --libs $(CLIENT_LIBS) cmocka 2>/dev/null)
UNIT_OBJS = $(patsubst src/client/%.c,$(UNIT_DIR)/%.o,$(CLIENT_SRCS) $(PROTO_C))
UNIT_FAKE = $(patsubst test/unit/%.c,$(UNIT_DIR)/%.o,$(wildcard test/unit/fake_*.c))
UNIT_SUPPORT = $(filter-out $(UNIT_FAKE),$(patsubst test/unit/%.c,$(UNIT_DIR)/%.o,\
	$(filter-out %_test.c,$(wildcard test/unit/*.c))))
UNIT_TESTS = $(patsubst test/unit/%.c,$(UNIT_DIR)/%,$(sort $(wildcard test/unit/*_test.c)))

$(UNIT_DIR)/fluss.pb-c.o: src/client/fluss.pb-c.c
	@mkdir -p $(@D)
	$(UNIT_CC) $(UNIT_CFLAGS) -w -c -o $@ $<

$(UNIT_DIR)/%.o: src/client/%.c $(wildcard src/client/*.h) $(PROTO_H)
	@mkdir -p $(@D)
	$(UNIT_CC) $(UNIT_CFLAGS) -c -o $@ $<

$(UNIT_DIR)/%.o: test/unit/%.c $(wildcard src/client/*.h test/unit/*.h) $(PROTO_H)
	@mkdir -p $(@D)
	$(UNIT_CC) $(UNIT_CFLAGS) -c -o $@ $<

# What is fuzzed is replayed by one of the tests.
$(UNIT_DIR)/fuzz_targets.o: test/fuzz/targets.c $(wildcard src/client/*.h test/fuzz/*.h) $(PROTO_H)
	@mkdir -p $(@D)
	$(UNIT_CC) $(UNIT_CFLAGS) -c -o $@ $<

$(UNIT_DIR)/corpus_test: $(UNIT_DIR)/fuzz_targets.o

# These have a simulated server in place of the real cluster.h.
$(patsubst %,$(UNIT_DIR)/%_test,fetch fetch_faults fetch_remote kvscan lookup lookup_pipeline writer \
	writer_peers): $(UNIT_FAKE)

$(UNIT_DIR)/libfluss.a: $(UNIT_OBJS)
	rm -f $@ && ar rcs $@ $^

$(UNIT_DIR)/libtest.a: $(UNIT_SUPPORT)
	rm -f $@ && ar rcs $@ $^

$(UNIT_DIR)/%_test: $(UNIT_DIR)/%_test.o $(UNIT_DIR)/libtest.a $(UNIT_DIR)/libfluss.a
	$(UNIT_CC) $(UNIT_CFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(UNIT_LIBS)

.PHONY: check-client unit-tests
.SECONDARY:
unit-tests: $(UNIT_TESTS)

check-client: unit-tests
	@rc=0; for t in $(UNIT_TESTS); do ./$$t || rc=1; done; exit $$rc

include test/fuzz/fuzz.mk
