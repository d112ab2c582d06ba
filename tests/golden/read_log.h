#ifndef GOLDEN_READ_LOG_H
#define GOLDEN_READ_LOG_H

#include <stddef.h>

#include "core/joblog/spark/sparklog.h"

/* Read a file through a framing of its own into `log`, in pieces of `piece` bytes. PV_E_NOT_FOUND
 * when the file cannot be read. */
enum pv_code read_log(const char *path, size_t piece, struct log_reader *log, struct pv_error *err);

/* $PROVISOR_SHARED, else ../shared beside the source tree. */
const char *shared_directory(void);

/* Limits that every shared log keeps. */
extern const struct joblog_limits wide_limits;

#endif
