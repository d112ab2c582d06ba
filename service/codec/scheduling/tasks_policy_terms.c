#include "codec/scheduling/tasks_simulation_internal.h"

static void decode_groups(const struct codec_node *policy,
                          const struct codec_comparison_limits *limits,
                          void *terms)
{
    struct tasks_terms *tasks = terms;
    (void)limits;
    if (codec_member(policy, "groups").json == NULL)
        return; /* the cluster may list them */
    int64_t groups = codec_integer(policy, "groups", CODEC_REQUIRED, 1, CODEC_COUNT_MAX);
    if (groups >= 1)
        tasks->groups = (uint32_t)groups;
}

static void encode_groups(struct writer *w, const void *terms)
{
    const struct tasks_terms *tasks = terms;
    if (tasks->layout == NULL || tasks->layout->groups == NULL)
        writer_member_integer(w, "groups", tasks->groups);
}

/* Terms of their own, instead of the policy's. */
static bool has_classes(const struct tasks_terms *terms)
{
    return terms->layout != NULL && terms->layout->classes != NULL;
}

static void decode_reserved_share(const struct codec_node *policy,
                                  const struct codec_comparison_limits *limits,
                                  void *terms)
{
    struct tasks_terms *tasks = terms;
    (void)limits;
    if (codec_member(policy, "reserved_share").json != NULL)
        tasks->reserved_share =
            codec_number(policy, "reserved_share", CODEC_REQUIRED, 0, TASKS_RESERVED_SHARE_MAX);
}

static void encode_reserved_share(struct writer *w, const void *terms)
{
    const struct tasks_terms *tasks = terms;
    if (!has_classes(tasks))
        writer_member_number(w, "reserved_share", tasks->reserved_share);
}

uint64_t codec_tasks_weight_decode(const struct codec_node *node, uint64_t absent)
{
    static const char *const words[] = {"infinite", NULL};
    struct codec_node member = codec_member(node, "weight");
    if (member.json == NULL)
        return absent;
    if (json_value_is_text(member.json)) {
        (void)codec_choice(node, "weight", CODEC_REQUIRED, words, 0);
        return TASKS_WEIGHT_INFINITE;
    }
    int64_t weight = codec_integer(node, "weight", CODEC_REQUIRED, 1, CODEC_COUNT_MAX);
    return weight >= 1 ? (uint64_t)weight : 1;
}

void codec_tasks_weight_encode(struct writer *w, uint64_t weight)
{
    if (weight == TASKS_WEIGHT_INFINITE)
        writer_member_string(w, "weight", "infinite");
    else
        writer_member_integer(w, "weight", (int64_t)weight);
}

static void decode_weight(const struct codec_node *policy,
                          const struct codec_comparison_limits *limits,
                          void *terms)
{
    struct tasks_terms *tasks = terms;
    (void)limits;
    tasks->weight = codec_tasks_weight_decode(policy, tasks->weight);
}

static void encode_weight(struct writer *w, const void *terms)
{
    const struct tasks_terms *tasks = terms;
    if (!has_classes(tasks))
        codec_tasks_weight_encode(w, tasks->weight);
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

enum { GROUPS, RESERVED_SHARE, WEIGHT, PROBES, CLASSES, REPORT, FAILURES };

static const struct codec_policy_term terms[] = {
    [GROUPS] = {"groups", decode_groups, encode_groups},
    [RESERVED_SHARE] = {"reserved_share", decode_reserved_share, encode_reserved_share},
    [WEIGHT] = {"weight", decode_weight, encode_weight},
    [PROBES] = {"probes_per_task", decode_probes, encode_probes},
    [CLASSES] = {"classes", codec_pigeon_layout_decode, codec_pigeon_classes_encode},
    [REPORT] = {"report_every_s", NULL, codec_pigeon_report_encode},
    [FAILURES] = {"failures", NULL, codec_pigeon_failures_encode},
};

static const unsigned terms_of[TASKS_POLICIES] = {
    [TASKS_PIGEON] = 1U << GROUPS | 1U << RESERVED_SHARE | 1U << WEIGHT | 1U << CLASSES |
                     1U << REPORT | 1U << FAILURES,
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
