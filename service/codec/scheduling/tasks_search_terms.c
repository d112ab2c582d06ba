#include "codec/scheduling/policy_search.h"
#include "codec/scheduling/tasks_simulation_internal.h"

static void decode_groups(const struct codec_node *node,
                          const struct codec_comparison_limits *limits,
                          void *object)
{
    struct tasks_family *family = object;
    (void)limits;
    family->groups = codec_search_counts(node, "groups", 1, CODEC_COUNT_MAX, 0, &family->n_groups);
}

static void encode_groups(struct writer *w, const void *object)
{
    const struct tasks_family *family = object;
    codec_search_encode_counts(w, "groups", family->groups, 0, family->n_groups);
}

static void decode_reserved_shares(const struct codec_node *node,
                                   const struct codec_comparison_limits *limits,
                                   void *object)
{
    struct tasks_family *family = object;
    (void)limits;
    family->reserved_shares = codec_search_numbers(
        node, "reserved_share", 0, TASKS_RESERVED_SHARE_MAX, &family->n_reserved_shares);
}

static void encode_reserved_shares(struct writer *w, const void *object)
{
    const struct tasks_family *family = object;
    codec_search_encode_numbers(w, "reserved_share", family->reserved_shares,
                                family->n_reserved_shares);
}

static void decode_weights(const struct codec_node *node,
                           const struct codec_comparison_limits *limits,
                           void *object)
{
    struct tasks_family *family = object;
    (void)limits;
    family->weights = codec_search_counts(node, "weight", 1, CODEC_COUNT_MAX, TASKS_WEIGHT_INFINITE,
                                          &family->n_weights);
}

static void encode_weights(struct writer *w, const void *object)
{
    const struct tasks_family *family = object;
    codec_search_encode_counts(w, "weight", family->weights, TASKS_WEIGHT_INFINITE,
                               family->n_weights);
}

static void decode_probes(const struct codec_node *node,
                          const struct codec_comparison_limits *limits,
                          void *object)
{
    struct tasks_family *family = object;
    family->probes_per_task =
        codec_search_counts(node, "probes_per_task", 1, (int64_t)limits->probes_per_task, 0,
                            &family->n_probes_per_task);
}

static void encode_probes(struct writer *w, const void *object)
{
    const struct tasks_family *family = object;
    codec_search_encode_counts(w, "probes_per_task", family->probes_per_task, 0,
                               family->n_probes_per_task);
}

/* --- the table --- */

enum { GROUPS, RESERVED_SHARES, WEIGHTS, PROBES };

static const struct codec_policy_term lists[] = {
    [GROUPS] = {"groups", decode_groups, encode_groups},
    [RESERVED_SHARES] = {"reserved_share", decode_reserved_shares, encode_reserved_shares},
    [WEIGHTS] = {"weight", decode_weights, encode_weights},
    [PROBES] = {"probes_per_task", decode_probes, encode_probes},
};

static const unsigned lists_of[TASKS_POLICIES] = {
    [TASKS_PIGEON] = 1U << GROUPS | 1U << RESERVED_SHARES | 1U << WEIGHTS,
    [TASKS_CENTRALISED] = 1U << RESERVED_SHARES | 1U << WEIGHTS,
    [TASKS_SPARROW] = 1U << PROBES,
    [TASKS_EAGLE] = 1U << RESERVED_SHARES | 1U << PROBES,
};

static const char *name_of(size_t word)
{
    return tasks_policy_name((enum tasks_policy_id)word);
}

static void *begin_family(void *request, size_t i, size_t word)
{
    struct codec_tasks_simulation *asked = request;
    asked->families[i] = (struct tasks_family){.policy = (enum tasks_policy_id)word};
    return &asked->families[i];
}

static const void *family_at(const void *request, size_t i)
{
    const struct codec_tasks_simulation *asked = request;
    return &asked->families[i];
}

const struct codec_policy_table codec_tasks_families = {.name = name_of,
                                                        .n = TASKS_POLICIES,
                                                        .terms_of = lists_of,
                                                        .terms = lists,
                                                        .n_terms = sizeof lists / sizeof *lists,
                                                        .begin = begin_family,
                                                        .at = family_at};
