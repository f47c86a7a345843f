/*
 * version.c
 *	  The libraries that this one was built with.
 */
#include <ares_version.h>
#include <curl/curlver.h>
#include <jansson.h>
#include <lz4.h>
#include <protobuf-c/protobuf-c.h>
#include <zstd.h>

#include "fluss.h"

static const char *const versions[] = {
	"c-ares " ARES_VERSION_STR,
	"curl " LIBCURL_VERSION,
	"jansson " JANSSON_VERSION,
	"lz4 " LZ4_VERSION_STRING,
	"protobuf-c " PROTOBUF_C_VERSION,
	"zstd " ZSTD_VERSION_STRING,
	NULL
};

const char *const *
fluss_library_versions(void)
{
	return versions;
}
