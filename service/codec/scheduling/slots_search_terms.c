#include "base/plural.h"
#include "base/quantity_text.h"
#include "base/rounding.h"
#include "codec/scheduling/policy_search.h"
#include "codec/scheduling/slots_simulation_internal.h"

/* Lists of limits, or of partitions. */
enum { LISTS_MAX = 64 };
/* Queues that limits are found for. */
enum { QUEUES_FOUND_MAX = 20 };

static void decode_concurrencies(const struct codec_node *node,
                                 const struct codec_comparison_limits *limits,
                                 void *object)
{
    struct slots_family *family = object;
    (void)limits;
    family->concurrencies =
        codec_search_counts(node, "concurrency", 1, CODEC_COUNT_MAX, 0, &family->n_concurrencies);
}

static void encode_concurrencies(struct writer *w, const void *object)
{
    const struct slots_family *family = object;
    codec_search_encode_counts(w, "concurrency", family->concurrencies, 0, family->n_concurrencies);
}

static void decode_queues(const struct codec_node *node,
                          const struct codec_comparison_limits *limits,
                          void *object)
{
    struct slots_family *family = object;
    int64_t most = family->policy == SLOTS_COMP ? SLOTS_QUEUES_MAX : QUEUES_FOUND_MAX;
    (void)limits;
    family->queues = codec_search_counts(node, "queues", 2, most, 0, &family->n_queues);
}

static void encode_queues(struct writer *w, const void *object)
{
    const struct slots_family *family = object;
    codec_search_encode_counts(w, "queues", family->queues, 0, family->n_queues);
}

/* --- lists of lists --- */

/* The items of a list of a list; NULL: at fault. */
static double *decode_items(
    const struct codec_node *list, size_t least, size_t most, double low, double high, size_t *n)
{
    *n = json_value_items(list->json);
    if (!json_value_is_array(list->json))
        codec_fault(list, "wrong_type", "must be an array");
    else if (*n < least || *n > most)
        codec_fault(list, *n < least ? "too_few_items" : "too_many_items",
                    "must hold %zu to %zu items, has %zu", least, most, *n);
    else
        return codec_as_numbers(list, low == 0 ? CODEC_ABOVE : 0, low, high);
    *n = 0;
    return NULL;
}

static void decode_limits(const struct codec_node *node,
                          const struct codec_comparison_limits *limits,
                          void *object)
{
    struct slots_family *family = object;
    struct codec_node list;
    (void)limits;
    struct slots_values *values = codec_list(node, "limits_s", CODEC_OPTIONAL, 1, LISTS_MAX,
                                             sizeof *values, &list, &family->n_limits_s);
    family->limits_s = values;
    for (size_t i = 0; i < family->n_limits_s; i++) {
        struct codec_node item = codec_item(&list, i);
        values[i].at = decode_items(&item, 1, SLOTS_LIMITS_MAX, CODEC_SECONDS_MIN,
                                    CODEC_SECONDS_SUM_MAX, &values[i].n);
        for (size_t k = 1; values[i].at != NULL && k < values[i].n; k++)
            if (family->policy == SLOTS_SITA && values[i].at[k] <= values[i].at[k - 1])
                codec_fault(&item, "out_of_range", "must have sizes that rise");
    }
    if (family->n_limits_s > 0 && codec_member(node, "queues").json != NULL)
        codec_fault_member(node, "queues", "not_allowed",
                           "the limits are given, so that the number of queues is, too");
}

/* Whether there are limits of which there is one fewer. */
static bool fits(const struct slots_family *family, size_t partitions)
{
    static const uint64_t usual[] = {2, 3, 4, 5};
    const uint64_t *queues = family->n_queues > 0 ? family->queues : usual;
    size_t n = family->n_queues > 0 ? family->n_queues : sizeof usual / sizeof *usual;
    for (size_t i = 0; i < family->n_limits_s; i++)
        if (family->limits_s[i].n + 1 == partitions)
            return true;
    for (size_t i = 0; family->n_limits_s == 0 && i < n; i++)
        if (queues[i] == partitions)
            return true;
    return false;
}

