/*
 * arrow_codec.c
 *	  Compressed Arrow buffers.
 *
 * A packed buffer is int64 unpacked size, then one LZ4 or zstd frame; a size
 * of -1 says that the rest is stored as it is.  Without a codec there is no
 * such prefix.
 *
 * The zstd contexts live on the host's memory.  liblz4 has no such hook in its
 * stable interface: its contexts are made and freed within one message.
 */
#define ZSTD_STATIC_LINKING_ONLY	/* custom memory */
#include <lz4frame.h>
#include <zstd.h>

#include "arrow.h"
#include "error.h"

#define PREFIX_SIZE		8

/* ---- unpacking */

void
fluss_unpacker_init(fluss_unpacker *unpacker, fluss_arena *arena,
					fluss_codec codec, int64_t max_bytes)
{
	memset(unpacker, 0, sizeof(*unpacker));
	unpacker->arena = arena;
	unpacker->codec = codec;
	unpacker->bytes_left = max_bytes;
}

void
fluss_unpacker_free(fluss_unpacker *unpacker)
{
	ZSTD_freeDCtx(unpacker->zstd);
	LZ4F_freeDecompressionContext(unpacker->lz4);
	unpacker->zstd = NULL;
	unpacker->lz4 = NULL;
}

static fluss_status
fail_codec(const char *codec, const char *problem, fluss_error *err)
{
	fluss_fail(err, FLUSS_MALFORMED, "could not decompress an Arrow buffer");
	fluss_error_detail(err, "%s: %s.", codec, problem);
	return FLUSS_MALFORMED;
}

static ZSTD_customMem
host_memory(const fluss_host *host)
{
	ZSTD_customMem memory = {host->alloc, host->free, host->arg};

	return memory;
}

static fluss_status
unpack_zstd(fluss_unpacker *unpacker, fluss_bytes packed, uint8_t *out,
			size_t size, fluss_error *err)
{
	size_t		result;

	if (unpacker->zstd == NULL)
		unpacker->zstd =
			ZSTD_createDCtx_advanced(host_memory(unpacker->arena->host));
	if (unpacker->zstd == NULL)
		return fluss_fail_memory(err);
	result = ZSTD_decompressDCtx(unpacker->zstd, out, size, packed.data,
								 packed.size);
	if (ZSTD_isError(result))
		return fail_codec("zstd", ZSTD_getErrorName(result), err);
	if (result != size)
		return fail_codec("zstd", "another size than announced", err);
	return FLUSS_OK;
}

