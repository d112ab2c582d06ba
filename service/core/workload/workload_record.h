#ifndef CORE_WORKLOAD_WORKLOAD_RECORD_H
#define CORE_WORKLOAD_WORKLOAD_RECORD_H

#include "core/workload/workload.h"

/* A workload as it is kept and listed: what is computed with as members, all that it comes to as the
 * text it is shown as. Its jobs are the chunks beside it (workload_chunk.h). */

/* The words of workload_format and, behind them, that of a workload made of stored runs; ends with
 * NULL. */
enum { WORKLOAD_OF_RUNS = WORKLOAD_FORMATS };
extern const char *const workload_origin_words[];

struct workload_record {
    char id[37];         /* UUID, version 7 */
    struct strview name; /* at == NULL: none */
    unsigned origin;     /* enum workload_format, or WORKLOAD_OF_RUNS */
    int64_t jobs;
    int64_t tasks;        /* of both lists */
    int64_t reduce_tasks; /* of these */
    int64_t runs;         /* of tasks that last equally long, of both lists */
    int64_t reduce_runs;  /* of these */
    int64_t name_bytes;
    int64_t chunks;
    int64_t bytes; /* of the chunks */
    bool sorted;
    int64_t law_jobs; /* of struct workload_size_law, as all that follow; 0: there is no law */
    double law_seconds_per_byte, law_r_squared, law_log_r_squared, law_without_input_s;
    struct strview summary; /* JSON */
    int64_t created_us;
};

/* Into the record, but for id, name, origin, text and time. */
void workload_record_count(const struct workload_summary *summary, struct workload_record *record);

/* And back, for whoever loads the chunks (workload_load.h): what the record does not have is 0, or
 * NAN. */
void workload_record_summary(const struct workload_record *record,
                             struct workload_summary *summary);

/* How the durations of a workload of runs were obtained, in tasks. */
struct workload_durations {
    int64_t recorded;      /* one by one */
    int64_t from_sketches; /* spread as a sketch says */
    int64_t from_means;    /* all as long as the mean of their stage */
};

#endif
