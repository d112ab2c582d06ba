#include <math.h>

#include "base/quantity_text.h"
#include "base/rounding.h"
#include "codec/scheduling/slots_simulation_internal.h"
#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"

enum { TENANTS_MAX = 100 };

#define TAU2_MAX 1e9

/* From 0 on, or where flags say so above it. */
static double number_or(
    const struct codec_node *policy, const char *key, unsigned flags, double high, double absent)
{
    if (codec_member(policy, key).json == NULL)
        return absent;
    return codec_number(policy, key, CODEC_REQUIRED | flags, 0, high);
}

/* --- fair, fresh_static, fresh --- */

/* Of FRESH it is required. */
static void decode_concurrency(const struct codec_node *policy,
                               const struct codec_comparison_limits *limits,
                               void *terms)
{
    struct slots_terms *slots = terms;
    (void)limits;
    if (slots->policy != &slots_policy_fair || codec_member(policy, "concurrency").json != NULL)
        slots->concurrency =
            (size_t)codec_integer(policy, "concurrency", CODEC_REQUIRED, 1, CODEC_COUNT_MAX);
}

static void encode_concurrency(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    if (slots->concurrency > 0)
        writer_member_integer(w, "concurrency", (int64_t)slots->concurrency);
}

static void decode_tau1(const struct codec_node *policy,
                        const struct codec_comparison_limits *limits,
                        void *terms)
{
    struct slots_terms *slots = terms;
    (void)limits;
    slots->tau1 = number_or(policy, "tau1", 0, 1, FRESH_TAU1);
}

static void encode_tau1(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    writer_member_number(w, "tau1", slots->tau1);
}

static void decode_tau2(const struct codec_node *policy,
                        const struct codec_comparison_limits *limits,
                        void *terms)
{
    struct slots_terms *slots = terms;
    (void)limits;
    slots->tau2 = number_or(policy, "tau2", 0, TAU2_MAX, FRESH_TAU2);
}

static void encode_tau2(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    writer_member_number(w, "tau2", slots->tau2);
}

/* --- omo --- */

static void decode_ema_weight(const struct codec_node *policy,
                              const struct codec_comparison_limits *limits,
                              void *terms)
{
    struct slots_terms *slots = terms;
    (void)limits;
    slots->ema_weight = number_or(policy, "ema_weight", CODEC_ABOVE, 1, OMO_EMA_WEIGHT);
}

static void encode_ema_weight(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    writer_member_number(w, "ema_weight", slots->ema_weight);
}

static void decode_window(const struct codec_node *policy,
                          const struct codec_comparison_limits *limits,
                          void *terms)
{
    struct slots_terms *slots = terms;
    (void)limits;
    slots->window_s = OMO_WINDOW_S;
    if (codec_member(policy, "window_s").json != NULL)
        slots->window_s =
            codec_number(policy, "window_s", CODEC_REQUIRED, CODEC_SECONDS_MIN, CODEC_SECONDS_MAX);
}

static void encode_window(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    writer_member_number(w, "window_s", slots->window_s);
}

static const char *const techniques[] = {"lazy_start", "batch_finish", NULL};
enum { LAZY_START = 1 << 0, BATCH_FINISH = 1 << 1 };

/* Both, unless others are listed. */
static void decode_techniques(const struct codec_node *policy,
                              const struct codec_comparison_limits *limits,
                              void *terms)
{
    struct slots_terms *slots = terms;
    unsigned used = LAZY_START | BATCH_FINISH;
    (void)limits;
    if (codec_member(policy, "techniques").json != NULL)
        used = codec_words(policy, "techniques", CODEC_REQUIRED, 0, techniques);
    slots->lazy_start = (used & LAZY_START) != 0;
    slots->batch_finish = (used & BATCH_FINISH) != 0;
}

static void encode_techniques(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    writer_member_array(w, "techniques");
    if (slots->lazy_start)
        writer_string(w, techniques[0]);
    if (slots->batch_finish)
        writer_string(w, techniques[1]);
    writer_end_array(w);
}

/* --- capacity --- */

