#ifndef CODEC_SCHEDULING_TASKS_SIMULATION_INTERNAL_H
#define CODEC_SCHEDULING_TASKS_SIMULATION_INTERNAL_H

#include "codec/scheduling/tasks_simulation.h"
#include "core/scheduling/tasks/pigeon_layout.h"

/* The schedulers of bags of tasks and the terms of each. Groups are not compared with workers. */
extern const struct codec_policy_table codec_tasks_policies;

/* What a search tries of each (codec/scheduling/policy_search.h). */
extern const struct codec_policy_table codec_tasks_families;

enum { NAME_SHOWN = 64 };

#define TASKS_RESERVED_SHARE_MAX 0.5

/* --- workers in groups (tasks_cluster.c) --- */

/* The groups that a cluster lists; NULL: no memory. */
struct pigeon_group *codec_tasks_groups(const struct codec_node *top,
                                        const struct codec_tasks_cluster *cluster);

/* Fault: workers of another power than 1, and a policy that knows none. */
void codec_tasks_powers_check(const struct codec_node *top,
                              const struct codec_tasks_simulation *asked);

/* --- classes of jobs (tasks_classes.c) --- */

/* The member `classes` of the request. Faults: names twice, "all"; short_cutoff_s beside it. */
void codec_tasks_classes_decode(const struct codec_node *node, const void *limits, void *object);
void codec_tasks_classes_encode(struct writer *w, const void *object, const void *context);

/* Which of those that are declared has a name; as many as there are: none. */
size_t codec_tasks_class_find(const struct codec_tasks_simulation *asked, struct strview name);

/* The class of each job, by the cut-off where none is given and none is declared. Faults: one that
 * is not declared, or is missing. Policies that know two classes take the lowest one of several for
 * the long jobs. */
void codec_tasks_classes_of_jobs(const struct codec_node *top,
                                 const struct codec_tasks_simulation *asked);

/* --- searches (tasks_simulation_search.c) --- */

/* Fault: what no candidate knows, workers in groups, declared classes or bound tasks. */
void codec_tasks_check_searchable(const struct codec_node *top,
                                  const struct codec_tasks_simulation *asked);

/* What simulating all jobs once counts for, under the candidate that takes most (tasks_comparison_work);
 * 0: there is none. */
double codec_tasks_most_work(const struct codec_tasks_simulation *asked,
                             const struct tasks_model *model);

/* Choose the candidates of a search, if there is one, for the model, whose jobs may be
 * counted only; load_bytes: that they take. Faults: as of codec_search_check. */
void codec_tasks_check_search(const struct codec_node *top,
                              const struct codec_comparison_limits *limits,
                              const struct tasks_model *model,
                              size_t load_bytes,
                              struct codec_tasks_simulation *asked);

/* The candidates again, for jobs that have been loaded. PV_E_INVALID: there is none. */
enum pv_code codec_tasks_choose_candidates(struct codec_tasks_simulation *asked,
                                           struct arena *arena,
                                           struct pv_error *err);

/* --- the member `weight` of policies and of their classes (tasks_policy_terms.c) --- */

/* An integer, or "infinite"; `absent` where there is none. */
uint64_t codec_tasks_weight_decode(const struct codec_node *node, uint64_t absent);
void codec_tasks_weight_encode(struct writer *w, uint64_t weight);

/* --- Pigeon's layout (pigeon_layout_terms.c, pigeon_failures.c) --- */

/* Of a class of the request. */
struct codec_pigeon_class {
    struct strview name;
    double reserved_share;
    uint64_t weight;
};

struct codec_pigeon_failure {
    size_t group;
    double at_s;
    double detection_s;
    enum pigeon_recovery recovery;
    double return_s; /* NAN: never */
};

extern const struct shape codec_pigeon_class_shape;
extern const struct shape codec_pigeon_failure_shape;

/* What the layout of terms is a part of, as it was sent. */
struct codec_pigeon_layout {
    struct pigeon_layout layout; /* the first member */
    struct codec_pigeon_class *classes;
    size_t n_classes;
    struct codec_pigeon_failure *failures;
    size_t n_failures;
    const struct strview *names; /* of the classes of a complete layout */
};

static inline const struct codec_pigeon_layout *
codec_pigeon_layout_of(const struct tasks_terms *terms)
{
    return (const struct codec_pigeon_layout *)terms->layout;
}

/* The members classes, report_every_s and failures of a policy, where there is one of them; what
 * depends on the rest of the request is left for below. */
void codec_pigeon_layout_decode(const struct codec_node *policy,
                                const struct codec_comparison_limits *limits,
                                void *terms);
void codec_pigeon_classes_encode(struct writer *w, const void *terms);
void codec_pigeon_report_encode(struct writer *w, const void *terms);
void codec_pigeon_failures_encode(struct writer *w, const void *terms);

/* Faults of a request that may have others: groups that are missing, or are listed by the cluster,
 * too; classes of policies that are not declared; terms of two classes where some are. */
void codec_pigeon_terms_check(const struct codec_node *top,
                              const struct codec_tasks_simulation *asked);

/* The layout of each policy "pigeon" of a request with a complete model; NULL where it is of equal
 * groups, short and long tasks and no failures. Faults: of failures, and what waits for ever for
 * workers that have failed, as far as that is known when arrivals are. */
void codec_pigeon_layouts_complete(const struct codec_node *top,
                                   struct codec_tasks_simulation *asked);

/* Fault: reports in a row that are less than two messages apart, or too many to count. */
void codec_pigeon_reports_check(const struct codec_node *top,
                                const struct codec_tasks_simulation *asked,
                                double longest_s);

void codec_pigeon_failures_decode(const struct codec_node *policy,
                                  struct codec_pigeon_layout *layout);

/* The failures of a layout as the core has them. Faults: groups that are not there; failures of one
 * group that overlap. */
void codec_pigeon_failures_complete(const struct codec_node *top,
                                    const struct codec_tasks_simulation *asked,
                                    size_t policy,
                                    struct codec_pigeon_layout *layout);

/* Faults: jobs that come when all groups have failed for good; tasks when all their workers have. */
void codec_pigeon_losses_check(const struct codec_node *top,
                               const struct codec_tasks_simulation *asked);

/* When the last failure of terms is over that is over some time. */
double codec_pigeon_failures_last_s(const struct tasks_terms *terms);

#endif
