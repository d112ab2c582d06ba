#ifndef IMPORT_SUMMARY_H
#define IMPORT_SUMMARY_H

#include <pthread.h>

#include "import/bulk.h"

/*
 * What is kept of an import: how many logs came to what, and the first that were refused, with the
 * reason. Safe from any thread between init and fini.
 */
enum { SUMMARY_REFUSED_MAX = 100 };

struct summary {
    pthread_mutex_t lock;
    struct arena arena;
    const struct find *find;
    size_t outcomes[LOG_OUTCOMES];
    struct log_result *refused; /* SUMMARY_REFUSED_MAX of them; NULL: no memory, none is kept */
    size_t n_refused;
};

void summary_init(struct summary *summary, const struct find *find);
void summary_fini(struct summary *summary);

/* A bulk_options.notify; context is the summary. */
void summary_item(void *context, const struct log_result *result);

/* As JSON text, in the summary's memory; NULL when that is exhausted. stopped: logs are left. */
const char *summary_write(struct summary *summary, bool stopped, double seconds, size_t *n);

#endif