static void decode_tenant(const struct codec_node *node, struct slots_tenant *tenant)
{
    static const char *const known[] = {"share", "max_share", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    tenant->share = codec_number(node, "share", CODEC_REQUIRED | CODEC_ABOVE, 0, 1);
    if (codec_member(node, "max_share").json != NULL)
        tenant->max_share = codec_number(node, "max_share", CODEC_REQUIRED | CODEC_ABOVE, 0, 1);
}

static void refuse_sum(const struct codec_node *list, double sum)
{
    if (list->reader->err->n_faults == 0 && !rounding_equal(sum, 1))
        codec_fault(list, "out_of_range", "the shares add up to %s, not to 1",
                    quantity_digits(sum, 9).text);
}

static void decode_tenants(const struct codec_node *policy,
                           const struct codec_comparison_limits *limits,
                           void *terms)
{
    struct slots_terms *slots = terms;
    struct codec_node list;
    double sum = 0;
    (void)limits;
    struct slots_tenant *tenants = codec_list(policy, "queues", CODEC_REQUIRED, 1, TENANTS_MAX,
                                              sizeof *tenants, &list, &slots->n_tenants);
    slots->tenants = tenants;
    for (size_t i = 0; i < slots->n_tenants; i++) {
        struct codec_node item = codec_item(&list, i);
        tenants[i] = (struct slots_tenant){.max_share = 1};
        decode_tenant(&item, &tenants[i]);
        sum += tenants[i].share;
    }
    if (slots->n_tenants > 0)
        refuse_sum(&list, sum);
}

static void encode_tenants(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    writer_member_array(w, "queues");
    for (size_t i = 0; i < slots->n_tenants; i++) {
        writer_begin_object(w);
        writer_member_number(w, "share", slots->tenants[i].share);
        writer_member_number(w, "max_share", slots->tenants[i].max_share);
        writer_end_object(w);
    }
    writer_end_array(w);
}

/* --- fbq, tags, sita --- */

static void decode_limits(const struct codec_node *policy,
                          const struct codec_comparison_limits *limits,
                          void *terms)
{
    struct slots_terms *slots = terms;
    struct codec_node list;
    (void)limits;
    double *values = codec_list(policy, "limits_s", CODEC_REQUIRED, 1, SLOTS_LIMITS_MAX,
                                sizeof *values, &list, &slots->n_limits);
    slots->limits_s = values;
    for (size_t i = 0; i < slots->n_limits; i++) {
        struct codec_node item = codec_item(&list, i);
        values[i] =
            codec_as_number(&item, CODEC_REQUIRED, CODEC_SECONDS_MIN, CODEC_SECONDS_SUM_MAX);
        if (slots->policy == &slots_policy_sita && i > 0 && values[i] <= values[i - 1])
            codec_fault(&item, "out_of_range", "must be above the one before, %s",
                        quantity_digits(values[i - 1], 15).text);
    }
}

static void encode_limits(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    writer_member_numbers(w, "limits_s", slots->limits_s, slots->n_limits);
}

/* One more than limits. */
static void decode_partitions(const struct codec_node *policy,
                              const struct codec_comparison_limits *limits,
                              void *terms)
{
    struct slots_terms *slots = terms;
    struct codec_node list;
    size_t n;
    double sum = 0;
    size_t wanted = slots->n_limits + 1;
    bool known = slots->n_limits > 0;
    (void)limits;
    double *shares = codec_list(policy, "partitions", CODEC_REQUIRED, known ? wanted : 2,
                                known ? wanted : SLOTS_LIMITS_MAX + 1, sizeof *shares, &list, &n);
    slots->partitions = shares;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        shares[i] = codec_as_number(&item, CODEC_REQUIRED | CODEC_ABOVE, 0, 1);
        sum += shares[i];
    }
    if (n > 0)
        refuse_sum(&list, sum);
}

static void encode_partitions(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    writer_member_numbers(w, "partitions", slots->partitions, slots->n_limits + 1);
}

/* --- comp --- */

static void decode_queues(const struct codec_node *policy,
                          const struct codec_comparison_limits *limits,
                          void *terms)
{
    struct slots_terms *slots = terms;
    (void)limits;
    slots->queues = (size_t)codec_integer(policy, "queues", CODEC_REQUIRED, 2, SLOTS_QUEUES_MAX);
}

