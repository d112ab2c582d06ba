#ifndef CORE_JOBLOG_MAPREDUCE_JOB_EVENT_H
#define CORE_JOBLOG_MAPREDUCE_JOB_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/joblog/common/json.h"
#include "core/joblog/common/log_reader.h"

/* What attempts count; -1 where a history does not say. */
struct job_work {
    int64_t input_records;
    int64_t input_bytes;    /* of files */
    int64_t output_bytes;   /* of files */
    int64_t output_records; /* of a reduce, or of a map: to its file or to the reduces */
    int64_t shuffle_read_bytes;
    int64_t shuffle_write_bytes;
    int64_t gc_ms;
    int64_t cpu_ms;
};
extern const struct job_work job_work_unknown;

/* Add what is known. Sums end at the end of their range. */
void job_work_add(struct job_work *sum, const struct job_work *work);

/* Bytes of files and of maps' output; RUN_UNKNOWN where neither is counted. */
int64_t job_work_read_bytes(const struct job_work *work);

/*
 * One line of a history: the members of every kind of event that the reader looks at, in one
 * struct; those that an event does not have keep their defaults. Texts are borrowed from the line.
 */
struct job_event {
    struct json_text type;
    struct json_text job_id;
    struct json_text job_name;
    struct json_text task_id;
    struct json_text attempt_id;
    struct json_text avataar; /* of an attempt: VIRGIN or SPECULATIVE */
    struct json_text status;  /* of a finished attempt */
    struct json_text host;    /* of an attempt that ended */
    int64_t submit_ms;
    int64_t start_ms;
    int64_t finish_ms;
    int64_t maps;
    int64_t reduces;
    struct strview counters; /* as written */
};

/*
 * Read a line. Values may stand in Avro's wrapping of unions ({"string": "x"}) or without it, and
 * so may the event itself. False when the line is damaged or no event.
 */
bool job_event_read(struct strview line, struct job_event *event);

/* Add counters to *work. False, and *work as it was, when they are damaged. */
bool job_event_counters(struct strview counters, struct job_work *work);

#endif
