#ifndef CORE_ADVICE_QUESTION_H
#define CORE_ADVICE_QUESTION_H

#include <math.h>

#include "core/advice/advise.h"
#include "core/advice/pricing.h"
#include "core/cluster/traits.h"
#include "core/deadline/clairvoyant_edf.h"
#include "core/history/run.h"
#include "core/spark/configuration.h"

/* A request for advice, decoded, and the bounds within which it is answered. */

/* The optional members of an answer. */
enum advice_include {
    ADVICE_ALTERNATIVES = 1,
    ADVICE_CONTENTION = 2,
    ADVICE_SPARK = 4,
    ADVICE_DATA_NEEDED = 8,
    ADVICE_STAGES = 16,
    ADVICE_NEXT_EXPERIMENTS = 32,
    ADVICE_COPY_PLAN = 64,
    ADVICE_MEMORY = 128,
    ADVICE_AUTOSCALING = 256
};

/* A job that already runs on the cluster. */
struct advice_running {
    struct strview application; /* NUL-terminated */
    double problem_size;        /* NAN: that of the latest run */
    double release_s;
    double deadline_s;
    double progress;      /* NAN: unknown */
    int64_t memory_bytes; /* RUN_UNKNOWN: none that counts */
    /* Of one that the service advised: */
    const char *advice_id;    /* NULL: the request lists it */
    const char *admission_id; /* that holds its cores; NULL: none */
    int64_t cores;
    double duration_s; /* predicted */
};

/* Where running jobs come from. */
enum running_source {
    RUNNING_LISTED, /* the request */
    RUNNING_ADVISED /* and advice for the cluster whose job has not reported back */
};

/* POST /v1/advice (docs/design.md, "Advice"). */
struct advice_question {
    struct strview application; /* NUL-terminated; at == NULL: the profile instead */
    struct strview folded_from; /* the name asked for; at == NULL: that of the application */
    struct run profile;
    struct run_label *labels; /* of the runs it is about, sorted by key */
    size_t n_labels;
    double problem_size;        /* NAN: that of the profile or the latest run */
    int64_t cores_per_executor; /* RUN_UNKNOWN: that of the nearest run */
    struct strview cluster;     /* registered; at == NULL: none */
    const struct cluster_traits
        *sized_cluster;     /* not registered; NULL: none. Never with `cluster` */
    bool beside_admissions; /* only what admissions leave free of the cluster */
    bool has_max_executors; /* one was sent */
    int64_t cluster_cores;  /* K with running jobs; RUN_UNKNOWN: max_executors x cores */
    enum pricing_market market;
    bool has_price;                   /* one was sent */
    struct price price;               /* the one sent; its terms of billing override a book's */
    double memory_price_per_gib_hour; /* NAN: unknown */
    struct advise_goal goal;          /* max_executors: the service's limit where none was sent */
    struct spark_constraints spark_constraints;
    struct strview *clusters; /* registered; the first stage may be spread over them */
    size_t n_clusters;
    size_t *inputs;                 /* those of them that hold the job's input */
    size_t n_inputs;                /* 0: not specified */
    struct advice_running *running; /* those of the request first, then those advised */
    size_t n_running;
    unsigned running_from;      /* enum running_source */
    bool advised_are_cut;       /* there are more than advised_jobs_max */
    int64_t free_cores;         /* that admissions leave of the cluster; RUN_UNKNOWN: not asked */
    int64_t free_memory_bytes;  /* likewise */
    bool has_launch_order;      /* one was sent */
    unsigned launch_order;      /* enum edf_launch_order */
    struct edf_memory launches; /* that jobs are launched in; bytes 0: memory does not count */
    unsigned include;           /* of enum advice_include */
};

/* What the service answers for. */
struct advice_limits {
    int64_t executors;          /* that are considered at most */
    int64_t cores;              /* executors x cores per executor */
    uint64_t task_budget;       /* simulated tasks of all replays */
    uint64_t joint_task_budget; /* the same of scheduling with running jobs */
    double extrapolation;       /* times the most that ran, where the request sets no maximum; and
                                   how far from a single run its problem size may lie */
    double error_percent;       /* on runs left out, beyond which nothing is advised */
    int64_t memory_per_core_bytes; /* to which memory may grow; 0: MEMORY_PER_CORE_MAX */
    size_t memory_cut_runs;        /* that a cut of memory needs; 0: MEMORY_CUT_RUNS */
};

/* One that leaves everything open: whoever asks fills in what it is about. */
static inline struct advice_question advice_question_open(int64_t max_executors)
{
    return (struct advice_question){.problem_size = (double)NAN,
                                    .cores_per_executor = RUN_UNKNOWN,
                                    .cluster_cores = RUN_UNKNOWN,
                                    .free_cores = RUN_UNKNOWN,
                                    .free_memory_bytes = RUN_UNKNOWN,
                                    .market = PRICING_ON_DEMAND,
                                    .price =
                                        price_of_executors((double)NAN, (double)NAN, (double)NAN),
                                    .memory_price_per_gib_hour = (double)NAN,
                                    .goal = {.deadline_s = (double)NAN,
                                             .confidence = 0.95,
                                             .objective = ADVISE_MIN_EXECUTORS,
                                             .min_executors = 1,
                                             .max_executors = max_executors,
                                             .last_executors = RUN_UNKNOWN,
                                             .tolerance_percent = 10.0,
                                             .max_cost = (double)NAN,
                                             .billing = {.per_hour = (double)NAN}},
                                    .include = ADVICE_ALTERNATIVES | ADVICE_STAGES | ADVICE_SPARK};
}

/* A job of which there is no deadline is due after so many times its predicted duration. */
#define ADVISED_OVERRUN 2.0

/* Does memory count beside cores? */
static inline bool advice_counts_memory(const struct advice_question *question)
{
    bool counts = question->has_launch_order;
    for (size_t i = 0; i < question->n_running && !counts; i++)
        counts = question->running[i].advice_id == NULL &&
                 question->running[i].memory_bytes != RUN_UNKNOWN;
    return counts;
}

/* The name by which the new job goes among the running ones. */
static inline struct strview advice_job_name(const struct advice_question *question)
{
    return question->application.at != NULL ? question->application : strview_of("profile");
}

#endif