/* The frame must end where the bytes end, and give exactly size bytes. */
static fluss_status
unpack_lz4(fluss_unpacker *unpacker, fluss_bytes packed, uint8_t *out,
		   size_t size, fluss_error *err)
{
	LZ4F_decompressOptions_t options = {.stableDst = 1};
	LZ4F_dctx  *context = unpacker->lz4;
	size_t		done = 0;
	size_t		read = 0;
	size_t		hint;

	if (context == NULL &&
		LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
		return fluss_fail_memory(err);
	unpacker->lz4 = context;
	do
	{
		size_t		n_out = size - done;
		size_t		n_in = packed.size - read;

		hint = LZ4F_decompress(context, out + done, &n_out,
							   packed.data + read, &n_in, &options);
		if (LZ4F_isError(hint))
		{
			LZ4F_resetDecompressionContext(context);
			return fail_codec("LZ4", LZ4F_getErrorName(hint), err);
		}
		done += n_out;
		read += n_in;
		if (n_in == 0 && n_out == 0)
			break;
	} while (hint != 0);
	if (hint != 0 || done != size || read != packed.size)
	{
		LZ4F_resetDecompressionContext(context);
		return fail_codec("LZ4", "another size than announced", err);
	}
	return FLUSS_OK;
}

fluss_status
fluss_unpack(fluss_unpacker *unpacker, fluss_bytes packed, fluss_bytes *bytes,
			 fluss_error *err)
{
	int64_t		size;
	uint8_t    *out;

	*bytes = packed;
	if (unpacker->codec == FLUSS_CODEC_NONE || packed.size == 0)
		return FLUSS_OK;
	if (packed.size < PREFIX_SIZE)
		return fail_codec("prefix", "less than 8 bytes", err);
	size = (int64_t) fluss_load_u64le(packed.data);
	packed.data += PREFIX_SIZE;
	packed.size -= PREFIX_SIZE;
	*bytes = packed;
	if (size == -1)
		return FLUSS_OK;
	bytes->size = 0;
	if (size == 0)
		return FLUSS_OK;
	if (size < 0)
		return fail_codec("prefix", "a negative size", err);
	if (size > unpacker->bytes_left)
	{
		fluss_fail(err, FLUSS_MEMORY_CAP,
				   "a batch needs more memory than allowed");
		fluss_error_detail(err, "A compressed buffer wants %lld bytes where %lld are left.",
						   (long long) size, (long long) unpacker->bytes_left);
		return FLUSS_MEMORY_CAP;
	}
	out = fluss_arena_alloc(unpacker->arena, (size_t) size);
	if (out == NULL)
		return fluss_fail_memory(err);
	unpacker->bytes_left -= size;
	bytes->data = out;
	bytes->size = (size_t) size;
	return unpacker->codec == FLUSS_CODEC_ZSTD ?
		unpack_zstd(unpacker, packed, out, (size_t) size, err) :
		unpack_lz4(unpacker, packed, out, (size_t) size, err);
}

/* ---- packing */

void
fluss_packer_init(fluss_packer *packer, const fluss_host *host)
{
	packer->host = host;
	packer->zstd = NULL;
}

void
fluss_packer_free(fluss_packer *packer)
{
	ZSTD_freeCCtx(packer->zstd);
	packer->zstd = NULL;
}

/* Size of the frame, or 0 when it does not shrink the bytes. */
static size_t
pack_zstd(fluss_packer *packer, int level, const void *data, size_t size,
		  uint8_t *out, size_t room)
{
	size_t		result = ZSTD_compressCCtx(packer->zstd, out, room, data, size,
										   level);

	return ZSTD_isError(result) || result >= size ? 0 : result;
}

/* The Java client refuses blocks that depend on each other. */
static const LZ4F_preferences_t lz4_preferences = {
	.frameInfo = {.blockMode = LZ4F_blockIndependent}
};

static size_t
pack_lz4(const void *data, size_t size, uint8_t *out, size_t room)
{
	size_t		result = LZ4F_compressFrame(out, room, data, size,
											&lz4_preferences);

	return LZ4F_isError(result) || result >= size ? 0 : result;
}

fluss_status
fluss_pack(fluss_packer *packer, fluss_codec codec, int zstd_level,
		   const void *data, size_t size, fluss_buf *out, fluss_error *err)
{
	bool		zstd = codec == FLUSS_CODEC_ZSTD;
	size_t		room;
	size_t		packed = 0;
	uint8_t    *p;

	if (codec == FLUSS_CODEC_NONE)
	{
		fluss_buf_append(out, data, size);
		return out->failed ? fluss_fail_memory(err) : FLUSS_OK;
	}
	if (zstd && packer->zstd == NULL)
		packer->zstd = ZSTD_createCCtx_advanced(host_memory(packer->host));
	if (zstd && packer->zstd == NULL)
		return fluss_fail_memory(err);
	room = zstd ? ZSTD_compressBound(size) :
		LZ4F_compressFrameBound(size, &lz4_preferences);
	p = fluss_buf_reserve(out, PREFIX_SIZE + room);
	if (p == NULL)
		return fluss_fail_memory(err);
	if (size > 0)
		packed = zstd ?
			pack_zstd(packer, zstd_level, data, size, p + PREFIX_SIZE, room) :
			pack_lz4(data, size, p + PREFIX_SIZE, room);
	fluss_store_u64le(p, packed > 0 ? (uint64_t) size : UINT64_MAX);
	out->size += PREFIX_SIZE + packed;
	if (packed == 0)
		fluss_buf_append(out, data, size);
	return FLUSS_OK;
}
