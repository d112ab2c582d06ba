#ifndef CODEC_SCHEDULING_POLICY_COMPARISON_H
#define CODEC_SCHEDULING_POLICY_COMPARISON_H

#include "base/json_writer.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/scheduling/percentiles.h"
#include "core/scheduling/policy_comparison.h"

/* What requests that compare schedulers have in common (POST /v1/simulations of the kinds `slots`
 * and `tasks`): policies with terms of their own, loads, repetitions, and what is asked for. */

/* What a client may ask for; from struct config. */
struct codec_comparison_limits {
    size_t jobs;
    size_t tasks;           /* of all jobs */
    size_t runs;            /* policies x loads x repetitions */
    size_t task_runs;       /* these x tasks; a policy that probes counts once for each probe */
    size_t probes_per_task; /* sparrow, eagle */
    size_t job_rows;        /* jobs x policies x loads, where they are included in the result */
    size_t memory_bytes;    /* that one simulation works with */
};

enum { COMPARISON_POLICIES_MAX = 32, COMPARISON_LOADS_MAX = 32 };
enum { COMPARISON_INCLUDE_JOBS = 1 };

/* The first member of what a request becomes. */
struct codec_comparison {
    struct strview names[COMPARISON_POLICIES_MAX];
    unsigned words[COMPARISON_POLICIES_MAX]; /* which policy, of the table */
    size_t n_policies;
    size_t baseline; /* of the policies; SIZE_MAX: none */
    double loads[COMPARISON_LOADS_MAX];
    size_t n_loads;
    size_t repetitions;
    int64_t seed;
    unsigned include;
    enum policy_objective objective;
};

/* A term of policies: a member of theirs. */
struct codec_policy_term {
    const char *name;
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
#define CODEC_COMPARISON_MEMBERS(T)                                                                \
    {"baseline", SHAPE_CODE, .decode = codec_comparison_decode_baseline,                           \
     .encode = codec_comparison_encode_baseline},                                                  \
    {"loads", SHAPE_CODE, .decode = codec_comparison_decode_loads,                                 \
     .encode = codec_comparison_encode_loads},                                                     \
    {"repetitions", SHAPE_SIZE(T, common.repetitions), .flags = SHAPE_KEEP, .least = 1,            \
     SHAPE_LIMIT(struct codec_comparison_limits, runs)},                                           \
    {"seed", SHAPE_COUNT(T, common.seed), .flags = SHAPE_KEEP, .most = CODEC_SEED_MAX},            \
    {"include", SHAPE_WORDS(T, common.include, codec_comparison_includes)},                        \
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

/* Of CODEC_COMPARISON_MEMBERS. */
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
    double tasks;        /* of all jobs */
    double probed;       /* tasks of one run of every policy, once for each probe where it probes */
    double shortest_s;   /* the shortest task */
    double last_s;       /* the last arrival */
    double work_s;       /* all durations, and shuffles */
    double slots;        /* or workers */
    size_t memory_bytes; /* the most that one simulation works with */
    size_t memory_policy; /* whose */
};

/* The comparison as the core has it; `draws` of each policy is the caller's. */
struct policy_comparison codec_comparison_plan(const struct codec_comparison *common,
                                               const bool draws[]);

/* Faults: more tasks, simulations, memory or jobs in the result than the limits allow; tasks so
 * short that doubles cannot tell when they ended. */
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

/* The members load and best of the item of a load; of_jobs: "jobs" or "short jobs", which the
 * objective is about. */
void codec_comparison_encode_best(struct writer *w,
                                  const struct codec_comparison *common,
                                  size_t load,
                                  const struct policy_choice *choice,
                                  const char *of_jobs);

/* Warnings of loads at which more arrives than can be done. */
void codec_comparison_warn_overload(const struct codec_comparison *common,
                                    struct findings *warnings);

#endif