static void encode_queues(struct writer *w, const void *terms)
{
    const struct slots_terms *slots = terms;
    writer_member_integer(w, "queues", (int64_t)slots->queues);
}

/* --- the table --- */

enum {
    CONCURRENCY,
    TENANTS,
    LIMITS,
    PARTITIONS,
    QUEUES,
    FIRST_TAU,
    SECOND_TAU,
    EMA,
    WINDOW,
    TECHNIQUES,
    SPECULATION, /* and the members that it reads */
    EPOCH,
    LEVEL_COUNT,
    THRESHOLD,
    WEIGHTS,
    DEVIATION_FLOOR,
    RATIO_CAP
};

/* Of every policy. */
#define COPIES                                                                                     \
    (1U << SPECULATION | 1U << EPOCH | 1U << LEVEL_COUNT | 1U << THRESHOLD | 1U << WEIGHTS |       \
     1U << DEVIATION_FLOOR | 1U << RATIO_CAP)

static const struct codec_policy_term terms[] = {
    [CONCURRENCY] = {"concurrency", decode_concurrency, encode_concurrency},
    [TENANTS] = {"queues", decode_tenants, encode_tenants},
    [LIMITS] = {"limits_s", decode_limits, encode_limits},
    [PARTITIONS] = {"partitions", decode_partitions, encode_partitions},
    [QUEUES] = {"queues", decode_queues, encode_queues},
    [FIRST_TAU] = {"tau1", decode_tau1, encode_tau1},
    [SECOND_TAU] = {"tau2", decode_tau2, encode_tau2},
    [EMA] = {"ema_weight", decode_ema_weight, encode_ema_weight},
    [WINDOW] = {"window_s", decode_window, encode_window},
    [TECHNIQUES] = {"techniques", decode_techniques, encode_techniques},
    [SPECULATION] = {"speculation", codec_slots_decode_speculation, codec_slots_encode_speculation},
    [EPOCH] = {.name = "epoch_s"},
    [LEVEL_COUNT] = {.name = "level_count"},
    [THRESHOLD] = {.name = "threshold"},
    [WEIGHTS] = {.name = "weights"},
    [DEVIATION_FLOOR] = {.name = "deviation_floor"},
    [RATIO_CAP] = {.name = "ratio_cap"},
};

static const unsigned terms_of[SLOTS_POLICIES] = {
    [SLOTS_FIFO] = COPIES,
    [SLOTS_FAIR] = COPIES | 1U << CONCURRENCY,
    [SLOTS_CAPACITY] = COPIES | 1U << TENANTS,
    [SLOTS_FBQ] = COPIES | 1U << LIMITS,
    [SLOTS_TAGS] = COPIES | 1U << LIMITS | 1U << PARTITIONS,
    [SLOTS_SITA] = COPIES | 1U << LIMITS | 1U << PARTITIONS,
    [SLOTS_COMP] = COPIES | 1U << QUEUES,
    [SLOTS_FRESH_STATIC] = COPIES | 1U << CONCURRENCY,
    [SLOTS_FRESH] = COPIES | 1U << CONCURRENCY | 1U << FIRST_TAU | 1U << SECOND_TAU,
    [SLOTS_OMO] = COPIES | 1U << EMA | 1U << WINDOW | 1U << TECHNIQUES,
    [SLOTS_DRF] = COPIES,
};

static const char *name_of(size_t word)
{
    return slots_policies[word]->name;
}

static void *begin_policy(void *request, size_t i, size_t word)
{
    struct codec_slots_simulation *asked = request;
    asked->policies[i] = (struct slots_terms){.policy = slots_policies[word]};
    return &asked->policies[i];
}

static const void *policy_at(const void *request, size_t i)
{
    const struct codec_slots_simulation *asked = request;
    return &asked->policies[i];
}

const struct codec_policy_table codec_slots_policies = {.name = name_of,
                                                        .n = SLOTS_POLICIES,
                                                        .terms_of = terms_of,
                                                        .terms = terms,
                                                        .n_terms = sizeof terms / sizeof *terms,
                                                        .begin = begin_policy,
                                                        .at = policy_at};
