#include "codec/scheduling/tasks_simulation_internal.h"

#define RESERVED_SHARE_MAX 0.5

static void decode_groups(const struct codec_node *policy,
                          const struct codec_comparison_limits *limits,
                          void *terms)
{
    struct tasks_terms *tasks = terms;
    (void)limits;
    int64_t groups = codec_integer(policy, "groups", CODEC_REQUIRED, 1, CODEC_COUNT_MAX);
    if (groups >= 1)
        tasks->groups = (uint32_t)groups;
}

static void encode_groups(struct writer *w, const void *terms)
{
    const struct tasks_terms *tasks = terms;
    writer_member_integer(w, "groups", tasks->groups);
}

static void decode_reserved_share(const struct codec_node *policy,
                                  const struct codec_comparison_limits *limits,
                                  void *terms)
{
    struct tasks_terms *tasks = terms;
    (void)limits;
    if (codec_member(policy, "reserved_share").json != NULL)
        tasks->reserved_share =
            codec_number(policy, "reserved_share", CODEC_REQUIRED, 0, RESERVED_SHARE_MAX);
}

static void encode_reserved_share(struct writer *w, const void *terms)
{
    const struct tasks_terms *tasks = terms;
    writer_member_number(w, "reserved_share", tasks->reserved_share);
}

/* An integer, or "infinite". */
static void decode_weight(const struct codec_node *policy,
                          const struct codec_comparison_limits *limits,
                          void *terms)
{
    static const char *const words[] = {"infinite", NULL};
    struct tasks_terms *tasks = terms;
    struct codec_node node = codec_member(policy, "weight");
    (void)limits;
    if (json_is_string(node.json)) {
        (void)codec_choice(policy, "weight", CODEC_REQUIRED, words, 0);
        tasks->weight = TASKS_WEIGHT_INFINITE;
    } else if (node.json != NULL) {
        int64_t weight = codec_integer(policy, "weight", CODEC_REQUIRED, 1, CODEC_COUNT_MAX);
        tasks->weight = weight >= 1 ? (uint64_t)weight : 1;
    }
}

static void encode_weight(struct writer *w, const void *terms)
{
    const struct tasks_terms *tasks = terms;
    if (tasks->weight == TASKS_WEIGHT_INFINITE)
        writer_member_string(w, "weight", "infinite");
    else
        writer_member_integer(w, "weight", (int64_t)tasks->weight);
}

static void decode_probes(const struct codec_node *policy,
                          const struct codec_comparison_limits *limits,
                          void *terms)
{
    struct tasks_terms *tasks = terms;
    if (codec_member(policy, "probes_per_task").json == NULL)
        return;
    int64_t probes = codec_integer(policy, "probes_per_task", CODEC_REQUIRED, 1,
                                   (int64_t)limits->probes_per_task);
    if (probes >= 1)
        tasks->probes_per_task = (uint32_t)probes;
}

static void encode_probes(struct writer *w, const void *terms)
{
    const struct tasks_terms *tasks = terms;
    writer_member_integer(w, "probes_per_task", tasks->probes_per_task);
}

enum { GROUPS, RESERVED_SHARE, WEIGHT, PROBES };

static const struct codec_policy_term terms[] = {
    [GROUPS] = {"groups", decode_groups, encode_groups},
    [RESERVED_SHARE] = {"reserved_share", decode_reserved_share, encode_reserved_share},
    [WEIGHT] = {"weight", decode_weight, encode_weight},
    [PROBES] = {"probes_per_task", decode_probes, encode_probes},
};

static const unsigned terms_of[TASKS_POLICIES] = {
    [TASKS_PIGEON] = 1U << GROUPS | 1U << RESERVED_SHARE | 1U << WEIGHT,
    [TASKS_CENTRALISED] = 1U << RESERVED_SHARE | 1U << WEIGHT,
    [TASKS_SPARROW] = 1U << PROBES,
    [TASKS_EAGLE] = 1U << RESERVED_SHARE | 1U << PROBES,
};

static const char *name_of(size_t word)
{
    return tasks_policy_name((enum tasks_policy_id)word);
}

static void *begin_policy(void *request, size_t i, size_t word)
{
    struct codec_tasks_simulation *asked = request;
    asked->policies[i] = tasks_terms_default((enum tasks_policy_id)word);
    return &asked->policies[i];
}

static const void *policy_at(const void *request, size_t i)
{
    const struct codec_tasks_simulation *asked = request;
    return &asked->policies[i];
}

const struct codec_policy_table codec_tasks_policies = {.name = name_of,
                                                        .n = TASKS_POLICIES,
                                                        .terms_of = terms_of,
                                                        .terms = terms,
                                                        .n_terms = sizeof terms / sizeof *terms,
                                                        .begin = begin_policy,
                                                        .at = policy_at};
