#include "dispatch/host_load.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 512 };

/* Names of hosts are the same in capitals. */
static void lower(char *text)
{
    for (; *text != '\0'; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
}

static bool write_name(const char *url, char out[NAME_BYTES])
{
    char *scheme = NULL;
    char *host = NULL;
    char *port = NULL;
    CURLU *parts = curl_url();
    bool is_url = parts != NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                  curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                  curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                  curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;
    if (is_url) {
        (void)snprintf(out, NAME_BYTES, "%s://%s:%s", scheme, host, port);
        lower(out);
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(parts);
    return is_url;
}

struct host_load *host_load_join(struct host_load **hosts, const char *url)
{
    char name[NAME_BYTES];
    if (!write_name(url, name))
        return NULL;
    struct host_load *host = *hosts;
    while (host != NULL && strcmp(host->name, name) != 0)
        host = host->next;
    if (host == NULL) {
        size_t n = strlen(name) + 1;
        host = calloc(1, sizeof *host + n);
        if (host == NULL)
            return NULL;
        memcpy(host->name, name, n);
        host->next = *hosts;
        *hosts = host;
    }
    host->users++;
    return host;
}

void host_load_leave(struct host_load **hosts, struct host_load *host)
{
    if (host == NULL || --host->users > 0)
        return;
    while (*hosts != host)
        hosts = &(*hosts)->next;
    *hosts = host->next;
    free(host);
}
