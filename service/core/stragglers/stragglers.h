#ifndef CORE_STRAGGLERS_STRAGGLERS_H
#define CORE_STRAGGLERS_STRAGGLERS_H

#include "base/finding.h"
#include "core/history/run.h"
#include "core/stragglers/concurrent_stages.h"
#include "core/stragglers/copy_replay.h"
#include "core/stragglers/node_speed.h"
#include "core/stragglers/slow_tasks.h"

/*
 * Slow nodes and slow tasks of an application (docs/design.md, "Slow nodes"): which of its nodes were
 * slow in its last runs, which tasks of the last one were slow and why, and what copies of them
 * would have brought.
 */

/* A straggler takes this many times as long as other nodes, or more, and its interval is above 1. */
static const double STRAGGLER_FACTOR = 1.2;

/* Where the interval of a node that is none reaches beyond this, nothing can be said of it. */
static const double STRAGGLER_UNCLEAR = 1.5;

enum straggler_verdict { STRAGGLER_SLOW, STRAGGLER_NORMAL, STRAGGLER_TOO_FEW, STRAGGLER_VERDICTS };

struct straggler_node {
    struct strview name;     /* at == NULL: not kept */
    size_t place;            /* among the nodes of the last run; SIZE_MAX: it is not there */
    struct node_speed speed; /* over all runs; 95 percent for all nodes together */
    enum straggler_verdict verdict;
    size_t runs;      /* that had tasks there, as far as they could be compared */
    size_t slow_runs; /* in which it was a straggler by that run alone */
    int64_t since_us; /* start of the first of those slow runs that no other came between up to the
                         last; RUN_NO_INSTANT: unknown, or none */
    const char *reason; /* a sentence */
};

/* A stage of the last run. */
struct straggler_stage {
    const struct run_stage *stage; /* of the run */
    struct stage_times times;
    struct slow_stage slow;
    double charged_s; /* of the wall clock of the run (diagnosis/stage_time.h) */
    /* Replays on the nodes' slots; NAN where that is not possible. */
    double replayed_s;
    double without_s; /* what the stage would have lasted, had its slow tasks taken as long as the
                         median one */
};

/* What a rule for copies would have made of the last run. */
struct straggler_copies {
    double duration_s; /* of the run */
    double saved_s;
    size_t copies;
    size_t useful;
    double wasted_s;
};

/* A copy takes what the bytes of its task suggest (optimistic), or as much longer as the task itself
 * took for no known reason (pessimistic): a log does not say which. */
enum { STRAGGLER_OPTIMISTIC, STRAGGLER_PESSIMISTIC, STRAGGLER_CASES };

struct straggler_speculation {
    size_t stages;     /* replayed; 0: nothing of what follows is known */
    double measured_s; /* sum of their durations */
    double replayed_s; /* sum of their replays without copies */
    struct straggler_copies copies[COPY_RULES][STRAGGLER_CASES]; /* not of COPY_NONE */
};

/* Stages of the last run that ran at the same time, directly or through others of the group. */
struct straggler_group {
    const int64_t *stage_ids; /* in order of their start */
    size_t n;
    double measured_s; /* from the first start to the last end */
    enum share_rule rule_of_run;
    enum share_rule best; /* of the rules, the first with the least makespan */
    struct share_outcome rules[SHARE_RULES];
};

/* What to do, with the property of Spark that does it; key NULL: none does. */
struct straggler_advice {
    struct finding finding;
    const char *key;
    const char *value;
};

struct stragglers {
    const struct run *run;        /* the last one */
    struct slow_rule rule;        /* Spark's, as the run set it or by default */
    bool rule_given;              /* the run set one of both */
    struct straggler_node *nodes; /* stragglers first, then the others, each the slowest first */
    size_t n_nodes;
    struct straggler_stage *stages; /* of which the tasks' durations are known; by id */
    size_t n_stages;
    struct straggler_speculation speculation;
    bool too_large; /* for a replay */
    struct straggler_group *groups;
    size_t n_groups;
    size_t slots; /* tasks at once in their replays; 0: unknown, and there are no groups */
    struct straggler_advice *advice;
    size_t n_advice;
    struct findings warnings;
};

/* Beyond these a last run is not replayed. */
struct straggler_limits {
    double steps; /* the sum over its stages of tasks x (nodes + tasks at once), known before */
    double looks; /* of decisions on copies at nodes and running tasks, in all replays together: how
                     many decisions there are shows only then */
};

/*
 * limits: of replays. runs: newest first, one at least, with stages and their tasks as far as these are known; borrowed.
 * All else is of `arena`; scratch is back at its mark. PV_E_MEMORY. O(tasks log tasks) and the
 * replays of the last run.
 */
enum pv_code stragglers_find(const struct run runs[],
                             size_t n,
                             const struct straggler_limits *limits,
                             struct arena *arena,
                             struct arena *scratch,
                             struct stragglers *found,
                             struct pv_error *err) PV_MUSTCHECK;

/* Its name on the wire. */
const char *straggler_verdict_name(enum straggler_verdict verdict);

#endif
