#ifndef CORE_JOBLOG_MAPREDUCE_MAPREDUCE_H
#define CORE_JOBLOG_MAPREDUCE_MAPREDUCE_H

#include "core/joblog/common/log_reader.h"

/*
 * Hadoop MapReduce job histories (.jhist, Hadoop 0.23 to 3.x) in their text form: a line
 * "Avro-Json", a line with the schema, then one JSON event a line. The binary form is
 * PV_E_MEDIA_TYPE. Limits: `stages` does not matter, `tasks` limits attempts.
 *
 * A job becomes a run like this:
 *
 *   spark_application_id  the job id ("job_1416424547277_0002"), which identifies the history;
 *                         there is no attempt id: every application master of a job records all of
 *                         it stages                0 "map" and, unless the job was map-only, 1
 *                         "reduce" with parent 0 task durations        finish - start of the one
 *                         successful attempt of each task. Attempts that failed, were killed or
 *                         lost the race against a copy are counted (tasks_failed) and are no work;
 *                         so are those whose output was lost later executors             MapReduce
 *                         has containers and no executors: the most attempts that ran at once, each
 *                         with cores_per_executor = 1 problem_size          core/history/problem_size.h, input blocks
 *                         duration_s            end of the job - its submission initialization_s
 *                         first launch of an attempt - submission of the job stage duration
 *                         first launch of an attempt - last finish of a successful one. Reduces may
 *                         be launched before the last map has ended and then wait for it:
 *                         `reduces_waited` counts them, their durations include that wait
 *                         input_records         MAP_INPUT_RECORDS, REDUCE_INPUT_RECORDS of the
 *                         successful attempts executors_added       attempts that were launched
 */
extern const struct log_kind mapreduce_kind;

/*
 * Do these first bytes of a stream (at least MAPREDUCE_MAGIC of them, or all there are) begin a job
 * history, in text or binary form? A history that is cut begins with at least MAPREDUCE_MAGIC_CUT.
 */
enum { MAPREDUCE_MAGIC = 9, MAPREDUCE_MAGIC_CUT = 5 };
bool mapreduce_recognise(const char *bytes, size_t n);

#endif
