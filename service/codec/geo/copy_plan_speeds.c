#include "codec/geo/copy_plan_internal.h"

#include <math.h>

#include "base/quantity_text.h"

/* Distributions of speeds, and the speeds of operations that a cluster of the request has. */

#define SUM_TOLERANCE 1e-6

/* --- distributions --- */

static bool decode_point(const struct codec_node *node, struct speed_point *point)
{
    if (!json_value_is_array(node->json) || json_value_items(node->json) != 2) {
        codec_fault(node, "wrong_type", "must be a pair: bytes per second, probability");
        return false;
    }
    struct codec_node value = codec_item(node, 0);
    struct codec_node probability = codec_item(node, 1);
    size_t faults = node->reader->err->n_faults;
    point->value = codec_as_number(&value, CODEC_REQUIRED, CODEC_RATE_MIN, CODEC_RATE_MAX);
    point->probability = codec_as_number(&probability, CODEC_REQUIRED, 0, 1);
    return node->reader->err->n_faults == faults;
}

/* Returns the speeds of n points, whose probabilities must add up to 1. If they do not, the fault is
 * at node, and the result is NULL. */
static const struct speeds *
make_speeds(const struct codec_node *node, struct speed_point points[], size_t n)
{
    struct speeds *speeds = codec_allocate(node, 1, sizeof *speeds);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += points[i].probability;
    if (speeds != NULL && fabs(sum - 1) > SUM_TOLERANCE) {
        codec_fault(node, "not_a_distribution", "the probabilities add up to %s, not to 1",
                    quantity_digits(sum, 9).text);
        return NULL;
    }
    if (speeds != NULL)
        speeds_make(points, n, speeds);
    return speeds;
}

const struct speeds *copy_plan_decode_speeds(const struct copy_plan_decoding *d,
                                             const struct codec_node *node)
{
    size_t n = json_value_items(node->json);
    if (!json_value_is_array(node->json) || n == 0 || n > d->limits->points) {
        codec_fault(
            node, json_value_is_array(node->json) && n > 0 ? "too_many_items" : "wrong_type",
            "must be a list of 1 to %zu pairs (distribution_points_max)", d->limits->points);
        return NULL;
    }
    struct speed_point *points = codec_allocate(node, n, sizeof *points);
    for (size_t i = 0; points != NULL && i < n; i++) {
        struct codec_node item = codec_item(node, i);
        if (!decode_point(&item, &points[i]))
            return NULL;
    }
    return points == NULL ? NULL : make_speeds(node, points, n);
}

/* --- operations of a cluster --- */

/* Speeds of an operation that no task asks for are checked and not kept. */
static void take_speeds(const struct copy_plan_decoding *d,
                        struct strview operation,
                        const struct speeds *speeds,
                        const struct speeds **processing)
{
    size_t place = text_index_find(&d->operations, operation);
    if (place != SIZE_MAX)
        processing[place] = speeds;
}

/* A speed of a list, as samples of clusters are reported. */
struct sample {
    struct strview operation;
    struct speed_point point; /* probability NAN: as probable as the others */
};

static bool decode_sample(const struct codec_node *node, struct sample *sample)
{
    static const char *const known[] = {"operation", "bytes_per_s", "probability", NULL};
    const size_t faults = node->reader->err->n_faults;
    if (!codec_expect_object(node))
        return false;
    codec_refuse_unknown(node, known);
    sample->operation = codec_name(node, "operation", CODEC_REQUIRED);
    sample->point.value =
        codec_number(node, "bytes_per_s", CODEC_REQUIRED, CODEC_RATE_MIN, CODEC_RATE_MAX);
    sample->point.probability = codec_number(node, "probability", CODEC_NULLABLE, 0, 1);
    return node->reader->err->n_faults == faults;
}

/* All speeds of one operation or none have a probability. */
static bool share_probability(const struct codec_node *list, struct speed_point points[], size_t n)
{
    size_t without = 0;
    for (size_t i = 0; i < n; i++)
        without += isnan(points[i].probability) ? 1 : 0;
    if (without > 0 && without < n) {
        codec_fault(list, "required",
                    "all speeds of an operation or none of them must have a probability");
        return false;
    }
    for (size_t i = 0; i < n && without > 0; i++)
        points[i].probability = 1 / (double)n;
    return true;
}