/* After limits and queues. */
static void decode_partitions(const struct codec_node *node,
                              const struct codec_comparison_limits *limits,
                              void *object)
{
    struct slots_family *family = object;
    struct codec_node list;
    (void)limits;
    struct slots_values *values = codec_list(node, "partitions", CODEC_OPTIONAL, 1, LISTS_MAX,
                                             sizeof *values, &list, &family->n_partitions);
    family->partitions = values;
    for (size_t i = 0; i < family->n_partitions; i++) {
        struct codec_node item = codec_item(&list, i);
        double sum = 0;
        values[i].at = decode_items(&item, 2, SLOTS_LIMITS_MAX + 1, 0, 1, &values[i].n);
        for (size_t k = 0; values[i].at != NULL && k < values[i].n; k++)
            sum += values[i].at[k];
        if (values[i].at == NULL || node->reader->err->n_faults > 0)
            continue;
        if (!rounding_equal(sum, 1))
            codec_fault(&item, "out_of_range", "the shares add up to %s, not to 1",
                        quantity_digits(sum, 9).text);
        else if (!fits(family, values[i].n))
            codec_fault(&item, "out_of_range", "no limits are for %zu queue%s", values[i].n,
                        PLURAL(values[i].n));
    }
}

static void
encode_lists(struct writer *w, const char *key, const struct slots_values lists[], size_t n)
{
    if (n == 0)
        return;
    writer_member_array(w, key);
    for (size_t i = 0; i < n; i++) {
        writer_begin_array(w);
        for (size_t k = 0; k < lists[i].n; k++)
            writer_number(w, lists[i].at[k]);
        writer_end_array(w);
    }
    writer_end_array(w);
}

static void encode_limits(struct writer *w, const void *object)
{
    const struct slots_family *family = object;
    encode_lists(w, "limits_s", family->limits_s, family->n_limits_s);
}

static void encode_partitions(struct writer *w, const void *object)
{
    const struct slots_family *family = object;
    encode_lists(w, "partitions", family->partitions, family->n_partitions);
}

/* --- the table --- */

enum { CONCURRENCIES, QUEUES, LIMITS, PARTITIONS };

static const struct codec_policy_term lists[] = {
    [CONCURRENCIES] = {"concurrency", decode_concurrencies, encode_concurrencies},
    [QUEUES] = {"queues", decode_queues, encode_queues},
    [LIMITS] = {"limits_s", decode_limits, encode_limits},
    [PARTITIONS] = {"partitions", decode_partitions, encode_partitions},
};

/* The policies that are searched. */
static const enum slots_policy_index searched[] = {SLOTS_FIFO, SLOTS_FAIR, SLOTS_FBQ,
                                                   SLOTS_TAGS, SLOTS_SITA, SLOTS_COMP};

static const unsigned lists_of[] = {
    0,
    1U << CONCURRENCIES,
    1U << QUEUES | 1U << LIMITS,
    1U << QUEUES | 1U << LIMITS | 1U << PARTITIONS,
    1U << QUEUES | 1U << LIMITS | 1U << PARTITIONS,
    1U << QUEUES,
};

static const char *name_of(size_t word)
{
    return slots_policies[searched[word]]->name;
}

static void *begin_family(void *request, size_t i, size_t word)
{
    struct codec_slots_simulation *asked = request;
    asked->families[i] = (struct slots_family){.policy = searched[word]};
    return &asked->families[i];
}

static const void *family_at(const void *request, size_t i)
{
    const struct codec_slots_simulation *asked = request;
    return &asked->families[i];
}

const struct codec_policy_table codec_slots_families = {.name = name_of,
                                                        .n = sizeof searched / sizeof *searched,
                                                        .terms_of = lists_of,
                                                        .terms = lists,
                                                        .n_terms = sizeof lists / sizeof *lists,
                                                        .begin = begin_family,
                                                        .at = family_at};
