#ifndef CORE_ADVICE_EXPLAIN_H
#define CORE_ADVICE_EXPLAIN_H

#include "core/advice/advise.h"
#include "core/advice/joint_feasibility.h"

/*
 * Fill in advice->reasons and advice->warnings: why this executor count, from which runs, what
 * bounds the duration there, and what to be careful about. below_confidence: the deadline is
 * predicted to be met, but not with the asked confidence. PV_E_MEMORY.
 */
enum pv_code explain_advice(const struct curve *curve,
                            const struct curve_point *point,
                            const struct advise_question *question,
                            bool below_confidence,
                            struct advice *advice,
                            struct pv_error *err) PV_MUSTCHECK;

/*
 * What the jobs beside it mean for the advice: a reason, a warning for running jobs that are late
 * or that the new job makes late, and feasible = false where the new job itself misses its
 * deadline; what was found for the new job alone is then marked as such (codes deadline_met_alone
 * and objective_alone) and stands behind missed_beside_running. names: of the question's running
 * jobs, NUL-terminated, living as long as the advice. PV_E_MEMORY.
 */
enum pv_code explain_beside(const struct beside_question *question,
                            const struct beside_outcome *outcome,
                            const char *const names[],
                            struct arena *arena,
                            struct advice *advice,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
