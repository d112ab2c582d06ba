#ifndef CODEC_SCHEDULING_POLICY_COMPARISON_H
#define CODEC_SCHEDULING_POLICY_COMPARISON_H

#include "base/json_writer.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/scheduling/comparison/percentiles.h"
#include "core/scheduling/comparison/policy_comparison.h"
#include "core/workload/workload_load.h"

/* What requests that compare schedulers have in common (POST /v1/simulations of the kinds `slots`
 * and `tasks`): policies with terms of their own, loads, repetitions, and what is asked for. */

/* What a client may ask for; from struct config. */
struct codec_comparison_limits {
    /* What the workload of the request comes to; NULL: it has not been looked up, or there is none.
     * Rules that depend on it are checked only where it is there. */
    const struct workload_summary *workload;
    size_t jobs;
    size_t tasks;     /* of all jobs of the request */
    size_t runs;      /* policies x loads x repetitions */
    size_t task_runs; /* these x what they count for (tasks_comparison_work, slots_terms_weight) */
    size_t probes_per_task;  /* sparrow, eagle */
    size_t splits;           /* slots x jobs, under fresh_static */
    size_t auto_nodes;       /* of which eSplash chooses the number of levels */
    size_t looks;            /* of decisions on speculation, in all simulations */
    size_t network_steps;    /* of all simulations together (struct slots_cluster) */
    size_t job_rows;         /* jobs x policies x loads, where they are included in the result */
    size_t memory_bytes;     /* that one simulation works with, and the jobs of a workload take */
    size_t search_task_runs; /* of a search, over all loads, where none are given */
    size_t search_task_runs_max;
};

enum {
    COMPARISON_POLICIES_MAX = 32,
    COMPARISON_LOADS_MAX = 32,
    SEARCH_FAMILIES_MAX = 16,
    SEARCH_CANDIDATES_MAX = 256
};
enum {
    COMPARISON_INCLUDE_JOBS = 1,
    COMPARISON_INCLUDE_QUEUES = 2,
    COMPARISON_INCLUDE_DISTRIBUTIONS = 4,
    /* Of kind `slots` alone. */
    COMPARISON_INCLUDE_FAIRNESS = 8,
    COMPARISON_INCLUDE_OCCUPANCY = 16
};

/* A search for the terms that suit best (codec/scheduling/policy_search.h). */
struct codec_search {
    bool asked;
    size_t task_runs;
    double error_chance;
    unsigned words[SEARCH_FAMILIES_MAX]; /* which policy, of the table of what is searched */
    size_t n_families;
};

/* The first member of what a request becomes. */
struct codec_comparison {
    struct strview names[COMPARISON_POLICIES_MAX + 1]; /* behind the policies: of what is found */
    unsigned words[COMPARISON_POLICIES_MAX];           /* which policy, of the table */
    size_t n_policies;
    char workload[37]; /* whose jobs are simulated; "": those of the request */
    size_t baseline;   /* of the policies; SIZE_MAX: none */
    double loads[COMPARISON_LOADS_MAX];
    size_t n_loads;
    size_t repetitions;
    int64_t seed;
    unsigned include;
    enum policy_objective objective;
    struct codec_search search;
};

/* Policies side by side at a load: those of the request, and the one that is found. */
static inline size_t codec_comparison_entries(const struct codec_comparison *common)
{
    return common->n_policies + common->search.asked;
}

/* A term of policies: a member of theirs. */
struct codec_policy_term {
    const char *name;
    /* NULL, both of them or the first: another term's reads, and writes, this member as well. */
    void (*decode)(const struct codec_node *policy,
                   const struct codec_comparison_limits *limits,
                   void *terms);
    void (*encode)(struct writer *w, const void *terms); /* writes nothing where it is unset */
};

/* The policies of a kind. A member that a policy has no term for is an unknown one. */
struct codec_policy_table {
    const char *(*name)(size_t word);
    size_t n;
    const unsigned *terms_of; /* of each policy, bit i: term i */
    const struct codec_policy_term *terms;
    size_t n_terms;
    /* The terms of policy i of the request, which is `word`, with their defaults. */
    void *(*begin)(void *request, size_t i, size_t word);
    const void *(*at)(const void *request, size_t i);
};

/* Rows of the shape of a request T whose first member is `common`, besides policies. */
extern const char *const codec_comparison_includes[];
extern const char *const codec_comparison_objectives[];
/* clang-format off */
#define CODEC_COMPARISON_MEMBERS(T) CODEC_COMPARISON_MEMBERS_WITH(T, codec_comparison_includes)
#define CODEC_COMPARISON_MEMBERS_WITH(T, includes)                                                 \
    {"workload", SHAPE_CODE, .decode = codec_comparison_decode_workload,                           \
     .encode = codec_comparison_encode_workload},                                                  \
    {"baseline", SHAPE_CODE, .decode = codec_comparison_decode_baseline,                           \
     .encode = codec_comparison_encode_baseline},                                                  \
    {"loads", SHAPE_CODE, .decode = codec_comparison_decode_loads,                                 \
     .encode = codec_comparison_encode_loads},                                                     \
    {"repetitions", SHAPE_SIZE(T, common.repetitions), .flags = SHAPE_KEEP, .least = 1,            \
     SHAPE_LIMIT(struct codec_comparison_limits, runs)},                                           \
    {"seed", SHAPE_COUNT(T, common.seed), .flags = SHAPE_KEEP, .most = CODEC_SEED_MAX},            \
    {"include", SHAPE_WORDS(T, common.include, includes)},                                         \
    {"objective", SHAPE_WORD(T, common.objective, codec_comparison_objectives),                    \
     .flags = SHAPE_KEEP}
