#ifndef CORE_SCHEDULING_SLOTS_FRESH_H
#define CORE_SCHEDULING_SLOTS_FRESH_H

#include <stdbool.h>
#include <stddef.h>

#include "core/scheduling/slots/slots_workload.h"

/*
 * FRESH at run time (J. Wang, dissertation, UMass Boston 2017, Alg. 3.3.2 to 3.3.4 and theorem
 * 3.3.1): a slot has come free; does it serve maps or reduces now, and of which job? Slots stand to
 * each other as the work that is left for them, unless the next job to end its maps is about to
 * change that suddenly; then as the work will be. Of the jobs the one that has consumed least is
 * next (eq. 3.1).
 *
 * What differs from the paper (docs/design.md, "FRESH at run time"): line 12 of Alg. 3.3.3 compares
 * a share of the slots with a share of the work, fewer than k jobs and no next job are provided for,
 * and theorem 3.3.1 is written so that it holds as theta_cur goes to 0.
 */
enum fresh_phase {
    FRESH_MAP,
    FRESH_PENDING, /* maps done, not yet among the k jobs that reduce */
    FRESH_REDUCE
};

/* Tasks that run hold a slot; what has neither finished nor runs is pending. */
struct fresh_job {
    enum fresh_phase phase;
    double started_s;
    size_t maps; /* >= 1 */
    size_t maps_finished;
    size_t maps_running;
    double map_task_s; /* mean of the finished ones, or what is expected of all */
    size_t reduces;
    size_t reduces_finished;
    size_t reduces_running;
    double reduce_task_s; /* likewise; > 0 where there are reduces */
    double task_time_s;   /* of finished and running tasks so far */
};

/* w'_m and w'_r: work of the tasks that have not finished. */
double fresh_map_work_s(const struct fresh_job *job);
double fresh_reduce_work_s(const struct fresh_job *job);

/* Slots that a job has used on average since it started (eq. 3.1); 0 in its first instant. */
double fresh_consumption(const struct fresh_job *job, double now_s);

/* What a decision needs to know of all jobs, added up one by one: it does not depend on how many
 * there are, and remains true while slots are given at one instant. */
struct fresh_candidate {
    size_t job; /* SLOTS_NOBODY: no job has such a task pending */
    double consumption;
};

struct fresh_tally {
    double now_s;
    double map_work_s;    /* RW_m: of jobs in the map phase */
    double reduce_work_s; /* RW_r: of jobs behind it */
    double reduce_ends_per_s;
    size_t map_jobs; /* in the map phase */
    size_t first;    /* the one with least work left; SLOTS_NOBODY: there is none */
    double first_map_work_s;
    double first_reduce_work_s;
    double first_progress;
    size_t first_running; /* maps */
    struct fresh_candidate candidates[SLOTS_KINDS];
};

/* Of no jobs. */
struct fresh_tally fresh_tally_begin(double now_s);

/* One more job, which is called `index` from now on, in the order of the request: of equal ones the
 * first wins. */
void fresh_tally_add(struct fresh_tally *tally, size_t index, const struct fresh_job *job);

/* As in the dissertation. */
#define FRESH_TAU1 0.8
#define FRESH_TAU2 0.6

struct fresh_terms {
    size_t concurrency; /* k >= 1 */
    double tau1; /* progress of a job's maps from which on what comes after them counts; 0 to 1 */
    double tau2; /* deviation from which on the slots are divided for it; >= 0 */
};

/* The slots other than the free one. */
struct fresh_slots {
    size_t map_slots;         /* that serve maps */
    size_t total_slots;       /* S: of all, the free one included */
    double reduce_interval_s; /* mean time between two ends of reduces; NAN: taken from those that
                                 run */
    double next_map_work_s;   /* of the job that enters the map phase next; 0: there is none */
};

enum fresh_rule {
    FRESH_EXPECTED_SLOTS, /* the kind that is to have more slots */
    FRESH_OTHER_KIND,     /* no task of that kind is pending */
    FRESH_IDLE            /* no task is pending */
};

/* NAN: not computed. */
struct fresh_figures {
    double current_ratio;         /* theta_cur */
    size_t first_to_end;          /* a; SLOTS_NOBODY */
    double progress;              /* of a's maps */
    double next_map_work_s;       /* RW'_m, once a has ended its maps */
    double next_reduce_work_s;    /* RW'_r */
    double expected_ratio;        /* theta_exp */
    double reduce_slots_released; /* eta: until then */
    double predicted_map_slots;   /* s'_m: then, if the current ratio stands */
    double deviation;
    bool sudden_change;
    double expected_map_slots;
};

struct fresh_action {
    enum fresh_rule rule;
    size_t job;           /* SLOTS_NOBODY: idle */
    enum slots_kind kind; /* of the task and, from now on, of the slot; of no meaning when idle */
};

/* Whom the free slot goes to, and why. O(1). */
struct fresh_action fresh_decide(const struct fresh_terms *terms,
                                 const struct fresh_slots *slots,
                                 const struct fresh_tally *tally,
                                 struct fresh_figures *figures);

#endif