/* The operations of n samples, in `names`, each with a place. */
static bool index_samples(const struct codec_node *list,
                          const struct sample samples[],
                          size_t n,
                          struct text_index *names)
{
    names->entries = codec_allocate(list, n, sizeof *names->entries);
    names->n = n;
    if (names->entries == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        names->entries[i] = (struct text_index_entry){samples[i].operation, 0};
    text_index_sort(names);
    for (size_t i = 0; i < names->n; i++)
        names->entries[i].place = i;
    return true;
}

/* The points of all operations, those of one operation one after the other; ends[i]: where those of
 * the operation at place i end. */
static struct speed_point *group_samples(const struct codec_node *list,
                                         const struct sample samples[],
                                         size_t n,
                                         const struct text_index *names,
                                         size_t ends[])
{
    struct speed_point *points = codec_allocate(list, n, sizeof *points);
    size_t begin = 0;
    for (size_t i = 0; i < n; i++)
        ends[text_index_find(names, samples[i].operation)]++;
    for (size_t i = 0; i < names->n; i++) {
        const size_t count = ends[i];
        ends[i] = begin;
        begin += count;
    }
    for (size_t i = 0; points != NULL && i < n; i++)
        points[ends[text_index_find(names, samples[i].operation)]++] = samples[i].point;
    return points;
}

static void take_samples(const struct copy_plan_decoding *d,
                         const struct codec_node *list,
                         const struct sample samples[],
                         size_t n,
                         const struct speeds **processing)
{
    struct text_index names = {NULL, 0};
    if (n == 0 || !index_samples(list, samples, n, &names))
        return;
    size_t *ends = codec_allocate(list, names.n, sizeof *ends);
    struct speed_point *points =
        ends == NULL ? NULL : group_samples(list, samples, n, &names, ends);
    size_t begin = 0;
    for (size_t i = 0; points != NULL && i < names.n; i++) {
        const size_t count = ends[i] - begin;
        if (count > d->limits->points)
            codec_fault(list, "too_many_items",
                        "an operation has more than %zu speeds (distribution_points_max)",
                        d->limits->points);
        else if (share_probability(list, points + begin, count))
            take_speeds(d, names.entries[i].text, make_speeds(list, points + begin, count),
                        processing);
        begin = ends[i];
    }
}

static void decode_list(const struct copy_plan_decoding *d,
                        const struct codec_node *list,
                        const struct speeds **processing)
{
    const size_t n = json_value_items(list->json);
    struct sample *samples = codec_allocate(list, n, sizeof *samples);
    bool good = samples != NULL;
    for (size_t i = 0; samples != NULL && i < n; i++) {
        struct codec_node item = codec_item(list, i);
        good = decode_sample(&item, &samples[i]) && good;
    }
    if (good)
        take_samples(d, list, samples, n, processing);
}

void copy_plan_decode_processing(const struct copy_plan_decoding *d,
                                 const struct codec_node *node,
                                 bool registered,
                                 const struct speeds **processing)
{
    struct codec_node speeds = codec_member(node, "processing");
    if (speeds.json == NULL && !registered)
        codec_fault_member(node, "processing", "required", "is required");
    if (speeds.json == NULL)
        return;
    if (json_value_is_array(speeds.json)) {
        decode_list(d, &speeds, processing);
        return;
    }
    if (!json_value_is_object(speeds.json))
        codec_fault(&speeds, "wrong_type",
                    "must be a list such as [{\"operation\": \"map\", \"bytes_per_s\": 5000000}]");
    for (size_t m = 0; m < json_value_members(speeds.json); m++) {
        struct codec_node member = codec_member_at(&speeds, m);
        if (!codec_is_name(json_value_key_view(speeds.json, m)))
            codec_fault(&member, "invalid_name",
                        "the name of an operation must be 1 to 255 characters without control "
                        "characters");
        take_speeds(d, json_value_key_view(speeds.json, m), copy_plan_decode_speeds(d, &member),
                    processing);
    }
}
