#ifndef CODEC_SCHEDULING_SPECULATION_H
#define CODEC_SCHEDULING_SPECULATION_H

#include "base/json_writer.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/scheduling/speculation/esplash.h"
#include "core/scheduling/speculation/late.h"
#include "core/scheduling/speculation/speculation_gaps.h"

/* What a client may ask for; from struct config. */
struct codec_speculation_limits {
    size_t nodes;
    size_t tasks;      /* that run, on all nodes together */
    size_t types;      /* of tasks */
    size_t auto_nodes; /* nodes of which the number of levels is chosen */
};

enum codec_speculation_kind {
    CODEC_SPECULATION_ESPLASH,
    CODEC_SPECULATION_LATE,
    CODEC_SPECULATION_KINDS /* none of them: a fault */
};

/* Their words; the end: NULL. */
extern const char *const codec_speculation_kinds[];

/* In logs: which task really got a copy, and where. */
struct codec_speculation_taken {
    struct strview task; /* at == NULL: none */
    struct strview host; /* at == NULL: not known, or the copy waited */
};

struct codec_speculation_finished {
    struct strview type;
    size_t tasks;
    double mean_s;
    double deviation_s;
};

struct codec_speculation_task {
    struct strview id;
    struct strview type;
    double elapsed_s;
    double progress;
    double progress_rate_per_s; /* NAN: not known */
    unsigned copy;              /* enum speculation_copy */
    bool is_copy;
};

struct codec_speculation_node {
    struct strview name;
    size_t level; /* SIZE_MAX: not given */
    size_t containers;
    size_t free_containers; /* SIZE_MAX: not known */
    struct codec_speculation_finished *finished;
    size_t n_finished;
    struct codec_speculation_task *running;
    size_t n_running;
};

extern const struct shape codec_esplash_shape;
extern const struct shape codec_late_shape;
extern const struct shape codec_speculation_node_shape;
extern const struct shape codec_speculation_taken_shape;
extern const struct shape codec_speculation_task_shape;
extern const struct shape codec_speculation_finished_shape;

/* POST /v1/speculation-decisions (docs/design.md, "Speculative copies"). */
struct codec_speculation {
    enum codec_speculation_kind kind;
    size_t level_count; /* NODE_LEVELS_AUTO */
    struct esplash_terms terms;
    struct codec_speculation_node *nodes;
    size_t n_nodes;
    bool has_taken;
    struct codec_speculation_taken taken;
    /* What the core works with. */
    struct speculation_cluster cluster; /* its nodes are `nodes`, tasks likewise */
    struct strview *types;              /* by number, in order of first sight */
    size_t *level;                      /* by node; NULL: levels are to be found */
};

/*
 * Faults: unknown members, also those of the other kind; types and ranges; a node's name, a type of a
 * node or a task's id twice (at the second one); more free containers than containers; levels of some
 * nodes only, or a number of levels beside them; more levels than nodes; more than `limits` allow.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_speculation_decode(const struct codec_node *node,
                              const struct codec_speculation_limits *limits,
                              struct codec_speculation *asked);

/* Replies, as one object. */
void codec_esplash_encode(struct writer *w,
                          const struct codec_speculation *asked,
                          const struct node_levels *levels,
                          const struct esplash_decision *decision,
                          const struct findings *warnings);
void codec_late_encode(struct writer *w,
                       const struct codec_speculation *asked,
                       const struct late_decision *decision,
                       const struct findings *warnings);

/* A fault where a number of levels that is given takes more comparisons than one that is chosen may:
 * nodes x levels are at most the square of auto_nodes; 8 levels are always allowed. */
void codec_speculation_check_levels(const struct codec_node *node,
                                    size_t nodes,
                                    size_t level_count,
                                    size_t auto_nodes);

/* Which task gets a copy, and where. */
struct codec_speculation_action {
    struct strview task; /* at == NULL: none */
    struct strview host; /* at == NULL: it is not said, or the copy waits */
};

struct codec_speculation_action codec_esplash_action(const struct codec_speculation *asked,
                                                     const struct esplash_decision *decision);
struct codec_speculation_action codec_late_action(const struct codec_speculation *asked,
                                                  const struct late_decision *decision);

/* The member `action` of a reply. */
void codec_esplash_action_encode(struct writer *w,
                                 const struct codec_speculation *asked,
                                 const struct esplash_decision *decision);
void codec_late_action_encode(struct writer *w,
                              const struct codec_speculation *asked,
                              const struct late_decision *decision);

/* Whether what was taken is what was decided: the task and, where both say one, the host. */
bool codec_speculation_taken_is(const struct codec_speculation_taken *taken,
                                const struct codec_speculation_action *action);

/* Warnings: what the decision could not be based on, and what contradicts itself. levels NULL: kind
 * late. */
void codec_speculation_warn(const struct codec_speculation *asked,
                            const struct node_levels *levels,
                            const struct speculation_gaps *gaps,
                            struct findings *warnings);

#endif
