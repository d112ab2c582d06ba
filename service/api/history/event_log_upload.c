#include "api/history/event_log_upload.h"

#include "metrics/registry.h"

METRIC_COUNTER(bytes,
               "provisor_ingest_bytes_total",
               "Bytes of event logs, as sent and decompressed (plain).",
               "form");
METRIC_COUNTER(lines,
               "provisor_ingest_lines_total",
               "Lines of event logs, by whether they could be read: ok or damaged.",
               "state");
METRIC_GAUGE(spool_used, "provisor_spool_bytes", "Disk that uploads under way take.", "");

void upload_count(uint64_t bytes_sent, const struct joblog_counts *read)
{
    metric_add(&bytes, (double)bytes_sent, METRIC_LABELS("sent"));
    metric_add(&bytes, (double)read->bytes, METRIC_LABELS("plain"));
    metric_add(&lines, (double)(read->lines - read->damaged_lines), METRIC_LABELS("ok"));
    metric_add(&lines, (double)read->damaged_lines, METRIC_LABELS("damaged"));
}

void upload_collect_metrics(const struct spool_quota *spool)
{
    metric_set(&spool_used, (double)atomic_load(&spool->used), NULL);
}
