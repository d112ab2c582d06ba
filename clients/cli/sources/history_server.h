#ifndef CLI_SOURCES_HISTORY_SERVER_H
#define CLI_SOURCES_HISTORY_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/http/fetch.h"
#include "cli/sources/source.h"

/*
 * The applications of a Spark History Server by its REST API (Spark, "Monitoring and
 * Instrumentation"): each attempt is an object, a zip archive of its event log. identity is when the
 * server last saw the attempt change. The server makes a zip anew for each request: one that is cut
 * after some of it was read cannot be taken up again, and has to be opened anew.
 */
struct history_options {
    bool unfinished_too; /* list attempts that are not completed; they are `unfinished` */
    unsigned limit;      /* applications at most; 0: all */
    int64_t min_end_us;  /* only those that ended at this instant or later; INSTANT_UNKNOWN: all */
};

/* Completed ones, all of them. */
struct history_options history_options_default(void);

/* url: that of the server, http://HOST:18080, with the path before /api where a proxy adds one.
 * options may be NULL. EXIT_USAGE: it is no such URL. */
bool source_history_open(const char *url,
                         const struct history_options *options,
                         const struct fetch_options *fetching,
                         struct source **source,
                         struct failure *failure);

#endif
