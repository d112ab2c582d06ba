#ifndef CORE_SCHEDULING_TASKS_TASKS_SIMULATION_H
#define CORE_SCHEDULING_TASKS_TASKS_SIMULATION_H

#include "core/scheduling/tasks/tasks_observer.h"
#include "core/scheduling/tasks/tasks_progress.h"
#include "core/scheduling/tasks/tasks_terms.h"

/*
 * Schedulers of bags of tasks, simulated: Pigeon (Z. Li, dissertation, UT Arlington 2019, chapter
 * 4), one central master, Sparrow and Eagle (docs/design.md, "Bags of tasks"). It stands on core/sim.
 * What a scheduler does is a row of a table (tasks_policy.h); the engine knows none of them.
 */
enum tasks_policy_id { TASKS_PIGEON, TASKS_CENTRALISED, TASKS_SPARROW, TASKS_EAGLE };
enum { TASKS_POLICIES = TASKS_EAGLE + 1 };

/* The terms of a policy that nothing is said about; groups: 1. */
struct tasks_terms tasks_terms_default(enum tasks_policy_id id);

/* "pigeon", "centralised", "sparrow", "eagle" */
const char *tasks_policy_name(enum tasks_policy_id id);

/* Bytes of scratch memory that a simulation takes at most, whatever happens in it; SIZE_MAX: more
 * than can be said. The result takes 16 a job more. Of a model that only counts its jobs and tasks
 * (jobs: NULL), at most of any such jobs that are not bound. */
size_t tasks_simulation_memory(const struct tasks_model *model, const struct tasks_terms *terms);

/* What the jobs cost once all is set up, in tasks: one for each task, or each probe, and one for each
 * group or worker that is looked through for them. Of a model that only counts its jobs and tasks, at
 * most of any such jobs. */
double tasks_simulation_work(const struct tasks_model *model, const struct tasks_terms *terms);

/*
 * Simulate a complete model of at least one job under one policy. The result lives in `arena`, what
 * is worked with in scratch, which is back at its mark. progress may be NULL. memory_max: of
 * tasks_simulation_memory; 0: no limit.
 *
 * One model, one trial and the same terms have one result. PV_E_MEMORY, PV_E_LIMIT (memory_max),
 * PV_E_CANCELLED (progress said so); PV_E_INVALID where tasks wait for workers that have failed for
 * good (pigeon_layout.h). O(tasks log(workers)) for pigeon and centralised, O(probes log(workers)) for
 * sparrow and eagle, for the latter and at each worker those of jobs that have begun as well; with a layout, jobs cost
 * O(groups), bound tasks O(the workers they may run on x classes) each.
 */
enum pv_code tasks_simulate(const struct tasks_model *model,
                            const struct tasks_terms *terms,
                            const struct trial *trial,
                            size_t memory_max,
                            const struct tasks_progress *progress,
                            struct arena *arena,
                            struct arena *scratch,
                            struct tasks_result *result,
                            struct pv_error *err) PV_MUSTCHECK;

/* The same, and an observer is informed of it; NULL: nobody. The result is the same. */
enum pv_code tasks_simulate_observed(const struct tasks_model *model,
                                     const struct tasks_terms *terms,
                                     const struct trial *trial,
                                     size_t memory_max,
                                     const struct tasks_progress *progress,
                                     const struct tasks_observer *observer,
                                     struct arena *arena,
                                     struct arena *scratch,
                                     struct tasks_result *result,
                                     struct pv_error *err) PV_MUSTCHECK;

#endif
