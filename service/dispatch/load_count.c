#include "dispatch/load_count.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_BYTES = 512 };

/* Names of hosts are the same in capitals. */
static void lower(char *text)
{
    for (; *text != '\0'; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
}

static bool write_host(const char *url, char out[HOST_BYTES])
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
        (void)snprintf(out, HOST_BYTES, "%s://%s:%s", scheme, host, port);
        lower(out);
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(parts);
    return is_url;
}

struct load_count *load_count_join(struct load_count **counts, const char *key)
{
    struct load_count *count = *counts;
    while (count != NULL && strcmp(count->key, key) != 0)
        count = count->next;
    if (count == NULL) {
        size_t n = strlen(key) + 1;
        count = calloc(1, sizeof *count + n);
        if (count == NULL)
            return NULL;
        memcpy(count->key, key, n);
        count->next = *counts;
        *counts = count;
    }
    count->users++;
    return count;
}

struct load_count *load_count_join_host(struct load_count **counts, const char *url)
{
    char host[HOST_BYTES];
    return write_host(url, host) ? load_count_join(counts, host) : NULL;
}

void load_count_leave(struct load_count **counts, struct load_count *count)
{
    if (count == NULL || --count->users > 0)
        return;
    while (*counts != count)
        counts = &(*counts)->next;
    *counts = count->next;
    free(count);
}
