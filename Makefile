# fluss_fdw: a PostgreSQL foreign data wrapper for Apache Fluss.
#
#   make, make install, make installcheck    as with any PGXS extension
#   make demo, make demo-stop, make test     do their own set-up: test/dev.mk
#   make check-client                        unit tests of src/client alone

EXTENSION = fluss_fdw
MODULE_big = fluss_fdw
PGFILEDESC = "fluss_fdw - foreign data wrapper for Apache Fluss"
DATA = sql/fluss_fdw--0.1.sql

PG_CONFIG ?= pg_config
PKG_CONFIG ?= pkg-config
PROTOC_C ?= protoc-c

CLIENT_LIBS = libprotobuf-c libzstd liblz4 jansson libcares libcurl

PROTO_C = src/client/fluss.pb-c.c
PROTO_H = src/client/fluss.pb-c.h
CLIENT_SRCS = $(filter-out $(PROTO_C),$(sort $(wildcard src/client/*.c)))
CLIENT_OBJS = $(CLIENT_SRCS:.c=.o) $(PROTO_C:.c=.o)
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c))) $(CLIENT_OBJS)

# Only what SQL calls is visible: other modules may bring the same libraries.
WARNINGS = -Wall -Wextra -Wshadow \
	-Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
PG_CFLAGS = -std=gnu11 -fvisibility=hidden $(WARNINGS) $(WERROR)
PG_CPPFLAGS = -Isrc -Isrc/client $(CLIENT_CPPFLAGS)
SHLIB_LINK = $(CLIENT_LDLIBS)

REGRESS = $(notdir $(basename $(sort $(wildcard sql/[0-9][0-9]_*.sql))))
REGRESS_OPTS = --inputdir=. --load-extension=fluss_fdw
EXTRA_CLEAN = $(PROTO_C) $(PROTO_H) src/client/*.o src/*.o build/unit $(HELPER)

# The program that reads KV snapshots; without librocksdb there is none.
HELPER = fluss_fdw_rocksdb

# A fresh machine has neither pg_config nor pkg-config yet: the targets of
# test/dev.mk install what is missing and call make again.
ifneq ($(shell command -v $(PG_CONFIG) 2>/dev/null),)
CLIENT_CPPFLAGS := $(shell $(PKG_CONFIG) --cflags $(CLIENT_LIBS) 2>/dev/null)
CLIENT_LDLIBS := $(shell $(PKG_CONFIG) --libs $(CLIENT_LIBS) 2>/dev/null)
PGXS := $(shell $(PG_CONFIG) --pgxs)
# inlining by the JIT would need clang to build and gains nothing here
override with_llvm = no
include $(PGXS)
else
.DEFAULT_GOAL := all
.PHONY: all install installcheck uninstall clean
all install installcheck uninstall clean:
	@echo "$(PG_CONFIG) was not found: install PostgreSQL's headers, or say PG_CONFIG=/path/to/pg_config" >&2; exit 1
endif

$(PROTO_C) $(PROTO_H) &: src/client/fluss.proto
	cd src/client && $(PROTOC_C) --c_out=. fluss.proto

# The generated code is the generator's: it is not held to our warnings.
$(PROTO_C:.c=.o): CFLAGS += -w
src/client/rpc.o src/client/rpc_admin.o src/client/rpc_pb.o $(PROTO_C:.c=.o): $(PROTO_H)

$(HELPER): src/helper/fluss_fdw_rocksdb.c src/client/helper.h
	$(CC) -std=gnu11 -O2 -pthread $(WARNINGS) $(WERROR) -Isrc/client $(CPPFLAGS_HELPER) -o $@ $< $(LDLIBS_HELPER)

ifeq ($(shell $(PKG_CONFIG) --exists rocksdb 2>/dev/null && echo yes),yes)
CPPFLAGS_HELPER = $(shell $(PKG_CONFIG) --cflags rocksdb)
LDLIBS_HELPER = $(shell $(PKG_CONFIG) --libs rocksdb)
.PHONY: install-helper
all: $(HELPER)
install: install-helper
install-helper: $(HELPER) installdirs
	$(INSTALL_PROGRAM) $(HELPER) '$(DESTDIR)$(pkglibdir)/$(HELPER)'
endif
uninstall: uninstall-helper
.PHONY: uninstall-helper
uninstall-helper:
	rm -f '$(DESTDIR)$(pkglibdir)/$(HELPER)'

HEADERS_ALL = $(wildcard src/*.h src/client/*.h)
$(OBJS): $(HEADERS_ALL)

include test/unit/unit.mk
include test/client/client.mk
-include test/dev.mk
-include bench/bench.mk
