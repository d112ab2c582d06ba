#ifndef CORE_SCHEDULING_SLOTS_SLOTS_POLICY_H
#define CORE_SCHEDULING_SLOTS_SLOTS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/slots/slots_workload.h"
#include "core/scheduling/speculation/esplash.h"

/*
 * Whom a free slot goes to. A policy is a row of slots_policies: it is notified of what happens to jobs
 * (by their index in order of arrival) and keeps those that could use a slot in an order of its
 * own, so that naming the next one costs little. The engine (slots_engine.h) knows no policy.
 *
 * To add one: its terms, a file with its functions, a row.
 */

/* Of a job under way, by kind. Every task is pending, holds a slot (one, even if a copy of it holds
 * another), or has finished. Tasks on a node that goes down are pending again. */
struct slots_counts {
    size_t pending[SLOTS_KINDS];
    size_t held[SLOTS_KINDS];
    size_t finished[SLOTS_KINDS];
    double finished_s[SLOTS_KINDS]; /* durations of those that have finished, summed */
    bool ready[SLOTS_KINDS];        /* pending tasks may be given slots */
};

/* What a policy sees. Jobs stand in order of arrival: arrival_s, then the order of the request. */
struct slots_view {
    struct slots_cluster cluster;
    const struct slots_job *jobs;
    const struct slots_counts *counts; /* of jobs that have arrived */
    const double *size_s;              /* of each job */
    const double *predicted_size_s;    /* of each job, its size where none was predicted */
    size_t n_jobs;
    double now_s; /* the instant that happens */
    double
        *limit_s; /* of each job: the service at which it crosses; HUGE_VAL: never. For the policy
                        to set, in `arrived` and `crossed`; used where it has the latter */
    size_t *looked_through; /* for the policy to add jobs to that it looks through one by one */
};

/* Slots divided: partition p has slots[kind][p]. One partition has all unless a policy says else. */
struct slots_partitions {
    size_t *slots[SLOTS_KINDS];
    size_t n;
};

/* A queue of the policy "capacity". */
struct slots_tenant {
    double share;     /* of the slots, > 0; all add up to 1 */
    double max_share; /* > 0, 1 at most */
};

struct slots_policy;

/* Whether tasks get copies on other nodes, and which. */
enum slots_speculation_kind { SLOTS_NO_SPECULATION, SLOTS_LATE, SLOTS_ESPLASH };
enum { SLOTS_SPECULATION_KINDS = SLOTS_ESPLASH + 1 };

#define SLOTS_EPOCH_S 5.0

struct slots_speculation_terms {
    enum slots_speculation_kind kind;
    double epoch_s;     /* > 0: between two decisions */
    size_t level_count; /* esplash: where nodes have no levels, how many; NODE_LEVELS_AUTO */
    struct esplash_terms esplash; /* esplash */
    size_t
        looks_max; /* at nodes, tasks and figures by decisions (slots_copies); a simulation that comes
                         to more fails; 0: no limit */
};

/* Of all policies together; each uses its own. Borrowed. */
struct slots_terms {
    const struct slots_policy *policy;
    /* fair, fresh_static, fresh: jobs in the map phase, and in the reduce phase, at a time; 0 (fair
     * only): any */
    size_t concurrency;
    /* fresh_static: as slots_split finds it, once for all runs of the same jobs; zeros: every run
     * finds it by itself */
    size_t split[SLOTS_KINDS];
    double tau1, tau2; /* fresh: as in struct fresh_terms */
    double ema_weight; /* omo: of the last window in the moving averages, 0 < .. <= 1 */
    double window_s;   /* omo: > 0 */
    bool lazy_start;   /* omo */
    bool batch_finish; /* omo */
    size_t queues;     /* comp: >= 2; an arrival costs as much */
    const double
        *limits_s;   /* fbq, tags: service in each queue but the last, > 0; sita: sizes, strictly
                                rising */
    size_t n_limits; /* >= 1 */
    const double *partitions;           /* tags, sita: n_limits + 1 shares > 0, which add up to 1 */
    const struct slots_tenant *tenants; /* capacity */
    size_t n_tenants;
    struct slots_speculation_terms speculation; /* all, where the cluster has nodes */
};

/* Whom a container goes to, on a cluster whose nodes have room for them (slots_containers.h), the
 * first in order of arrival where these are equal: who holds least memory; who has the least dominant
 * share; whose queue holds least of its share, in it the first in order of arrival; who stands first
 * by `standing`. Or containers are all of one size, and so slots of no fixed kind. */
