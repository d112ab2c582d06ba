#include "api/history/event_log_upload.h"

#include <inttypes.h>

void upload_count(struct upload_counts *counts,
                  uint64_t bytes_sent,
                  const struct joblog_counts *read)
{
    atomic_fetch_add(&counts->bytes_sent, bytes_sent);
    atomic_fetch_add(&counts->bytes_plain, read->bytes);
    atomic_fetch_add(&counts->lines_ok, read->lines - read->damaged_lines);
    atomic_fetch_add(&counts->lines_damaged, read->damaged_lines);
}

const char *upload_write_metrics(struct upload_counts *counts,
                                 const struct spool_quota *spool,
                                 struct arena *arena)
{
    return arena_printf(
        arena,
        "# HELP provisor_ingest_bytes_total Bytes of event logs, as sent and"
        " decompressed.\n"
        "# TYPE provisor_ingest_bytes_total counter\n"
        "provisor_ingest_bytes_total{form=\"sent\"} %" PRIu64 "\n"
        "provisor_ingest_bytes_total{form=\"plain\"} %" PRIu64 "\n"
        "# HELP provisor_ingest_lines_total Lines of event logs, by whether they"
        " could be read.\n"
        "# TYPE provisor_ingest_lines_total counter\n"
        "provisor_ingest_lines_total{state=\"ok\"} %" PRIu64 "\n"
        "provisor_ingest_lines_total{state=\"damaged\"} %" PRIu64 "\n"
        "# HELP provisor_spool_bytes Disk that archives under way take.\n"
        "# TYPE provisor_spool_bytes gauge\n"
        "provisor_spool_bytes %" PRIu64 "\n",
        (uint64_t)atomic_load(&counts->bytes_sent), (uint64_t)atomic_load(&counts->bytes_plain),
        (uint64_t)atomic_load(&counts->lines_ok), (uint64_t)atomic_load(&counts->lines_damaged),
        (uint64_t)atomic_load(&spool->used));
}
