/*
 * helper.h
 *	  What the client and the helper program say to each other.
 *
 * The program reads one RocksDB folder and lives as long as one bucket's read.
 * It is started as
 *
 *		fluss_fdw_rocksdb FOLDER PARENT_PID MAX_FOLDER_BYTES
 *
 * with one socket as its standard input and output.  First it takes changes:
 *
 *		u8 kind . u32 key size . u32 value size . key . value
 *
 * kind FLUSS_HELPER_PUT or FLUSS_HELPER_DELETE (no value), applied in order to
 * the folder, which is its own to write.  FLUSS_HELPER_READ, with both sizes
 * 0, ends them: from then on the program writes the values of all keys, in the
 * order of the keys' bytes:
 *
 *		u32 value size . value
 *
 * until FLUSS_HELPER_END . u64 number of values, or, at any time, until
 * FLUSS_HELPER_ERROR . u32 text size . text.  Integers are little endian.
 */
#ifndef FLUSS_HELPER_H
#define FLUSS_HELPER_H

#define FLUSS_HELPER_PUT		'P'
#define FLUSS_HELPER_DELETE		'D'
#define FLUSS_HELPER_READ		'R'
#define FLUSS_HELPER_HEADER		9

#define FLUSS_HELPER_END		UINT32_C(0xffffffff)
#define FLUSS_HELPER_ERROR		UINT32_C(0xfffffffe)
/* Exit status when the folder has grown beyond what it may. */
#define FLUSS_HELPER_OVER_LIMIT	3
/* Longest value, and longest key. */
#define FLUSS_HELPER_MAX_VALUE	UINT32_C(0x7fffffff)
#define FLUSS_HELPER_MAX_TEXT	400

#endif							/* FLUSS_HELPER_H */
