/*
 * http_site.h
 *	  The hosts that http.c reads from, and their addresses.
 */
#ifndef FLUSS_HTTP_SITE_H
#define FLUSS_HTTP_SITE_H

#include <curl/curl.h>

#include "resolve.h"

#define FLUSS_SITE_NAME		256

/* A host and port, and where it is. */
typedef struct http_site http_site;
struct http_site
{
	http_site  *next;
	char		name[FLUSS_SITE_NAME];
	int32_t		port;
	fluss_resolver *resolver;	/* under way, or NULL */
	int64_t		resolved_ms;	/* 0: never */
	struct curl_slist *entry;	/* what libcurl is told */
	char		reason[128];	/* why there is no address */
};

/* The host of a URL, an IPv6 address without its brackets, and its port. */
bool fluss_http_site_of(const char *url, char name[FLUSS_SITE_NAME],
						int32_t *port);
/* From the list, or added to it; NULL without memory. */
http_site *fluss_http_site_find(http_site **list, const fluss_host *host,
								const char *name, int32_t port);
void fluss_http_sites_free(const fluss_host *host, http_site *list);
/* Starts to look its addresses up, unless they are known and fresh. */
void fluss_http_site_resolve(http_site *site, const fluss_host *host,
							 int timeout_ms);
/* Only while its resolver is under way. */
void fluss_http_site_step(http_site *site, const fluss_host *host);

#endif							/* FLUSS_HTTP_SITE_H */
