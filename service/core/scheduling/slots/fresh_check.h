#ifndef CORE_SCHEDULING_SLOTS_FRESH_CHECK_H
#define CORE_SCHEDULING_SLOTS_FRESH_CHECK_H

#include "core/scheduling/slots/fresh_static.h"

/*
 * Splits of FRESH static checked by the simulator of slots. The fluid model (fresh_static.h) lets two
 * tasks use twenty slots, and knows no last wave in which slots are idle. The simulator (policy "fair"
 * with the same concurrency; slots_engine.h) carries out every task.
 */

/* The seconds that no schedule of the batch on such slots undercuts, because a task has one slot: the
 * longest job by itself, and the time that k jobs at a time need for each phase. 0: numbers of tasks
 * are unknown. O(n). */
double fresh_least_makespan(const struct fresh_batch *batch, size_t map_slots);

/* The number of tasks of the batch; 0 if the number of a job is unknown. */
double fresh_tasks(const struct fresh_batch *batch);

/* Simulates the batch on such slots, task by task; times[i] belongs to jobs[i]. The numbers of tasks
 * must be known. scratch is back at its mark. PV_E_MEMORY. */
enum pv_code fresh_simulate(const struct fresh_batch *batch,
                            size_t map_slots,
                            struct arena *scratch,
                            struct fresh_job_times times[],
                            double *makespan_s,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
