#include "core/workload/workload_record.h"

#include <math.h>

const char *const workload_origin_words[] = {
    [WORKLOAD_PIGEON] = "pigeon",           [WORKLOAD_SWIM] = "swim",
    [WORKLOAD_GOOGLE_2011] = "google_2011", [WORKLOAD_GOOGLE_2019] = "google_2019",
    [WORKLOAD_PROVISOR] = "provisor",       [WORKLOAD_OF_RUNS] = "runs",
    [WORKLOAD_OF_RUNS + 1] = NULL};

void workload_record_count(const struct workload_summary *summary, struct workload_record *record)
{
    const struct workload_size_law *law = &summary->size_law;
    record->jobs = (int64_t)summary->jobs;
    record->reduce_tasks = (int64_t)summary->tasks[WORKLOAD_REDUCES];
    record->tasks = (int64_t)summary->tasks[WORKLOAD_TASKS] + record->reduce_tasks;
    record->reduce_runs = (int64_t)summary->runs[WORKLOAD_REDUCES];
    record->runs = (int64_t)summary->runs[WORKLOAD_TASKS] + record->reduce_runs;
    record->name_bytes = (int64_t)summary->name_bytes;
    record->chunks = (int64_t)summary->chunks;
    record->bytes = (int64_t)summary->encoded_bytes;
    record->sorted = summary->sorted;
    record->law_jobs = (int64_t)law->jobs;
    record->law_seconds_per_byte = law->seconds_per_byte;
    record->law_r_squared = law->r_squared;
    record->law_log_r_squared = law->log_r_squared;
    record->law_without_input_s = law->without_input_s;
}

static const struct workload_distribution unknown = {.mean = (double)NAN,
                                                     .p50 = (double)NAN,
                                                     .p90 = (double)NAN,
                                                     .p99 = (double)NAN,
                                                     .max = (double)NAN,
                                                     .error = 0};

void workload_record_summary(const struct workload_record *record, struct workload_summary *summary)
{
    *summary = (struct workload_summary){
        .jobs = (uint64_t)record->jobs,
        .tasks = {(uint64_t)(record->tasks - record->reduce_tasks), (uint64_t)record->reduce_tasks},
        .runs = {(uint64_t)(record->runs - record->reduce_runs), (uint64_t)record->reduce_runs},
        .name_bytes = (uint64_t)record->name_bytes,
        .chunks = (uint64_t)record->chunks,
        .encoded_bytes = (uint64_t)record->bytes,
        .rounding_error = (double)NAN,
        .sorted = record->sorted,
        .first_arrival_s = (double)NAN,
        .last_arrival_s = (double)NAN,
        .work_s = (double)NAN,
        .offered_slots = (double)NAN,
        .job_tasks = unknown,
        .job_mean_s = unknown,
        .job_size_s = unknown,
        .task_s = {unknown, unknown},
        .tail_index = (double)NAN,
        .largest_1_share = (double)NAN,
        .largest_10_share = (double)NAN,
        .size_law = {.jobs = (uint64_t)record->law_jobs,
                     .seconds_per_byte = record->law_seconds_per_byte,
                     .r_squared = record->law_r_squared,
                     .log_r_squared = record->law_log_r_squared,
                     .without_input_s = record->law_without_input_s}};
}
