#include "codec/models/model_internal.h"

#include <math.h>

#include "base/plural.h"
#include "core/scaling/model/physical_bounds.h"

/* {"alpha": {"alpha": .., "beta": ..}, ..}: the pairs that are not 0. */
static void encode_covariance(struct writer *w, const void *object, const void *context)
{
    const struct model *model = object;
    (void)context;
    size_t n = model->kind->n_parameters;
    writer_member_object(w, "covariance");
    for (size_t a = 0; a < n; a++) {
        if (!(model->uncertainty.covariance[a][a] > 0))
            continue;
        writer_member_object(w, model->kind->rules[a].name);
        for (size_t b = 0; b < n; b++)
            if (model->uncertainty.covariance[a][b] != 0)
                writer_member_number(w, model->kind->rules[b].name,
                                     model->uncertainty.covariance[a][b]);
        writer_end_object(w);
    }
    writer_end_object(w);
}

static void encode_table(struct writer *w, const char *key, const struct score_table *table)
{
    if (!writer_member_object_or_null(w, key, table->n > 0))
        return;
    writer_member_numbers(w, "values", table->scores, table->n);
    writer_member_numbers(w, "levels", table->levels, table->n);
    writer_member_number(w, "spread", table->spread);
    writer_member_number(w, "degrees_of_freedom", table->freedom);
    writer_end_object(w);
}

/* --- in --- */

void codec_model_refuse_parameters(const struct codec_node *node, const struct model_kind *kind)
{
    const char *known[MODEL_PARAMETERS_MAX + 1] = {NULL};
    for (size_t j = 0; j < kind->n_parameters; j++)
        known[j] = kind->rules[j].name;
    codec_refuse_unknown(node, known);
}

static void decode_covariance(const struct codec_node *node, const void *limits, void *object)
{
    struct model *model = object;
    (void)limits;
    const struct model_kind *kind = model->kind;
    struct codec_node list = codec_object(node, "covariance", CODEC_REQUIRED);
    if (list.json == NULL)
        return;
    codec_model_refuse_parameters(&list, kind);
    for (size_t a = 0; a < kind->n_parameters; a++) {
        struct codec_node row = codec_object(&list, kind->rules[a].name, CODEC_OPTIONAL);
        if (row.json == NULL)
            continue;
        codec_model_refuse_parameters(&row, kind);
        for (size_t b = 0; b < kind->n_parameters; b++) {
            double low = a == b ? 0 : -MODEL_NUMBER_MAX;
            double value =
                codec_number(&row, kind->rules[b].name, CODEC_OPTIONAL, low, MODEL_NUMBER_MAX);
            model->uncertainty.covariance[a][b] = isnan(value) ? 0 : value;
        }
    }
}

/* Ascending numbers from `low` to `high`; returns how many. */
static size_t decode_ascending(const struct codec_node *node,
                               const char *key,
                               size_t most,
                               double low,
                               double high,
                               double values[])
{
    struct codec_node list = codec_array(node, key, CODEC_REQUIRED, 0, most);
    size_t n = list.json == NULL ? 0 : json_value_items(list.json);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        values[i] = codec_as_number(&item, CODEC_REQUIRED, low, high);
        if (i > 0 && values[i] < values[i - 1])
            codec_fault(&item, "out_of_range", "must not be less than the one before");
    }
    return n;
}

static void decode_table(const struct codec_node *node, const char *key, struct score_table *table)
{
    static const char *const known[] = {"values", "levels", "spread", "degrees_of_freedom", NULL};
    struct codec_node member = codec_object(node, key, CODEC_NULLABLE);
    *table = (struct score_table){.n = 0};
    if (member.json == NULL)
        return;
    codec_refuse_unknown(&member, known);
    table->n = decode_ascending(&member, "values", SCORES_MAX, 0, MODEL_NUMBER_MAX, table->scores);
    size_t levels = decode_ascending(&member, "levels", SCORES_MAX, 0, 1, table->levels);
    if (levels != table->n)
        codec_fault_member(&member, "levels", "conflict", "must be one for each of %zu value%s",
                           table->n, PLURAL(table->n));
    table->spread = codec_number(&member, "spread", CODEC_REQUIRED, 0, MODEL_NUMBER_MAX);
    table->freedom = codec_number(&member, "degrees_of_freedom", CODEC_REQUIRED, 1, 1e9);
}

/* --- scores and observed values --- */

static void encode_scale(struct writer *w, const char *key, const struct model_error_scale *scale)
{
    if (!writer_member_object_or_null(w, key, scale->freedom > 0))
        return;
    writer_member_numbers(w, "values", NULL, 0);
    writer_member_numbers(w, "levels", NULL, 0);
    writer_member_number(w, "spread", scale->std);
    writer_member_number(w, "degrees_of_freedom", scale->freedom);
    writer_end_object(w);
}

static void encode_scores(struct writer *w, const void *object, const void *context)
{
    const struct model_uncertainty *u = &((const struct model *)object)->uncertainty;
    (void)context;
    writer_member_object(w, "scores");
    encode_table(w, "seen", &u->seen);
    encode_scale(w, "new_executors", &u->new_executors);
    encode_scale(w, "new_problem_sizes", &u->new_sizes);
    writer_end_object(w);
}

