#ifndef API_HISTORY_EVENT_LOG_UPLOAD_H
#define API_HISTORY_EVENT_LOG_UPLOAD_H

#include <stdatomic.h>

#include "base/arena.h"
#include "core/joblog/common/limits.h"
#include "ingest/spool.h"

/* What came in as event logs since the start, also in uploads that failed. Safe from any thread. */
struct upload_counts {
    atomic_uint_least64_t bytes_sent;
    atomic_uint_least64_t bytes_plain;
    atomic_uint_least64_t lines_ok;
    atomic_uint_least64_t lines_damaged;
};

/* One upload is over. */
void upload_count(struct upload_counts *counts,
                  uint64_t bytes_sent,
                  const struct joblog_counts *read);

/* Their samples for /metrics, and the spool's, complete lines; NULL when memory is exhausted. */
const char *upload_write_metrics(struct upload_counts *counts,
                                 const struct spool_quota *spool,
                                 struct arena *arena);

#endif
