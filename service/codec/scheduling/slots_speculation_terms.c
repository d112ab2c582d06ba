#include "base/plural.h"
#include "codec/scheduling/slots_simulation_internal.h"
#include "codec/scheduling/speculation.h"

/* Terms of policies for copies of tasks on other nodes. They are those of POST
 * /v1/speculation-decisions beside the ones of the policy. */

#define WEIGHT_MAX 1e9 /* and of thresholds and ratios: sums stay far from overflow */

static const char *const kinds[SLOTS_SPECULATION_KINDS + 1] = {[SLOTS_NO_SPECULATION] = "none",
                                                               [SLOTS_LATE] = "late",
                                                               [SLOTS_ESPLASH] = "esplash",
                                                               [SLOTS_SPECULATION_KINDS] = NULL};

/* Members that a kind has no use for. */
static void refuse(const struct codec_node *policy, enum slots_speculation_kind kind)
{
    static const struct {
        const char *name;
        enum slots_speculation_kind from; /* late, and esplash; or esplash alone */
    } members[] = {{"epoch_s", SLOTS_LATE},      {"level_count", SLOTS_ESPLASH},
                   {"threshold", SLOTS_ESPLASH}, {"weights", SLOTS_ESPLASH},
                   {"ratio_cap", SLOTS_ESPLASH}, {"deviation_floor", SLOTS_ESPLASH}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (kind < members[i].from && codec_member(policy, members[i].name).json != NULL)
            codec_fault_member(policy, members[i].name, "unknown_field",
                               "is allowed only in a policy whose speculation is %s",
                               members[i].from == SLOTS_LATE ? "late or esplash" : "esplash");
}

/* --- reading --- */

static void take_number(const struct codec_node *policy,
                        const char *key,
                        unsigned flags,
                        double low,
                        double high,
                        double *value)
{
    if (codec_member(policy, key).json != NULL)
        *value = codec_number(policy, key, CODEC_REQUIRED | flags, low, high);
}

/* "auto", or how many. */
static void decode_level_count(const struct codec_node *policy, size_t *level_count)
{
    static const char *const words[] = {"auto", NULL};
    const struct codec_node given = codec_member(policy, "level_count");
    if (given.json == NULL)
        return;
    if (json_value_is_text(given.json))
        (void)codec_choice(policy, "level_count", CODEC_REQUIRED, words, 0);
    else
        *level_count =
            (size_t)codec_integer(policy, "level_count", CODEC_REQUIRED, 1, CODEC_COUNT_MAX);
}

static void decode_weights(const struct codec_node *policy, struct esplash_terms *terms)
{
    struct codec_node list = codec_array(policy, "weights", CODEC_OPTIONAL, 2, 2);
    double *const weights[] = {&terms->duration_weight, &terms->rate_weight};
    for (size_t i = 0; list.json != NULL && i < 2; i++) {
        struct codec_node item = codec_item(&list, i);
        *weights[i] = codec_as_number(&item, CODEC_REQUIRED, 0, WEIGHT_MAX);
    }
}

void codec_slots_decode_speculation(const struct codec_node *policy,
                                    const struct codec_comparison_limits *limits,
                                    void *terms)
{
    struct slots_speculation_terms *speculation = &((struct slots_terms *)terms)->speculation;
    (void)limits;
    *speculation = (struct slots_speculation_terms){.epoch_s = SLOTS_EPOCH_S,
                                                    .level_count = NODE_LEVELS_AUTO,
                                                    .esplash = esplash_terms_default};
    if (codec_member(policy, "speculation").json != NULL) {
        size_t word =
            codec_choice(policy, "speculation", CODEC_REQUIRED, kinds, SLOTS_SPECULATION_KINDS);
        if (word == SLOTS_SPECULATION_KINDS)
            return;
        speculation->kind = (enum slots_speculation_kind)word;
    }
    refuse(policy, speculation->kind);
    if (speculation->kind == SLOTS_NO_SPECULATION)
        return;
    take_number(policy, "epoch_s", 0, CODEC_SECONDS_MIN, CODEC_SECONDS_MAX, &speculation->epoch_s);
    if (speculation->kind == SLOTS_LATE)
        return;
    struct esplash_terms *esplash = &speculation->esplash;
    decode_level_count(policy, &speculation->level_count);
    take_number(policy, "threshold", 0, 0, WEIGHT_MAX, &esplash->threshold);
    decode_weights(policy, esplash);
    take_number(policy, "deviation_floor", CODEC_ABOVE, 0, 1, &esplash->deviation_floor);
    take_number(policy, "ratio_cap", 0, 1, WEIGHT_MAX, &esplash->ratio_cap);
}

/* --- writing --- */

void codec_slots_encode_speculation(struct writer *w, const void *terms)
{
    const struct slots_speculation_terms *speculation =
        &((const struct slots_terms *)terms)->speculation;
    const struct esplash_terms *esplash = &speculation->esplash;
    if (speculation->kind == SLOTS_NO_SPECULATION)
        return;
    writer_member_string(w, "speculation", kinds[speculation->kind]);
    writer_member_number(w, "epoch_s", speculation->epoch_s);
    if (speculation->kind == SLOTS_LATE)
        return;
    if (speculation->level_count == NODE_LEVELS_AUTO)
        writer_member_string(w, "level_count", "auto");
    else
        writer_member_integer(w, "level_count", (int64_t)speculation->level_count);
    writer_member_number(w, "threshold", esplash->threshold);
    writer_member_array(w, "weights");
    writer_number(w, esplash->duration_weight);
    writer_number(w, esplash->rate_weight);
    writer_end_array(w);
    writer_member_number(w, "deviation_floor", esplash->deviation_floor);
    writer_member_number(w, "ratio_cap", esplash->ratio_cap);
}

/* --- with the nodes --- */

static void check_levels(const struct codec_node *policy,
                         const struct codec_comparison_limits *limits,
                         const struct codec_slots_simulation *asked,
                         size_t level_count)
{
    size_t n = asked->cluster.n_nodes;
    bool given = asked->cluster.nodes[0].level > 0;
    if (given && level_count != NODE_LEVELS_AUTO)
        codec_fault_member(policy, "level_count", "conflict",
                           "must not be given together with levels of nodes");
    else if (!given && level_count > n)
        codec_fault_member(policy, "level_count", "out_of_range",
                           "must be at most the number of nodes, %zu", n);
    else if (!given && level_count == NODE_LEVELS_AUTO && n > limits->auto_nodes)
        codec_fault_member(policy, "level_count", "out_of_range",
                           "a number of levels is chosen for at most %zu nodes "
                           "(speculation_auto_nodes_max), they are %zu",
                           limits->auto_nodes, n);
    else if (!given && level_count != NODE_LEVELS_AUTO)
        codec_speculation_check_levels(policy, n, level_count, limits->auto_nodes);
}

/* All simulations of policies that speculate have equal shares of what decisions may look at. */
static void share_looks(const struct codec_comparison_limits *limits,
                        struct codec_slots_simulation *asked)
{
    const struct codec_comparison *common = &asked->common;
    size_t cells = 0;
    for (size_t p = 0; p < common->n_policies; p++)
        cells += asked->policies[p].speculation.kind != SLOTS_NO_SPECULATION;
    if (common->n_loads > 0)
        cells *= common->n_loads * common->repetitions;
    for (size_t p = 0; p < common->n_policies && cells > 0; p++)
        asked->policies[p].speculation.looks_max =
            limits->looks > cells ? limits->looks / cells : 1;
}

void codec_slots_check_speculation(const struct codec_node *top,
                                   const struct codec_comparison_limits *limits,
                                   struct codec_slots_simulation *asked)
{
    struct codec_node cluster = codec_member(top, "cluster");
    struct codec_node list = codec_member(top, "policies");
    bool needed = false;
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        const struct slots_speculation_terms *terms = &asked->policies[p].speculation;
        struct codec_node policy = codec_item(&list, p);
        needed = needed || terms->kind != SLOTS_NO_SPECULATION;
        if (terms->kind == SLOTS_ESPLASH && asked->cluster.n_nodes > 0)
            check_levels(&policy, limits, asked, terms->level_count);
    }
    if (needed && asked->cluster.n_nodes == 0)
        codec_fault_member(&cluster, "nodes", "required",
                           "is required where a policy makes copies of tasks on other nodes");
    share_looks(limits, asked);
}
