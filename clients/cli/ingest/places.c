#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/ingest/places.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cli/ingest/local_files.h"
#include "cli/sources/history_server.h"
#include "cli/sources/webhdfs.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_s3(const char *text)
{
    return begins(text, "s3://") || begins(text, "s3a://") || begins(text, "s3n://");
}

static bool is_webhdfs(const char *text)
{
    return begins(text, "webhdfs://") || begins(text, "swebhdfs://");
}

static bool is_url(const char *text)
{
    return strstr(text, "://") != NULL;
}

static struct fetch_options fetching(const struct ingest_options *options)
{
    struct fetch_options fetch = fetch_options_default();
    const struct settings *settings = options->settings;
    fetch.stall_timeout_s = settings->timeout_s;
    fetch.retry.attempts_max = settings->attempts_max;
    fetch.ca_file = settings->ca_file[0] == '\0' ? NULL : settings->ca_file;
    fetch.stop = options->stop;
    return fetch;
}

static bool open_url(struct places *places, const char *url, struct failure *failure)
{
    const struct ingest_options *options = places->options;
    struct fetch_options fetch = fetching(options);
    struct source **place = &places->remote[places->n_remote];
    bool good;
    if (is_s3(url)) {
        good = source_s3_open(url, &options->s3, &fetch, place, failure);
    } else if (is_webhdfs(url)) {
        struct webhdfs_options webhdfs = {.user = options->webhdfs_user};
        good = source_webhdfs_open(url, &webhdfs, &fetch, place, failure);
    } else {
        (void)fail(failure, EXIT_USAGE, "logs cannot be taken from %s", url);
        return fail_next(failure, "give a path, s3://BUCKET/PREFIX, webhdfs://HOST:PORT/PATH, "
                                  "--history-server URL, or - for standard input");
    }
    places->n_remote += good;
    return good;
}

static bool open_history(struct places *places, struct failure *failure)
{
    const struct ingest_options *options = places->options;
    struct fetch_options fetch = fetching(options);
    struct history_options history = history_options_default();
    history.unfinished_too = options->unfinished_too;
    if (options->history_server == NULL)
        return true;
    bool good = source_history_open(options->history_server, &history, &fetch,
                                    &places->remote[places->n_remote], failure);
    places->n_remote += good;
    return good;
}

bool places_open(struct places *places,
                 const struct ingest_options *options,
                 struct failure *failure)
{
    *places = (struct places){.options = options};
    places->remote = calloc(options->n_sources + 1, sizeof(struct source *));
    if (places->remote == NULL)
        return fail_memory(failure);
    if (!source_local_open(&places->local, failure) || !open_history(places, failure))
        return false;
    for (size_t i = 0; i < options->n_sources; i++) {
        if (is_url(options->sources[i]) && !open_url(places, options->sources[i], failure))
            return false;
        places->standard_input = places->standard_input || strcmp(options->sources[i], "-") == 0;
    }
    return true;
}

void places_close(struct places *places)
{
    for (size_t i = 0; i < places->n_remote; i++)
        source_close(places->remote[i]);
    free(places->remote);
    source_close(places->local);
}

bool places_list(const struct places *places, struct log_list *list, struct failure *failure)
{
    const struct ingest_options *options = places->options;
    bool good = true;
    for (size_t i = 0; i < options->n_sources; i++)
        if (!is_url(options->sources[i]))
            good = log_list_add_path(list, places->local, options->sources[i], failure) && good;
    for (size_t i = 0; i < places->n_remote; i++)
        good = log_list_add_source(list, places->remote[i], options->stop, failure) && good;
    return good;
}

void places_watch(const struct places *places, struct watch *watch)
{
    const struct ingest_options *options = places->options;
    for (size_t i = 0; i < options->n_sources; i++)
        if (!is_url(options->sources[i]))
            watch_add(watch, options->sources[i]);
}

void places_identify(const struct places *places, char out[17])
{
    const struct ingest_options *options = places->options;
    char path[PATH_MAX];
    uint64_t hash = hash_text(HASH_START, options->settings->url);
    for (size_t i = 0; i < options->n_sources; i++) {
        const char *source = options->sources[i];
        bool local = !is_url(source) && realpath(source, path) != NULL;
        hash = hash_text(hash, local ? path : source);
    }
    if (options->history_server != NULL)
        hash = hash_text(hash_text(hash, "history server"), options->history_server);
    if (options->s3.endpoint != NULL)
        hash = hash_text(hash, options->s3.endpoint);
    (void)snprintf(out, 17, "%016" PRIx64, hash);
}
