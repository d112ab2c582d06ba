#ifndef CORE_JOBLOG_JOBLOG_H
#define CORE_JOBLOG_JOBLOG_H

#include "core/joblog/mapreduce/mapreduce.h"
#include "core/joblog/spark/sparklog.h"

/*
 * A reader of whatever kind of log comes: Spark's event logs or Hadoop's job histories, recognised
 * by their first bytes. Anything that is not a job history is read as an event log. Bytes, limits,
 * errors and results as in log_reader.h. One reader belongs to one thread at a time.
 */
struct joblog;

enum joblog_kind { JOBLOG_UNDECIDED, JOBLOG_SPARK, JOBLOG_MAPREDUCE };

/* NULL when memory is exhausted. */
struct joblog *joblog_create(const struct joblog_limits *limits);
void joblog_destroy(struct joblog *log);

/* JOBLOG_UNDECIDED until enough bytes have come. */
enum joblog_kind joblog_kind(const struct joblog *log);

enum pv_code
joblog_feed(struct joblog *log, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;
void joblog_note_truncated(struct joblog *log, const char *coding);
enum pv_code joblog_finish(struct joblog *log,
                           struct arena *arena,
                           struct run *run,
                           struct pv_error *err) PV_MUSTCHECK;
struct joblog_counts joblog_counts(const struct joblog *log);

#endif
