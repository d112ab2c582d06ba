#ifndef CORE_HISTORY_RUN_METRICS_H
#define CORE_HISTORY_RUN_METRICS_H

#include "core/history/run.h"

/*
 * The members of a run_metrics by name, in the order of columns and replies: COUNT(name) for whole
 * numbers, SECONDS(name) for times. A member added to the struct is added here and nowhere else.
 */
#define RUN_METRICS(COUNT, SECONDS)                                                                \
    COUNT(input_bytes)                                                                             \
    COUNT(output_bytes)                                                                            \
    COUNT(output_records)                                                                          \
    COUNT(shuffle_read_bytes)                                                                      \
    COUNT(shuffle_read_records)                                                                    \
    COUNT(shuffle_write_bytes)                                                                     \
    COUNT(shuffle_write_records)                                                                   \
    COUNT(memory_spilled_bytes)                                                                    \
    COUNT(disk_spilled_bytes)                                                                      \
    SECONDS(executor_run_time_s)                                                                   \
    SECONDS(executor_cpu_time_s)                                                                   \
    SECONDS(gc_time_s)                                                                             \
    COUNT(peak_execution_memory_bytes)                                                             \
    COUNT(peak_jvm_heap_bytes)

/* All unknown. */
struct run_metrics run_metrics_unknown(void);

/* What only an event log tells becomes unknown: of a stage, and of a run without its stages.
 * Figures are what follows executors_added; a log of another engine has counts and times but not
 * these. */
void run_stage_clear_log(struct run_stage *stage);
void run_clear_log(struct run *run);
void run_clear_figures(struct run *run);

#endif