/* Tables that earlier versions wrote have scores, too; what counts of them is their scale. */
static void
decode_scale(const struct codec_node *node, const char *key, struct model_error_scale *scale)
{
    struct score_table table;
    decode_table(node, key, &table);
    *scale = (struct model_error_scale){table.spread, table.freedom};
}

static void decode_scores(const struct codec_node *node, const void *limits, void *object)
{
    static const char *const known[] = {"seen", "new_executors", "new_problem_sizes", NULL};
    struct model_uncertainty *u = &((struct model *)object)->uncertainty;
    (void)limits;
    struct codec_node scores = codec_object(node, "scores", CODEC_REQUIRED);
    if (scores.json == NULL)
        return;
    codec_refuse_unknown(&scores, known);
    decode_table(&scores, "seen", &u->seen);
    decode_scale(&scores, "new_executors", &u->new_executors);
    decode_scale(&scores, "new_problem_sizes", &u->new_sizes);
}

static void encode_recorded(struct writer *w, const struct model_uncertainty *u)
{
    writer_member_array(w, "recorded_bounds");
    for (size_t i = 0; i < u->n_recorded; i++) {
        const struct model_recorded *at = &u->recorded[i];
        const double row[] = {at->problem_size, at->executors, at->least_s, at->most_s};
        writer_begin_array(w);
        for (size_t k = 0; k < sizeof row / sizeof *row; k++)
            writer_number(w, row[k]);
        writer_end_array(w);
    }
    writer_end_array(w);
    writer_member_number(w, "size_exponent_max", u->size_exponent);
}

static void encode_spreads(struct writer *w, const struct model_uncertainty *u)
{
    writer_member_array(w, "problem_size_spreads");
    for (size_t i = 0; i < u->n_size_errors; i++) {
        const struct model_size_error *at = &u->size_errors[i];
        writer_begin_array(w);
        writer_number(w, at->executors);
        writer_number(w, at->scale.std);
        writer_number(w, at->scale.freedom);
        writer_end_array(w);
    }
    writer_end_array(w);
}

static void encode_observed(struct writer *w, const void *object, const void *context)
{
    const struct model_uncertainty *u = &((const struct model *)object)->uncertainty;
    (void)context;
    writer_member_object(w, "observed");
    writer_member_numbers(w, "executor_counts", u->seen_executors.values, u->seen_executors.n);
    writer_member_numbers(w, "problem_sizes", u->seen_sizes.values, u->seen_sizes.n);
    if (u->n_size_errors > 0)
        encode_spreads(w, u);
    if (u->n_recorded > 0)
        encode_recorded(w, u);
    writer_end_object(w);
}

/* The numbers of a row; false: it is not one. */
static bool
decode_row(const struct codec_node *item, const char *form, size_t n, struct codec_node of[])
{
    bool good = json_value_is_array(item->json) && json_value_items(item->json) == n;
    if (!good)
        codec_fault(item, "wrong_type", "must be %s", form);
    for (size_t i = 0; good && i < n; i++)
        of[i] = codec_item(item, i);
    return good;
}

static void decode_pair(const struct codec_node *item, struct model_recorded *at)
{
    struct codec_node of[4];
    if (!decode_row(item, "[problem_size, executors, least_s, most_s]", 4, of))
        return;
    at->problem_size =
        codec_as_number(&of[0], CODEC_REQUIRED, CODEC_PROBLEM_SIZE_MIN, CODEC_PROBLEM_SIZE_MAX);
    at->executors = codec_as_number(&of[1], CODEC_REQUIRED, 1, CODEC_COUNT_MAX);
    at->least_s = codec_as_number(&of[2], CODEC_REQUIRED, 1e-12, MODEL_NUMBER_MAX);
    at->most_s = codec_as_number(&of[3], CODEC_REQUIRED, 1e-12, MODEL_NUMBER_MAX);
}

/* Models of earlier versions have none. */
static void decode_recorded(const struct codec_node *node, struct model_uncertainty *u)
{
    struct codec_node list;
    struct model_recorded *recorded =
        codec_list(node, "recorded_bounds", CODEC_OPTIONAL, 0, RECORDED_MAX, sizeof *recorded,
                   &list, &u->n_recorded);
    for (size_t i = 0; i < u->n_recorded; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_pair(&item, &recorded[i]);
        if (i > 0 && recorded[i].problem_size < recorded[i - 1].problem_size)
            codec_fault(&item, "out_of_range", "must come after the one before: by problem_size");
    }
    u->recorded = recorded;
    if (u->n_recorded > 0)
        u->size_exponent = codec_number(node, "size_exponent_max", CODEC_REQUIRED, 1, 3);
}

