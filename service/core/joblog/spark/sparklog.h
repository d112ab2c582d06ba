#ifndef CORE_JOBLOG_SPARK_SPARKLOG_H
#define CORE_JOBLOG_SPARK_SPARKLOG_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"
#include "core/joblog/common/limits.h"

/*
 * Reader of Spark event logs: decompressed bytes in, in pieces of any size, a run profile out.
 * Memory grows with stages, executors and task durations, never with the length of the log.
 * One reader belongs to one thread at a time.
 */
struct sparklog;

/* NULL when memory is exhausted. */
struct sparklog *sparklog_create(const struct joblog_limits *limits);
void sparklog_destroy(struct sparklog *log);

/*
 * Take the next n bytes. Damaged or unknown lines are counted, never an error.
 * PV_E_LIMIT: more stages, tasks or memory than allowed (the reader takes nothing more);
 * PV_E_MEMORY.
 */
enum pv_code
sparklog_feed(struct sparklog *log, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;

/* The compressed stream under the log was cut here: becomes the warning `truncated`. A line that
 * the cut went through is not counted as damaged; what is fed next (another part) begins a new
 * line. */
void sparklog_note_truncated(struct sparklog *log);

/*
 * No more bytes: build the run by the definitions of docs/design.md, "From an event log".
 * Everything `run` points at lives in `arena`. run->advice_id is the property
 * spark.provisor.adviceId when the log holds a well-formed one.
 *
 * PV_E_INVALID with fault code "no_application_start" when the log holds none; PV_E_MEMORY.
 */
enum pv_code sparklog_finish(struct sparklog *log,
                             struct arena *arena,
                             struct run *run,
                             struct pv_error *err) PV_MUSTCHECK;

/* Counters for metrics; valid at any time. */
struct joblog_counts sparklog_counts(const struct sparklog *log);

#endif
