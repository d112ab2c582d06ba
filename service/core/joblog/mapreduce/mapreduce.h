#ifndef CORE_JOBLOG_MAPREDUCE_MAPREDUCE_H
#define CORE_JOBLOG_MAPREDUCE_MAPREDUCE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"
#include "core/joblog/common/limits.h"

/*
 * Reader of Hadoop MapReduce job histories (.jhist, Hadoop 0.23 to 3.x) in their text form: a line
 * "Avro-Json", a line with the schema, then one JSON event a line. Decompressed bytes in, in pieces
 * of any size, the run of the job out. Memory grows with the attempts of tasks, never with the
 * length of the history. One reader belongs to one thread at a time.
 *
 * A job becomes a run like this:
 *
 *   spark_application_id  the job id ("job_1416424547277_0002"), which identifies the history; there
 *                         is no attempt id: every application master of a job records all of it
 *   stages                0 "map" and, unless the job was map-only, 1 "reduce" with parent 0
 *   task durations        finish - start of the one successful attempt of each task. Attempts that
 *                         failed, were killed or lost the race against a copy are counted
 *                         (tasks_failed) and are no work; so are those whose output was lost later
 *   executors             MapReduce has containers and no executors: the most attempts that ran at
 *                         once, each with cores_per_executor = 1
 *   problem_size          number of map tasks
 *   duration_s            end of the job - its submission
 *   initialization_s      first launch of an attempt - submission of the job
 *   stage duration        first launch of an attempt - last finish of a successful one. Reduces may
 *                         be launched before the last map has ended and then wait for it:
 *                         `reduces_waited` counts them, their durations include that wait
 *   input_records         MAP_INPUT_RECORDS, REDUCE_INPUT_RECORDS of the successful attempts
 *   executors_added       attempts that were launched
 */
struct mapreduce;

/* Of `limits` stages does not matter; tasks limits attempts. NULL when memory is exhausted. */
struct mapreduce *mapreduce_create(const struct joblog_limits *limits);
void mapreduce_destroy(struct mapreduce *log);

/*
 * Do these first bytes of a stream (at least MAPREDUCE_MAGIC of them, or all there are) begin a job
 * history, in text or binary form?
 */
enum { MAPREDUCE_MAGIC = 9 };
bool mapreduce_recognise(const char *bytes, size_t n);

/*
 * Take the next n bytes. Damaged or unknown lines are counted, never an error.
 * PV_E_MEDIA_TYPE: the history is in binary form; PV_E_LIMIT: more attempts or memory than allowed;
 * PV_E_MEMORY. After a failure the reader takes nothing more.
 */
enum pv_code mapreduce_feed(struct mapreduce *log,
                            const char *bytes,
                            size_t n,
                            struct pv_error *err) PV_MUSTCHECK;

/* The compressed stream under the history was cut here: becomes the warning `truncated`. */
void mapreduce_note_truncated(struct mapreduce *log);

/*
 * No more bytes: build the run. Everything `run` points at lives in `arena`.
 * PV_E_INVALID with fault code "no_application_start" when no event names the job; PV_E_MEMORY.
 */
enum pv_code mapreduce_finish(struct mapreduce *log,
                              struct arena *arena,
                              struct run *run,
                              struct pv_error *err) PV_MUSTCHECK;

/* Counters for metrics; valid at any time. */
struct joblog_counts mapreduce_counts(const struct mapreduce *log);

#endif