enum slots_container_order {
    SLOTS_WITHOUT_CONTAINERS, /* the policy is for slots only */
    SLOTS_BY_ARRIVAL,
    SLOTS_BY_MEMORY,
    SLOTS_BY_DOMINANT_SHARE,
    SLOTS_BY_QUEUE,
    SLOTS_BY_STANDING,
    SLOTS_ALIKE
};

struct slots_policy {
    const char *name; /* as on the wire */

    enum slots_container_order container_order;
    uint64_t (*standing)(const void *state, size_t job); /* the least is next; changes when the job
                                                             arrives or crosses */

    /* Make its state, in the arena, for a run whose view stays where it is; divide the slots if it
     * likes. PV_E_MEMORY; PV_E_INVALID where the slots do not suffice, with the fault's place. */
    enum pv_code (*begin)(const struct slots_view *view,
                          const struct slots_terms *terms,
                          struct slots_partitions *partitions,
                          struct arena *arena,
                          void **state,
                          struct pv_error *err);

    void (*arrived)(void *state,
                    size_t job); /* its counts are there, and `changed` is not called */
    void (*maps_ended)(void *state,
                       size_t job); /* not of a job without maps; NULL: it does not care */
    void (*job_ended)(void *state, size_t job); /* NULL likewise */

    /* The service of these jobs, in any order, has reached their limits: set others, higher ones.
     * Called again for those that have reached the new ones, too. NULL: jobs have no limits, and
     * their service is not followed. */
    void (*crossed)(void *state, const size_t jobs[], size_t n);

    /* The counts of a job have changed for tasks of a kind, or whether they are ready. Not called
     * where there are containers, nor is `choose`. */
    void (*changed)(void *state, enum slots_kind kind, size_t job);

    /* Whom a free slot of a kind and partition goes to, among jobs that have arrived and have a
     * pending task of the kind that is ready; SLOTS_NOBODY: it stays free. *most, which is SIZE_MAX
     * before: how many free slots would go to that job one after the other, 1 at least. */
    size_t (*choose)(void *state, enum slots_kind kind, size_t partition, size_t *most);

    /* Instead of `choose`, where slots have no fixed kind: all of the cluster's slots are one pool,
     * which the policy does not divide. Whom a free one goes to, and for a task of which *kind, among
     * jobs that have arrived and have such a task pending, ready or not; SLOTS_NOBODY: it stays
     * free. NULL: slots are of a kind. */
    size_t (*choose_shared)(void *state, enum slots_kind *kind);

    /* Jobs, of n at a time, that a decision looks through at most, and how many of them take as long as
     * all else that a task costs. NULL: the number of jobs makes no difference. */
    size_t (*looked_through)(const struct slots_cluster *cluster,
                             const struct slots_terms *terms,
                             size_t n_jobs);
    size_t looked_through_free;
};

/* What simulating a task of so many jobs at a time counts for: 1, or as many times more as jobs are
 * looked through, or lines of jobs that wait for containers. */
double slots_terms_weight(const struct slots_terms *terms,
                          const struct slots_cluster *cluster,
                          size_t n_jobs);

enum slots_policy_index {
    SLOTS_FIFO,
    SLOTS_FAIR,
    SLOTS_CAPACITY,
    SLOTS_FBQ,
    SLOTS_TAGS,
    SLOTS_SITA,
    SLOTS_COMP,
    SLOTS_FRESH_STATIC,
    SLOTS_FRESH,
    SLOTS_OMO,
    SLOTS_DRF
};
enum { SLOTS_POLICIES = SLOTS_DRF + 1 };

extern const struct slots_policy *const slots_policies[SLOTS_POLICIES];

/* The rows, each in a file of its own or with its like. */
extern const struct slots_policy slots_policy_fifo;
extern const struct slots_policy slots_policy_fair;
extern const struct slots_policy slots_policy_capacity;
extern const struct slots_policy slots_policy_fbq;
extern const struct slots_policy slots_policy_tags;
extern const struct slots_policy slots_policy_sita;
extern const struct slots_policy slots_policy_comp;
extern const struct slots_policy slots_policy_fresh_static;
extern const struct slots_policy slots_policy_fresh;
extern const struct slots_policy slots_policy_omo;
extern const struct slots_policy slots_policy_drf;

/* A job that a slot of the kind could go to. */
static inline bool
slots_is_candidate(const struct slots_view *view, enum slots_kind kind, size_t job)
{
    return view->counts[job].ready[kind] && view->counts[job].pending[kind] > 0;
}

#endif
