/*
 * address.c
 *	  Server addresses as users write them.
 *
 * Parsing works on spans of the text, so that a list can be checked without
 * memory.  Blanks around an entry are allowed, empty entries are not.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "address.h"
#include "error.h"

typedef struct span
{
	const char *start;
	const char *end;
} span;

typedef struct parsed_address
{
	span		host;
	int32_t		port;			/* 0: none given */
} parsed_address;

static span
trim(span text)
{
	while (text.start < text.end && (*text.start == ' ' || *text.start == '\t'))
		text.start++;
	while (text.end > text.start &&
		   (text.end[-1] == ' ' || text.end[-1] == '\t'))
		text.end--;
	return text;
}

/* Cuts the next piece up to the separator off *rest; false when none is left. */
static bool
next_piece(const char **rest, const char *end, char separator, span *piece)
{
	const char *stop;

	if (*rest == NULL)
		return false;
	stop = memchr(*rest, separator, end - *rest);
	piece->start = *rest;
	piece->end = stop != NULL ? stop : end;
	*rest = stop != NULL ? stop + 1 : NULL;
	*piece = trim(*piece);
	return true;
}

static int32_t
parse_port(span text)
{
	int32_t		port = 0;

	if (text.start == text.end || text.end - text.start > 5)
		return -1;
	for (const char *p = text.start; p < text.end; p++)
	{
		if (*p < '0' || *p > '9')
			return -1;
		port = port * 10 + (*p - '0');
	}
	return port >= 1 && port <= 65535 ? port : -1;
}

static fluss_status
refuse(fluss_error *err, span text)
{
	(void) fluss_fail(err, FLUSS_INVALID_ARGUMENT,
					  "\"%.*s\" is not a server address",
					  (int) (text.end - text.start), text.start);
	fluss_error_hint(err, "Write host:port, and an IPv6 address in brackets.");
	return err->status;
}

static fluss_status
parse_address(span text, parsed_address *address, fluss_error *err)
{
	const char *colon;
	const char *close;

	address->port = 0;
	address->host = text;
	if (text.start < text.end && *text.start == '[')
	{
		close = memchr(text.start, ']', text.end - text.start);
		if (close == NULL)
			return refuse(err, text);
		address->host.start = text.start + 1;
		address->host.end = close;
		colon = close + 1;
		if (colon < text.end && *colon != ':')
			return refuse(err, text);
	}
	else
	{
		colon = memchr(text.start, ':', text.end - text.start);
		if (colon == NULL)
			colon = text.end;
		address->host.end = colon;
	}
	if (address->host.start == address->host.end ||
		memchr(address->host.start, ' ',
			   address->host.end - address->host.start) != NULL)
		return refuse(err, text);
	if (colon < text.end)
	{
		span		port = {colon + 1, text.end};

		address->port = parse_port(port);
		if (address->port < 0)
			return refuse(err, text);
	}
	return FLUSS_OK;
}

static fluss_status
parse_pair(span text, parsed_address *advertised, parsed_address *reachable,
		   fluss_error *err)
{
	const char *equals = memchr(text.start, '=', text.end - text.start);
	span		left = {text.start, equals};
	span		right = {equals != NULL ? equals + 1 : NULL, text.end};
	fluss_status status;

	if (equals == NULL)
		return refuse(err, text);
	status = parse_address(trim(left), advertised, err);
	if (status == FLUSS_OK)
		status = parse_address(trim(right), reachable, err);
	if (status != FLUSS_OK)
		return status;
	if ((advertised->port == 0) != (reachable->port == 0))
	{
		(void) fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "\"%.*s\" has a port on one side only",
						  (int) (text.end - text.start), text.start);
		return err->status;
	}
	return FLUSS_OK;
}

static int
count_pieces(const char *list)
{
	int			n = 1;

	for (const char *p = list; *p != '\0'; p++)
		n += *p == ',';
	return n;
}

static bool
store(fluss_arena *arena, const parsed_address *parsed, fluss_address *address)
{
	address->host = fluss_arena_strndup(arena, parsed->host.start,
										parsed->host.end - parsed->host.start);
	address->port = parsed->port;
	return address->host != NULL;
}

/* With arena NULL only checks. */
static fluss_status
read_list(fluss_arena *arena, const char *list, fluss_address *addresses,
		  fluss_error *err)
{
	const char *rest = list;
	span		piece;
	int			n = 0;

	while (next_piece(&rest, list + strlen(list), ',', &piece))
	{
		parsed_address parsed;
		fluss_status status = parse_address(piece, &parsed, err);

		if (status != FLUSS_OK)
			return status;
		if (parsed.port == 0)
			return refuse(err, piece);
		if (arena != NULL && !store(arena, &parsed, &addresses[n++]))
			return fluss_fail_memory(err);
	}
	return FLUSS_OK;
}

static fluss_status
read_map(fluss_arena *arena, const char *list, fluss_address_pair *pairs,
		 fluss_error *err)
{
	const char *rest = list;
	span		piece;
	int			n = 0;

	while (next_piece(&rest, list + strlen(list), ',', &piece))
	{
		parsed_address advertised;
		parsed_address reachable;
		fluss_status status = parse_pair(piece, &advertised, &reachable, err);

		if (status != FLUSS_OK)
			return status;
		if (arena != NULL &&
			(!store(arena, &advertised, &pairs[n].advertised) ||
			 !store(arena, &reachable, &pairs[n++].reachable)))
			return fluss_fail_memory(err);
	}
	return FLUSS_OK;
}

fluss_status
fluss_address_list(fluss_arena *arena, const char *list,
				   fluss_address **addresses, int *naddresses,
				   fluss_error *err)
{
	*naddresses = count_pieces(list);
	*addresses = fluss_arena_array(arena, *naddresses, sizeof(**addresses));
	if (*addresses == NULL)
		return fluss_fail_memory(err);
	return read_list(arena, list, *addresses, err);
}

static bool
is_blank(const char *text)
{
	return text == NULL || text[strspn(text, " \t")] == '\0';
}

fluss_status
fluss_address_map(fluss_arena *arena, const char *list,
				  fluss_address_pair **pairs, int *npairs, fluss_error *err)
{
	*pairs = NULL;
	*npairs = 0;
	if (is_blank(list))
		return FLUSS_OK;
	*npairs = count_pieces(list);
	*pairs = fluss_arena_array(arena, *npairs, sizeof(**pairs));
	if (*pairs == NULL)
		return fluss_fail_memory(err);
	return read_map(arena, list, *pairs, err);
}

fluss_status
fluss_check_bootstrap_servers(const char *list, fluss_error *err)
{
	return read_list(NULL, list, NULL, err);
}

fluss_status
fluss_check_address_map(const char *list, fluss_error *err)
{
	return is_blank(list) ? FLUSS_OK : read_map(NULL, list, NULL, err);
}

fluss_address
fluss_address_reachable(const fluss_address_pair *pairs, int npairs,
						fluss_address advertised)
{
	for (int i = 0; i < npairs; i++)
	{
		const fluss_address *from = &pairs[i].advertised;
		fluss_address to = pairs[i].reachable;

		if (strcasecmp(from->host, advertised.host) != 0)
			continue;
		if (from->port == 0)
			to.port = advertised.port;
		else if (from->port != advertised.port)
			continue;
		return to;
	}
	return advertised;
}

void
fluss_address_print(fluss_address address, char *out, size_t size)
{
	const char *format = strchr(address.host, ':') != NULL ?
		"[%s]:%d" : "%s:%d";

	snprintf(out, size, format, address.host, (int) address.port);
}
