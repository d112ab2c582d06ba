/*
 * Lists a source and reads all of it with its first allocation failing, then its second, and so on
 * until none does, for tests/cli/test_sources_memory.py:
 *
 *     short_of_memory URL [ENDPOINT]
 *
 * What a refusal says that is tried again anyway may be lost, and the run ends as with enough memory.
 * Prints how many allocations there are. Exit status 1, and what was wrong on standard error: when
 * one that failed was not told as such, or when memory was not given back.
 */
#include <stdio.h>
#include <string.h>

#include "cli/sources/history_server.h"
#include "cli/sources/s3.h"
#include "cli/sources/webhdfs.h"
#include "failing_malloc.h"

struct work {
    const char *url;
    const char *endpoint;
    struct source *source;
    int64_t bytes;
    struct failure failure;
};

static bool read_it(void *context, const struct source_object *object)
{
    struct work *w = context;
    struct source_stream *stream = NULL;
    static char piece[100000];
    size_t got = 0;
    bool read = source_read_open(w->source, object, &stream, &w->failure);
    while (read && (read = source_read(stream, piece, sizeof piece, &got, &w->failure)) && got > 0)
        w->bytes += (int64_t)got;
    source_read_close(stream);
    return read;
}

static bool open_source(struct work *w)
{
    struct fetch_options fetching = fetch_options_default();
    struct s3_options s3 = {.endpoint = w->endpoint};
    fetching.retry.first_s = 0.0;
    if (strncmp(w->url, "s3", 2) == 0)
        return source_s3_open(w->url, &s3, &fetching, &w->source, &w->failure);
    if (strncmp(w->url, "webhdfs", 7) == 0)
        return source_webhdfs_open(w->url, NULL, &fetching, &w->source, &w->failure);
    return source_history_open(w->url, NULL, &fetching, &w->source, &w->failure);
}

static enum pv_code run(void *context)
{
    struct work *w = context;
    w->source = NULL;
    w->bytes = 0;
    w->failure = (struct failure){0};
    if (open_source(w))
        (void)source_list(w->source, read_it, w, &w->failure);
    source_close(w->source);
    if (w->failure.status == EXIT_DONE)
        return w->bytes > 0 ? PV_OK : PV_E_INTERNAL;
    if (strcmp(w->failure.what, "out of memory") == 0)
        return PV_E_MEMORY;
    fprintf(stderr, "%s\n", w->failure.what);
    return PV_E_INTERNAL;
}

int main(int argc, char **argv)
{
    struct work w = {.url = argc > 1 ? argv[1] : "", .endpoint = argc > 2 ? argv[2] : NULL};
    long allocations = failing_malloc_run(run, &w, PV_OK, 1);
    printf("%ld\n", allocations);
    if (allocations < 0)
        fprintf(stderr, "%s\n", failing_malloc_complaint());
    return allocations < 0 ? 1 : 0;
}
