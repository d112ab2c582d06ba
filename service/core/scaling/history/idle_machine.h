#ifndef CORE_SCALING_HISTORY_IDLE_MACHINE_H
#define CORE_SCALING_HISTORY_IDLE_MACHINE_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scaling/history/run_observations.h"

/* Whether one of the machines that a history counts as executors does no work, as its fits weigh
 * it (core/scaling/laws/idle_node.h). */
struct idle_machine {
    bool counted;        /* most runs count executors in event logs, not machines */
    size_t applications; /* others of the team that count so and were learnt from */
    double prior_odds;   /* with what they show */
    double odds;         /* with what the runs show, too; bounded */
    double evidence;     /* of the runs alone, without any prior: ln of the likelihood ratio */
    bool shown;          /* they do show something, of their label groups */
};

/* Let fits of the rows learn from the other applications: sets observation.idle_learnt. */
void idle_machine_learn(struct run_observations *seen);

/*
 * seen   rows with contexts, weights, and idle_learnt
 * own    those that the models are for
 * mixed  labels that make a difference were ignored: what the rows show is then no evidence for
 *        other applications
 * arena  working memory. PV_E_MEMORY.
 */
enum pv_code idle_machine_find(const struct run_observations *seen,
                               const struct run_observations *own,
                               bool mixed,
                               struct arena *arena,
                               struct idle_machine *found,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
