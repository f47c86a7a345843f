/*
 * fluss_value.h
 *	  Part of fluss.h: values, and the columns of a batch.
 */
#ifndef FLUSS_VALUE_H
#define FLUSS_VALUE_H

#include "fluss_table.h"

/* ---------------------------------------------------------------- values */

typedef struct fluss_bytes
{
	const uint8_t *data;
	size_t		size;
} fluss_bytes;

/* One value; which member holds it follows from the column's type. */
typedef struct fluss_value fluss_value;
struct fluss_value
{
	bool		is_null;
	union
	{
		bool		boolean;
		int64_t		integer;	/* TINYINT..BIGINT; DATE in days since
								 * 1970-01-01; TIME in milliseconds */
		float		float4;
		double		float8;
		struct
		{
			int64_t		millis; /* since 1970-01-01 00:00 (UTC for LTZ) */
			int32_t		nanos;	/* of the millisecond, 0..999999 */
		}			timestamp;
		struct
		{
			uint64_t	low;
			int64_t		high;
		}			decimal;	/* unscaled, 128-bit two's complement */
		fluss_bytes bytes;		/* CHAR, STRING (UTF-8), BINARY, BYTES */
		struct
		{
			const fluss_value *items;
			int32_t		n;
		}			nested;		/* ARRAY: n elements; MAP: n entries, items are
								 * key, value, key, value; ROW: its n fields */
	}			u;
};

/* ARRAY, MAP and ROW in one another: no deeper than this. */
#define FLUSS_MAX_NESTING 32

/* Longest text of one partition value that Fluss takes, with its NUL. */
#define FLUSS_PARTITION_TEXT_SIZE 201

/*
 * One partition value as it stands in a partition's name, and back.  A value
 * that no partition can be named by is FLUSS_VALUE_OUT_OF_RANGE.  The bytes of
 * a value read back lie in buffer, which holds FLUSS_PARTITION_TEXT_SIZE.
 */
FLUSS_MUST_CHECK fluss_status fluss_partition_text(const fluss_type *type,
												   const fluss_value *value,
												   char *text,
												   fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_partition_value(const fluss_type *type,
													const char *text,
													uint8_t *buffer,
													fluss_value *value,
													fluss_error *err);

/* ----------------------------------------------------------- column views */

/*
 * One column of a batch: a view over verified Arrow buffers.  Everything a
 * reader needs was checked when the batch was opened: offsets ascend and stay
 * within data, fixed-width data has length * width bytes.  Buffers are little
 * endian and may be unaligned; use the functions below.
 */
typedef struct fluss_column_view fluss_column_view;
struct fluss_column_view
{
	const fluss_type *type;
	int32_t		length;
	bool		all_null;		/* column is absent from the batch's schema */
	const uint8_t *validity;	/* bit i set: value i is not NULL; NULL: none is */
	const uint8_t *offsets;		/* (length + 1) int32 for STRING, CHAR, BYTES,
								 * ARRAY and MAP */
	const uint8_t *data;
	const fluss_column_view *children;	/* ARRAY: the elements; MAP: keys,
										 * values; ROW: one per field, value i
										 * of row i */
};

static inline bool
fluss_column_is_null(const fluss_column_view *view, int32_t row)
{
	return view->all_null ||
		(view->validity != NULL &&
		 (view->validity[row >> 3] & (1 << (row & 7))) == 0);
}

/* Reads one scalar value; bytes point into the batch. */
void fluss_column_value(const fluss_column_view *view, int32_t row,
						fluss_value *value);
/*
 * Reads an ARRAY, MAP or ROW.  All its items, at every depth, lie in one
 * allocation of the host that starts at value->u.nested.items (NULL when there
 * are none) and is the caller's to free; bytes point into the batch.
 */
FLUSS_MUST_CHECK fluss_status fluss_column_nested(const fluss_host *host,
												  const fluss_column_view *view,
												  int32_t row,
												  fluss_value *value,
												  fluss_error *err);

/*
 * The same for loops that looked at the type once.  The value must not be
 * NULL.  TIME is an int32 up to precision 3 and an int64 above, TIMESTAMP and
 * TIMESTAMP_LTZ are int64; both count units of 10^-fluss_type_digits seconds.
 */
static inline int
fluss_type_digits(const fluss_type *type)
{
	return (type->precision + 2) / 3 * 3;
}

static inline bool
fluss_column_boolean(const fluss_column_view *view, int32_t row)
{
	return (view->data[row >> 3] >> (row & 7) & 1) != 0;
}

static inline int8_t
fluss_column_int8(const fluss_column_view *view, int32_t row)
{
	return (int8_t) view->data[row];
}

static inline int16_t
fluss_column_int16(const fluss_column_view *view, int32_t row)
{
	uint16_t	v;

	memcpy(&v, view->data + (size_t) row * sizeof(v), sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap16(v);
#endif
	return (int16_t) v;
}

static inline int32_t
fluss_column_int32(const fluss_column_view *view, int32_t row)
{
	uint32_t	v;

	memcpy(&v, view->data + (size_t) row * sizeof(v), sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return (int32_t) v;
}

static inline int64_t
fluss_column_int64(const fluss_column_view *view, int32_t row)
{
	uint64_t	v;

	memcpy(&v, view->data + (size_t) row * sizeof(v), sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return (int64_t) v;
}

static inline float
fluss_column_float4(const fluss_column_view *view, int32_t row)
{
	int32_t		bits = fluss_column_int32(view, row);
	float		v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline double
fluss_column_float8(const fluss_column_view *view, int32_t row)
{
	int64_t		bits = fluss_column_int64(view, row);
	double		v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* CHAR, STRING, BYTES and BINARY; the bytes point into the batch. */
static inline fluss_bytes
fluss_column_bytes(const fluss_column_view *view, int32_t row)
{
	fluss_bytes bytes;
	uint32_t	bounds[2];

	if (view->offsets == NULL)
	{
		bytes.size = (size_t) view->type->length;
		bytes.data = view->data + (size_t) row * bytes.size;
		return bytes;
	}
	memcpy(bounds, view->offsets + (size_t) row * sizeof(uint32_t),
		   sizeof(bounds));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	bounds[0] = __builtin_bswap32(bounds[0]);
	bounds[1] = __builtin_bswap32(bounds[1]);
#endif
	bytes.data = view->data + bounds[0];
	bytes.size = bounds[1] - bounds[0];
	/* servers leave the padding of INDEXED rows in what they make of them */
	if (view->type->id == FLUSS_CHAR)
	{
		while (bytes.size > 0 && bytes.data[bytes.size - 1] == 0)
			bytes.size--;
	}
	return bytes;
}

#endif							/* FLUSS_VALUE_H */
