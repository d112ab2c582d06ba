#ifndef CLI_INGEST_BATCH_H
#define CLI_INGEST_BATCH_H

#include "cli/ingest/journal.h"
#include "cli/ingest/send.h"
#include "logfiles/report.h"

/*
 * A list of logs to the service, several at a time, each by itself: one that cannot be taken stops no
 * other. A log that ended is written to the journal, then reported. The service knows a log that it
 * was sent already, so a batch may be stopped anywhere and begun again.
 */
struct batch_options {
    const struct settings *settings;
    struct send_request request;
    size_t threads;
    struct report *report;
    struct journal *journal; /* NULL: none */
    const atomic_bool *stop; /* finish what is begun, begin nothing more */
    bool dry_run;            /* report what would be sent */
    bool again;              /* others like it went before: no progress, and what does not last is
                               * reported once (needs the journal) */
};

enum batch_end {
    BATCH_DONE,
    BATCH_STOPPED,
    BATCH_AWAY,   /* the service is away or overloaded */
    BATCH_REFUSED /* it takes nothing of this sender; or no thread could be started */
};

/* Returns at the end. failure: why it is AWAY or REFUSED. *journal_failed: set when a line could not
 * be written; that ends nothing. */
enum batch_end batch_run(const struct batch_options *options,
                         const struct log_list *list,
                         bool *journal_failed,
                         struct failure *failure);

#endif
