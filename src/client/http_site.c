/*
 * http_site.c
 *	  The hosts that http.c reads from, and their addresses.
 *
 * Addresses are used for a minute, then looked up anew: what stands behind a
 * name of S3 changes.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http_site.h"

#define ADDRESSES_LIVE_MS	60000

bool
fluss_http_site_of(const char *url, char name[FLUSS_SITE_NAME], int32_t *port)
{
	CURLU	   *parts = curl_url();
	char	   *text = NULL;
	char	   *number = NULL;
	bool		good = false;

	if (parts != NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
		curl_url_get(parts, CURLUPART_HOST, &text, 0) == CURLUE_OK &&
		curl_url_get(parts, CURLUPART_PORT, &number,
					 CURLU_DEFAULT_PORT) == CURLUE_OK)
	{
		size_t		length = strlen(text);
		const char *start = text;

		if (length > 2 && text[0] == '[')
		{
			start++;
			length -= 2;
		}
		good = length > 0 && length < FLUSS_SITE_NAME;
		if (good)
		{
			memcpy(name, start, length);
			name[length] = '\0';
			*port = (int32_t) strtol(number, NULL, 10);
		}
	}
	curl_free(text);
	curl_free(number);
	curl_url_cleanup(parts);
	return good;
}

http_site *
fluss_http_site_find(http_site **list, const fluss_host *host,
					 const char *name, int32_t port)
{
	http_site  *site = *list;

	while (site != NULL &&
		   (site->port != port || strcasecmp(site->name, name) != 0))
		site = site->next;
	if (site != NULL)
		return site;
	site = host->alloc(host->arg, sizeof(*site));
	if (site == NULL)
		return NULL;
	memset(site, 0, sizeof(*site));
	strcpy(site->name, name);
	site->port = port;
	site->next = *list;
	*list = site;
	return site;
}

/* "host:port:address,address", for CURLOPT_RESOLVE. */
static bool
keep_addresses(http_site *site, const fluss_sockaddr *addresses, int n)
{
	char		text[FLUSS_SITE_NAME + 16 + FLUSS_MAX_ADDRESSES * (INET6_ADDRSTRLEN + 3)];
	int			used;
	struct curl_slist *entry;

	used = snprintf(text, sizeof(text), "%s:%d:", site->name, (int) site->port);
	for (int i = 0; i < n; i++)
	{
		char		address[INET6_ADDRSTRLEN];

		if (getnameinfo((const struct sockaddr *) &addresses[i].storage,
						addresses[i].size, address, sizeof(address), NULL, 0,
						NI_NUMERICHOST) != 0)
			continue;
		used += snprintf(text + used, sizeof(text) - (size_t) used,
						 addresses[i].storage.ss_family == AF_INET6 ?
						 "%s[%s]" : "%s%s", i > 0 ? "," : "", address);
	}
	entry = curl_slist_append(NULL, text);
	curl_slist_free_all(site->entry);
	site->entry = entry;
	return entry != NULL;
}

void
fluss_http_sites_free(const fluss_host *host, http_site *list)
{
	while (list != NULL)
	{
		http_site  *site = list;

		list = site->next;
		fluss_resolver_close(site->resolver);
		curl_slist_free_all(site->entry);
		host->free(host->arg, site);
	}
}

void
fluss_http_site_resolve(http_site *site, const fluss_host *host,
						int timeout_ms)
{
	const char *reason = "out of memory";

	if (site->resolver != NULL ||
		(site->entry != NULL &&
		 host->now_ms(host->arg) <= site->resolved_ms + ADDRESSES_LIVE_MS))
		return;
	site->resolver = fluss_resolver_open(host, site->name, site->port,
										 timeout_ms, &reason);
	if (site->resolver == NULL)
		snprintf(site->reason, sizeof(site->reason), "%s", reason);
}

void
fluss_http_site_step(http_site *site, const fluss_host *host)
{
	fluss_sockaddr addresses[FLUSS_MAX_ADDRESSES];
	int			naddresses;
	const char *reason = NULL;

	if (!fluss_resolver_step(site->resolver, addresses, &naddresses, &reason))
		return;
	fluss_resolver_close(site->resolver);
	site->resolver = NULL;
	site->reason[0] = '\0';
	if (naddresses == 0 || !keep_addresses(site, addresses, naddresses))
		snprintf(site->reason, sizeof(site->reason), "%s", reason);
	else
		site->resolved_ms = host->now_ms(host->arg);
}
