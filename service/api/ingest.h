#ifndef API_INGEST_H
#define API_INGEST_H

#include <stdatomic.h>

#include "base/arena.h"
#include "core/sparklog/sparklog.h"
#include "intake/spool.h"

/* What came in as event logs since the start, also in uploads that failed. Safe from any thread. */
struct ingest_counts {
    atomic_uint_least64_t bytes_sent;
    atomic_uint_least64_t bytes_plain;
    atomic_uint_least64_t lines_ok;
    atomic_uint_least64_t lines_damaged;
};

/* One upload is over. */
void ingest_count(struct ingest_counts *counts,
                  uint64_t bytes_sent,
                  const struct sparklog_counts *read);

/* Their samples for /metrics, and the spool's, complete lines; NULL when memory is exhausted. */
const char *ingest_write_metrics(struct ingest_counts *counts,
                                 const struct spool_quota *spool,
                                 struct arena *arena);

#endif
