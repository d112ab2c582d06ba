#ifndef API_HISTORY_EVENT_LOG_UPLOAD_H
#define API_HISTORY_EVENT_LOG_UPLOAD_H

#include <stdint.h>

#include "core/joblog/common/limits.h"

/* Count what came in as an event log, also in an upload that failed. */
void upload_count(uint64_t bytes_sent, const struct joblog_counts *read);

#endif
