#ifndef LOGFILES_REPORT_H
#define LOGFILES_REPORT_H

#include <pthread.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/strview.h"
#include "logfiles/outcome.h"

/*
 * What is reported of logs on their way into the history: a line for each on standard output (tab-separated, or NDJSON),
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
    bool run_ids; /* of text: a fifth column */
    const char *program; /* whose words these are: "provisord: import" */
    FILE *out;
    FILE *err;
    bool bar;         /* err is a terminal */
    bool same_screen; /* out is one, too: the bar makes room for lines */
    bool bar_shown;
    size_t items;         /* found; report_add */
    uint64_t bytes;       /* of the logs found */
    uint64_t begun_ns;    /* clock_monotonic_ns */
    uint64_t reported_ns; /* when progress was reported last */
    size_t sent_before;   /* found, and left out: a journal says that they were sent */
    size_t outcomes[LOG_OUTCOMES];
    size_t no_logs; /* of the ignored: not counted are logs that are still being written */
    bool failed;    /* writing failed, and not because the reader closed the pipe */
};

/* Asks the streams whether they are terminals. The name of the program is borrowed. */
void report_init(
    struct report *report, const char *program, enum report_form form, bool quiet, bool dry_run);

/* Logs were found, so many bytes of them. */
void report_add(struct report *report, size_t items, uint64_t bytes);

/* A log came to its end; context is the report. */
void report_item(void *context, const struct log_result *result);

/* Tell progress if it is time to; now_ns: clock_monotonic_ns. */
void report_progress(struct report *report, const struct log_progress *progress, uint64_t now_ns);

/* The end: totals, and nothing after it. stopped: by a signal, items were left over. */
void report_end(struct report *report, bool stopped, uint64_t now_ns);

/* Were there files, and not one log among them? Logs that were sent before count, and so do logs that
 * would be sent, or that are still being written. */
bool report_found_no_log(const struct report *report);

/* A line of words on the error stream, beside the bar. */
void report_say(struct report *report, const char *text);

/* A name as JSON can hold it: bytes that are no UTF-8 become '?'. */
struct strview log_name_view(struct arena *arena, const char *name);

enum { REPORT_NUMBER = 40 };

/* "1:02:07", "0:09". */
void report_format_seconds(double seconds, char out[REPORT_NUMBER]);

#endif
