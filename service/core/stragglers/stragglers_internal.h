#ifndef CORE_STRAGGLERS_STRAGGLERS_INTERNAL_H
#define CORE_STRAGGLERS_STRAGGLERS_INTERNAL_H

#include "core/stragglers/stragglers.h"

/* What the parts of stragglers_find share. */
struct search {
    const struct run *runs; /* newest first */
    size_t n;
    const struct straggler_limits *limits;
    struct arena *arena;
    struct arena *scratch;
    struct stragglers *found;
};

/* Can tasks of the stage be compared between nodes? */
bool straggler_has_nodes(const struct run_stage *stage);

/* found->nodes, unordered, with all but their reasons (straggler_nodes.c). */
enum pv_code straggler_judge_nodes(const struct search *search, struct pv_error *err) PV_MUSTCHECK;

/* How much longer each node of the last run takes, 1 where that is not certain. NULL: no memory. */
double *straggler_factors(const struct search *search);

/* found->stages but for their replays, by such factors (straggler_stages.c). */
enum pv_code straggler_judge_stages(const struct search *search,
                                    const double factors[],
                                    struct pv_error *err) PV_MUSTCHECK;

/* found->speculation, and the replays of the stages (straggler_replay.c). */
enum pv_code straggler_replay(const struct search *search,
                              const double factors[],
                              struct pv_error *err) PV_MUSTCHECK;

/* found->groups and slots (straggler_groups.c). */
enum pv_code straggler_find_groups(const struct search *search, struct pv_error *err) PV_MUSTCHECK;

/* Cores of an executor for each of its task slots, the most of any stage; 1 if that is unknown. */
double straggler_cores_per_slot(const struct run *run);

/* Reasons of nodes, advice and warnings (straggler_words.c). */
enum pv_code straggler_explain(const struct search *search, struct pv_error *err) PV_MUSTCHECK;

#endif
