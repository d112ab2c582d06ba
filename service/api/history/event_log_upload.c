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

void upload_count(uint64_t bytes_sent, const struct joblog_counts *read)
{
    metric_add(&bytes, (double)bytes_sent, METRIC_LABELS("sent"));
    metric_add(&bytes, (double)read->bytes, METRIC_LABELS("plain"));
    metric_add(&lines, (double)(read->lines - read->damaged_lines), METRIC_LABELS("ok"));
    metric_add(&lines, (double)read->damaged_lines, METRIC_LABELS("damaged"));
}
