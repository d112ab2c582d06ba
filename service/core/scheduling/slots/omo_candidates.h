#ifndef CORE_SCHEDULING_SLOTS_OMO_CANDIDATES_H
#define CORE_SCHEDULING_SLOTS_OMO_CANDIDATES_H

#include "core/scheduling/slots/omo.h"
#include "core/scheduling/slots/slots_candidates.h"
#include "core/scheduling/slots/slots_workload.h"

/*
 * Whom a slot goes to under OMO (J. Wang, dissertation, UMass Boston 2017, Alg. 4.3.1 to 4.3.3): the
 * first rule that finds a job decides, in each the job that occupies fewest slots, of equal ones the
 * first. Jobs are put where their figures belong whenever these change, and then a decision looks at
 * the first of each rule's candidates only.
 */
struct omo_terms {
    bool lazy_start;
    bool batch_finish;
    /* Without lazy_start: the part of its maps that a job has finished before its reduces begin, 0 to
     * 1. */
    double slow_start;
};

enum omo_rule {
    OMO_CONSECUTIVE_REDUCES, /* lazy_start: a job whose reduces have begun, but not all */
    OMO_LAZY_START,          /* a job whose reduces should begin now */
    OMO_BATCH_FINISH,        /* the job whose last maps are best hurried */
    OMO_FAIR,
    OMO_IDLE
};

struct omo_action {
    enum omo_rule rule;
    size_t job;           /* SLOTS_NOBODY: idle */
    enum slots_kind kind; /* of the task; of no meaning when idle */
};

/* A job whose maps had better be finished in a batch, and what that saves. */
struct omo_saving {
    double saved_s;
    size_t job;
};

struct omo_candidates {
    struct omo_terms terms;
    struct omo_rates rates;
    size_t active_jobs;
    struct slots_candidates reduces; /* who may begin a reduce, a group for each rule */
    struct slots_candidates maps;    /* who has a pending map; one group */
    struct omo_saving *savings;      /* in no order */
    size_t n_savings;
    size_t *saving_of; /* by job: its place there; SIZE_MAX: none */
};

/* Nobody waits. false: out of memory. n_jobs < 2^32 - 1. */
bool omo_candidates_init(struct omo_candidates *candidates,
                         const struct omo_terms *terms,
                         size_t n_jobs,
                         struct arena *arena);

/* From now on: every job that they matter to (omo_watch.h) has to be put again. rates->release_frequency_per_s is not NAN. */
void omo_candidates_set_rates(struct omo_candidates *candidates,
                              const struct omo_rates *rates,
                              size_t active_jobs);

/* A job as it is now, by its index; it holds fewer than 2^32 slots. O(log n) amortized. */
struct omo_figures
omo_candidates_put(struct omo_candidates *candidates, size_t index, const struct omo_job *job);

/* Whom a free slot goes to. O(1 + jobs that batch_finish could hurry). */
struct omo_action omo_candidates_choose(const struct omo_candidates *candidates);

/* The job with a pending map that occupies fewest slots; SLOTS_NOBODY: none has one. */
size_t omo_candidates_fewest_slots(const struct omo_candidates *candidates);

#endif
