#ifndef IMPORT_REPORT_H
#define IMPORT_REPORT_H

#include <pthread.h>
#include <stdio.h>

#include "import/bulk.h"

/*
 * What an import reports: a line for each item on standard output (tab-separated, or NDJSON),
 * progress and totals on standard error. On a terminal progress is a bar that stays on the last
 * line, elsewhere a plain line now and then. Safe from any thread between report_init and
 * report_end.
 */
enum report_form { REPORT_TEXT, REPORT_JSON };

struct report {
    pthread_mutex_t lock;
    enum report_form form;
    bool quiet;   /* no progress, no totals in text, and of the items only what was refused */
    bool dry_run; /* said in the totals */
    FILE *out;
    FILE *err;
    bool bar;         /* err is a terminal */
    bool same_screen; /* out is one, too: the bar makes room for lines */
    bool bar_shown;
    size_t items;         /* found */
    uint64_t bytes;       /* of the logs found */
    uint64_t begun_ns;    /* clock_monotonic_ns */
    uint64_t reported_ns; /* when progress was reported last */
    size_t outcomes[BULK_OUTCOMES];
    bool failed; /* writing failed */
};

/* Asks the streams whether they are terminals. */
void report_init(struct report *report,
                 enum report_form form,
                 bool quiet,
                 bool dry_run,
                 const struct find *find);

/* A bulk_options.notify; context is the report. */
void report_item(void *context, const struct bulk_result *result);

/* Tell progress if it is time to; now_ns: clock_monotonic_ns. */
void report_progress(struct report *report, const struct bulk_progress *progress, uint64_t now_ns);

/* The end: totals, and nothing after it. stopped: by a signal, items were left over. */
void report_end(struct report *report, bool stopped, uint64_t now_ns);

enum { REPORT_NUMBER = 40 };

/* "1.4 GB", "312 B". */
void report_format_bytes(double bytes, char out[REPORT_NUMBER]);

/* "1:02:07", "0:09". */
void report_format_seconds(double seconds, char out[REPORT_NUMBER]);

#endif