/* clang-format on */

/* What is not sent. */
void codec_comparison_begin(struct codec_comparison *common);

/* The member `policies`. */
void codec_policies_decode(const struct codec_node *top,
                           const struct codec_policy_table *table,
                           const struct codec_comparison_limits *limits,
                           void *request);
void codec_policies_encode(struct writer *w,
                           const struct codec_policy_table *table,
                           const void *request);

/* The policy of an item, an object, and its terms, which become the i-th of the request; its word, or
 * table->n where it is at fault. beside: another member that it may have; NULL: none. */
size_t codec_policy_decode(const struct codec_node *node,
                           const struct codec_policy_table *table,
                           const char *beside,
                           const struct codec_comparison_limits *limits,
                           void *request,
                           size_t i);
/* The member `policy`, and those of its terms. */
void codec_policy_encode_terms(struct writer *w,
                               const struct codec_policy_table *table,
                               size_t word,
                               const void *terms);

/* Of CODEC_COMPARISON_MEMBERS. */
void codec_comparison_decode_workload(const struct codec_node *node,
                                      const void *limits,
                                      void *request);
void codec_comparison_encode_workload(struct writer *w, const void *request, const void *context);
void codec_comparison_decode_baseline(const struct codec_node *node,
                                      const void *limits,
                                      void *request);
void codec_comparison_encode_baseline(struct writer *w, const void *request, const void *context);
void codec_comparison_decode_loads(const struct codec_node *node,
                                   const void *limits,
                                   void *request);
void codec_comparison_encode_loads(struct writer *w, const void *request, const void *context);

/* How large it is, for codec_comparison_check. */
struct codec_comparison_size {
    size_t jobs;
    double tasks;  /* of all jobs */
    double probed; /* what one run of every policy counts for, in tasks */
    /* Of a workload that is not loaded the next three are 0. */
    double shortest_s;    /* the shortest task */
    double last_s;        /* the last arrival */
    double work_s;        /* all durations, and shuffles */
    double slots;         /* or workers */
    size_t load_bytes;    /* that the jobs of a workload take, once for all simulations */
    size_t memory_bytes;  /* the most that one simulation works with */
    size_t memory_policy; /* whose */
};

/* How long a simulation may take at most, as it were one task after the other. */
double codec_comparison_longest_s(const struct codec_comparison *common,
                                  const struct codec_comparison_size *size);

/* The comparison as the core has it; `draws` of each policy is the caller's. */
struct policy_comparison codec_comparison_plan(const struct codec_comparison *common,
                                               const bool draws[]);

/* The list of jobs that faults are at which concern them all. */
static inline const char *codec_comparison_source(const struct codec_comparison *common)
{
    return common->workload[0] != '\0' ? "workload" : "jobs";
}

/* As it is in replies: of a workload a job may have none. */
static inline struct strview codec_comparison_job_name(const char *loaded)
{
    return loaded[0] == '\0' ? (struct strview){NULL, 0} : strview_of(loaded);
}

/* The id of the workload that a body names which has been decoded. false: it has its jobs. */
bool codec_comparison_find_workload(const struct codec_node *top, char id[37]);

/* Faults: neither jobs nor a workload, or both. */
void codec_comparison_check_source(const struct codec_node *top);

/* What is loaded of a workload, and with it. */
size_t codec_comparison_load_bytes(const struct workload_summary *workload,
                                   const struct workload_load_terms *terms);

/* PV_E_INVALID: the workload that is loaded has tasks so short that doubles cannot tell when they
 * ended. */
enum pv_code codec_comparison_check_loaded(const struct codec_comparison *common,
                                           const struct codec_comparison_size *size,
                                           struct pv_error *err) PV_MUSTCHECK;

/* Faults: more tasks, simulations, memory or jobs in the result than the limits allow; tasks of the
 * request so short that doubles cannot tell when they ended. */
void codec_comparison_check(const struct codec_node *top,
                            const struct codec_comparison_limits *limits,
                            const struct codec_comparison *common,
                            const struct codec_comparison_size *size);

/* --- replies --- */

/* The member `key`: mean and percentiles. */
void codec_percentiles_encode(struct writer *w,
                              const char *key,
                              const struct percentiles *percentiles);
/* Likewise: by how many percent each figure is below that of the baseline. */
void codec_percentiles_encode_reduction(struct writer *w,
                                        const char *key,
                                        const struct percentiles *figures,
                                        const struct percentiles *baseline);

/* The members kind, seed, repetitions and baseline. */
void codec_comparison_encode_head(struct writer *w,
                                  const char *kind,
                                  const struct codec_comparison *common);

/* Warnings of loads at which more arrives than can be done. */
void codec_comparison_warn_overload(const struct codec_comparison *common,
                                    struct findings *warnings);

#endif
