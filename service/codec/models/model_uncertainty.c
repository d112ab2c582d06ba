#include "codec/models/model_uncertainty.h"

#include <math.h>

static const double COUNT_MAX = 1e12;
static const double NUMBER_MAX = 1e300;

/* --- out --- */

void codec_model_pair_encode(struct writer *w, const char *key, const double pair[2])
{
    writer_member_numbers(w, key, pair, 2);
}

/* Null: not known. */
static void encode_range(struct writer *w, const char *key, const double range[2])
{
    if (!isnan(range[0])) {
        codec_model_pair_encode(w, key, range);
        return;
    }
    writer_member_null(w, key);
}

static void encode_numbers(struct writer *w, const char *key, const double values[], size_t n)
{
    writer_member_numbers(w, key, values, n);
}

/* {"alpha": {"alpha": .., "beta": ..}, ..}: the pairs that are not 0. */
static void encode_covariance(struct writer *w, const struct model *model)
{
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
    encode_numbers(w, "values", table->scores, table->n);
    encode_numbers(w, "levels", table->levels, table->n);
    writer_member_number(w, "spread", table->spread);
    writer_member_number(w, "degrees_of_freedom", table->freedom);
    writer_end_object(w);
}

static void encode_scores(struct writer *w, const struct model_uncertainty *u)
{
    writer_member_object(w, "scores");
    encode_table(w, "seen", &u->seen);
    encode_table(w, "new_executors", &u->new_executors);
    encode_table(w, "new_problem_sizes", &u->new_sizes);
    writer_end_object(w);
}

static void encode_observed(struct writer *w, const struct model_uncertainty *u)
{
    writer_member_object(w, "observed");
    encode_numbers(w, "executor_counts", u->seen_executors.values, u->seen_executors.n);
    encode_numbers(w, "problem_sizes", u->seen_sizes.values, u->seen_sizes.n);
    writer_end_object(w);
}

void codec_model_uncertainty_encode(struct writer *w, const struct model *model)
{
    const struct model_uncertainty *u = &model->uncertainty;
    if (!writer_member_object_or_null(w, "uncertainty", u->observations > 0))
        return;
    writer_member_integer(w, "observation_count", (int64_t)u->observations);
    writer_member_number(w, "confidence", u->confidence);
    writer_member_number(w, "degrees_of_freedom", u->freedom);
    writer_member_number(w, "residual_std", u->residual_std);
    writer_member_boolean(w, "relative", u->relative);
    encode_range(w, "problem_size_range", u->problem_size);
    encode_range(w, "executors_range", u->executors);
    encode_covariance(w, model);
    encode_scores(w, u);
    encode_observed(w, u);
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

static void
decode_pair(const struct codec_node *node, const char *key, unsigned flags, double pair[2])
{
    struct codec_node list = codec_array(node, key, flags, 2, 2);
    pair[0] = pair[1] = (double)NAN;
    if (list.json == NULL)
        return;
    for (size_t i = 0; i < 2; i++) {
        struct codec_node item = codec_item(&list, i);
        pair[i] = codec_as_number(&item, CODEC_REQUIRED, 1, COUNT_MAX);
    }
    if (pair[1] < pair[0])
        codec_fault_member(node, key, "out_of_range", "must ascend");
}

static void decode_covariance(const struct codec_node *node, struct model *model)
{
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
            double low = a == b ? 0 : -NUMBER_MAX;
            double value = codec_number(&row, kind->rules[b].name, CODEC_OPTIONAL, low, NUMBER_MAX);
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
    size_t n = list.json == NULL ? 0 : json_array_size(list.json);
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
    table->n = decode_ascending(&member, "values", SCORES_MAX, 0, NUMBER_MAX, table->scores);
    size_t levels = decode_ascending(&member, "levels", SCORES_MAX, 0, 1, table->levels);
    if (levels != table->n)
        codec_fault_member(&member, "levels", "conflict", "must be one for each of %zu values",
                           table->n);
    table->spread = codec_number(&member, "spread", CODEC_REQUIRED, 0, NUMBER_MAX);
    table->freedom = codec_number(&member, "degrees_of_freedom", CODEC_REQUIRED, 1, 1e9);
}

static void decode_scores(const struct codec_node *node, struct model_uncertainty *u)
{
    static const char *const known[] = {"seen", "new_executors", "new_problem_sizes", NULL};
    struct codec_node scores = codec_object(node, "scores", CODEC_REQUIRED);
    if (scores.json == NULL)
        return;
    codec_refuse_unknown(&scores, known);
    decode_table(&scores, "seen", &u->seen);
    decode_table(&scores, "new_executors", &u->new_executors);
    decode_table(&scores, "new_problem_sizes", &u->new_sizes);
}

static void decode_observed(const struct codec_node *node, struct model_uncertainty *u)
{
    static const char *const known[] = {"executor_counts", "problem_sizes", NULL};
    struct codec_node observed = codec_object(node, "observed", CODEC_REQUIRED);
    if (observed.json == NULL)
        return;
    codec_refuse_unknown(&observed, known);
    u->seen_executors.n = decode_ascending(&observed, "executor_counts", GAP_VALUES_MAX, 1,
                                           COUNT_MAX, u->seen_executors.values);
    u->seen_sizes.n = decode_ascending(&observed, "problem_sizes", GAP_VALUES_MAX, 1, COUNT_MAX,
                                       u->seen_sizes.values);
}

void codec_model_uncertainty_decode(const struct codec_node *node, struct model *model)
{
    static const char *const known[] = {"observation_count", "confidence", "degrees_of_freedom",
                                        "residual_std",      "relative",   "problem_size_range",
                                        "executors_range",   "covariance", "scores",
                                        "observed",          NULL};
    struct model_uncertainty *u = &model->uncertainty;
    struct codec_node list = codec_object(node, "uncertainty", CODEC_NULLABLE);
    if (list.json == NULL)
        return;
    codec_refuse_unknown(&list, known);
    int64_t n = codec_integer(&list, "observation_count", CODEC_REQUIRED, 1, 1000000000);
    u->observations = n > 0 ? (size_t)n : 0;
    u->confidence = codec_number(&list, "confidence", CODEC_REQUIRED, 0.01, 0.9999);
    u->freedom = codec_number(&list, "degrees_of_freedom", CODEC_REQUIRED, 0, 1e9);
    u->residual_std = codec_number(&list, "residual_std", CODEC_NULLABLE, 0, NUMBER_MAX);
    u->relative = codec_boolean(&list, "relative", CODEC_OPTIONAL, false);
    /* Stage measures need not know what they were of. */
    unsigned size = model->kind->forms == MODEL_OF_STAGES ? CODEC_NULLABLE : CODEC_REQUIRED;
    decode_pair(&list, "problem_size_range", size, u->problem_size);
    decode_pair(&list, "executors_range", CODEC_REQUIRED, u->executors);
    decode_covariance(&list, model);
    decode_scores(&list, u);
    decode_observed(&list, u);
}