/* Models of earlier versions have none. */
static void decode_spreads(const struct codec_node *node, struct model_uncertainty *u)
{
    struct codec_node list =
        codec_array(node, "problem_size_spreads", CODEC_OPTIONAL, 0, GAP_VALUES_MAX);
    u->n_size_errors = list.json == NULL ? 0 : json_value_items(list.json);
    for (size_t i = 0; i < u->n_size_errors; i++) {
        struct codec_node item = codec_item(&list, i);
        struct codec_node of[3];
        if (!decode_row(&item, "[executors, spread, degrees_of_freedom]", 3, of))
            continue;
        struct model_size_error *at = &u->size_errors[i];
        at->executors = codec_as_number(&of[0], CODEC_REQUIRED, 1, CODEC_COUNT_MAX);
        at->scale.std = codec_as_number(&of[1], CODEC_REQUIRED, 1e-12, MODEL_NUMBER_MAX);
        at->scale.freedom = codec_as_number(&of[2], CODEC_REQUIRED, 1, 1e9);
        if (i > 0 && at->executors <= at[-1].executors)
            codec_fault(&item, "out_of_range", "must come after the one before: by executors");
    }
}

static void decode_observed(const struct codec_node *node, const void *limits, void *object)
{
    static const char *const known[] = {"executor_counts",      "problem_sizes",
                                        "problem_size_spreads", "recorded_bounds",
                                        "size_exponent_max",    NULL};
    struct model_uncertainty *u = &((struct model *)object)->uncertainty;
    (void)limits;
    struct codec_node observed = codec_object(node, "observed", CODEC_REQUIRED);
    if (observed.json == NULL)
        return;
    codec_refuse_unknown(&observed, known);
    u->seen_executors.n = decode_ascending(&observed, "executor_counts", GAP_VALUES_MAX, 1,
                                           CODEC_COUNT_MAX, u->seen_executors.values);
    u->seen_sizes.n =
        decode_ascending(&observed, "problem_sizes", GAP_VALUES_MAX, CODEC_PROBLEM_SIZE_MIN,
                         CODEC_PROBLEM_SIZE_MAX, u->seen_sizes.values);
    decode_spreads(&observed, u);
    decode_recorded(&observed, u);
}

/* --- all --- */

#define T struct model
enum { REQUIRED = CODEC_REQUIRED };
static const struct shape_member members[] = {
    {"observation_count", SHAPE_SIZE(T, uncertainty.observations), .flags = REQUIRED, .least = 1,
     .most = CODEC_COUNT_MAX},
    {"confidence", SHAPE_NUMBER(T, uncertainty.confidence), .flags = REQUIRED, .low = 0.01,
     .high = 0.9999},
    {"degrees_of_freedom", SHAPE_NUMBER(T, uncertainty.freedom), .flags = REQUIRED,
     .high = CODEC_COUNT_MAX},
    {"residual_std", SHAPE_NUMBER(T, uncertainty.residual_std), .flags = CODEC_NULLABLE,
     .high = MODEL_NUMBER_MAX},
    {"repetition_std", SHAPE_NUMBER(T, uncertainty.repetition_std), .flags = CODEC_NULLABLE,
     .high = MODEL_NUMBER_MAX},
    {"relative", SHAPE_BOOLEAN(T, uncertainty.relative)},
    /* Stage measures need not know what they were of. */
    {"problem_size_range", SHAPE_RANGE(T, uncertainty.problem_size),
     .flags = REQUIRED | CODEC_NULLABLE, .low = CODEC_PROBLEM_SIZE_MIN,
     .high = CODEC_PROBLEM_SIZE_MAX},
    {"executors_range", SHAPE_RANGE(T, uncertainty.executors), .flags = REQUIRED, .low = 1,
     .high = CODEC_COUNT_MAX},
    /* Of models that pool; earlier versions did not store it. */
    {"pooled_executors_range", SHAPE_RANGE(T, uncertainty.pooled_executors),
     .flags = CODEC_NULLABLE, .low = 1, .high = CODEC_COUNT_MAX},
    {"covariance", SHAPE_CODE, .flags = REQUIRED, .decode = decode_covariance,
     .encode = encode_covariance},
    {"scores", SHAPE_CODE, .flags = REQUIRED, .decode = decode_scores, .encode = encode_scores},
    {"observed", SHAPE_CODE, .flags = REQUIRED, .decode = decode_observed,
     .encode = encode_observed},
};
const struct shape codec_model_uncertainty_shape = {.request = "ModelUncertainty",
                                                    SHAPE_OF(members, T)};

void codec_model_uncertainty_encode(struct writer *w, const struct model *model)
{
    writer_key(w, "uncertainty");
    if (model->uncertainty.observations == 0)
        writer_null(w);
    else
        shape_encode(w, &codec_model_uncertainty_shape, model, 0, NULL);
}

void codec_model_uncertainty_decode(const struct codec_node *node, struct model *model)
{
    struct codec_node list = codec_object(node, "uncertainty", CODEC_NULLABLE);
    if (list.json == NULL)
        return;
    shape_decode(&list, &codec_model_uncertainty_shape, NULL, model);
    if (model->kind->forms != MODEL_OF_STAGES &&
        json_value_is_null(json_value_member(list.json, "problem_size_range")))
        codec_fault_member(&list, "problem_size_range", "wrong_type", "must be an array");
}
