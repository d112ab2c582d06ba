#include "codec/models/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "codec/models/fitted_model.h"
#include "codec/models/model_internal.h"

enum { LABELS_MAX = 64 };

static const char *const weights_words[] = {"seconds", "relative", NULL};

/* --- observations --- */

/* One of the two, and the same one in every row. */
static void check_form(const struct codec_node *row, bool speedups)
{
    const char *wanted = speedups ? "speedup" : "duration_s";
    const char *other = speedups ? "duration_s" : "speedup";
    if (codec_present(row, other))
        codec_fault_member(row, other, "conflict",
                           codec_present(row, wanted)
                               ? "must be left out where %s is given"
                               : "must be left out: the first observation has %s",
                           wanted);
    if (!codec_present(row, wanted))
        codec_fault_member(row, wanted, "required",
                           speedups ? "is required, as in the first observation"
                                    : "is required, or speedup in all observations");
    if (speedups && codec_present(row, "initialization_s"))
        codec_fault_member(row, "initialization_s", "conflict", "is allowed only with duration_s");
}

#define O struct observation
static const struct shape_member row_members[] = {
    {"problem_size", SHAPE_NUMBER(O, problem_size), .flags = CODEC_REQUIRED,
     .low = CODEC_PROBLEM_SIZE_MIN, .high = CODEC_PROBLEM_SIZE_MAX},
    {"executors", SHAPE_NUMBER(O, executors), .flags = CODEC_REQUIRED, .low = 1,
     .high = CODEC_COUNT_MAX},
    {"duration_s", SHAPE_NUMBER(O, duration_s), .flags = CODEC_NULLABLE, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"initialization_s", SHAPE_NUMBER(O, initialization_s), .flags = CODEC_NULLABLE,
     .high = CODEC_SECONDS_MAX},
    {"speedup", SHAPE_NUMBER(O, speedup), .flags = CODEC_NULLABLE, .low = CODEC_RATE_MIN,
     .high = CODEC_RATE_MAX},
    {"labels", SHAPE_CODE, .flags = CODEC_NULLABLE}, /* decode_labels */
};
const struct shape codec_observation_shape = {.request = "ModelObservation",
                                              SHAPE_OF(row_members, O)};

static const struct shape_member stage_row_members[] = {
    {"n", SHAPE_NUMBER(O, executors), .flags = CODEC_REQUIRED, .low = 1, .high = CODEC_COUNT_MAX},
    {"parallel_s", SHAPE_NUMBER(O, parallel_s), .flags = CODEC_NULLABLE, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"serial_s", SHAPE_NUMBER(O, serial_s), .flags = CODEC_REQUIRED, .high = CODEC_SECONDS_MAX},
    {"induced_s", SHAPE_NUMBER(O, induced_s), .flags = CODEC_REQUIRED, .high = CODEC_SECONDS_MAX},
    {"max_task_s", SHAPE_NUMBER(O, max_task_s), .flags = CODEC_NULLABLE, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
};
const struct shape codec_stage_observation_shape = {.request = "ModelStageObservation",
                                                    SHAPE_OF(stage_row_members, O)};

/* --- labels --- */

static int compare_sets(const void *a, const void *b)
{
    const struct run_label_list *x = a;
    const struct run_label_list *y = b;
    for (size_t i = 0; i < x->n && i < y->n; i++) {
        int order = compare_strview(x->labels[i].key, y->labels[i].key);
        if (order == 0)
            order = compare_strview(x->labels[i].value, y->labels[i].value);
        if (order != 0)
            return order;
    }
    return compare_size(x->n, y->n);
}

static bool has_all(const struct run_label_list *set, const struct run_label_list *asked)
{
    size_t found = 0;
    for (size_t i = 0; i < set->n && found < asked->n; i++) {
        const struct run_label *want = &asked->labels[found];
        found += compare_strview(set->labels[i].key, want->key) == 0 &&
                 compare_strview(set->labels[i].value, want->value) == 0;
    }
    return found == asked->n;
}

static struct run_label_list decode_set(const struct codec_node *item)
{
    struct run_label *labels = NULL;
    struct run_label_list set = {.n = 0};
    if (json_value_is_object(item->json))
        codec_labels(item, "labels", CODEC_NULLABLE, LABELS_MAX, &labels, &set.n);
    set.labels = labels;
    return set;
}

/* 1 for those that were asked about, else 2 and the place among the different sets. */
static size_t assign(const struct run_label_list *asked,
                     const struct run_label_list given[],
                     struct run_label_list sorted[],
                     struct codec_model_fit *request)
{
    size_t distinct = 0;
    size_t own = 0;
    memcpy(sorted, given, request->n * sizeof *sorted);
    qsort(sorted, request->n, sizeof *sorted, compare_sets);
    for (size_t i = 0; i < request->n; i++)
        if (distinct == 0 || compare_sets(&sorted[i], &sorted[distinct - 1]) != 0)
            sorted[distinct++] = sorted[i];
    for (size_t i = 0; i < request->n; i++) {
        bool wanted = has_all(&given[i], asked);
        const struct run_label_list *place =
            bsearch(&given[i], sorted, distinct, sizeof *sorted, compare_sets);
        request->rows[i].context = wanted ? 1 : (unsigned)(place - sorted) + 2;
        own += wanted;
    }
    return own;
}

/*
 * The member "labels" of observations and of the request, which asks for a model of the runs that
 * have all of these. With it the contexts of request->rows are set: 1 for such runs; others, of
 * which only a kind that pools learns, count from 2, one for each different set of labels in the
 * order of those. Without it labels make no difference.
 */
static void decode_labels(const struct codec_node *node,
                          const struct codec_node *observations,
                          struct codec_model_fit *request)
{
    struct run_label_list asked = decode_set(node);
    struct run_label_list *given = codec_allocate(observations, request->n, sizeof *given);
    struct run_label_list *sorted = codec_allocate(observations, request->n, sizeof *sorted);
    if (given == NULL || sorted == NULL)
        return;
    for (size_t i = 0; i < request->n; i++) {
        struct codec_node item = codec_item(observations, i);
        given[i] = decode_set(&item);
    }
    if (asked.n > 0)
        request->labels = given;
    if (asked.n > 0 && assign(&asked, given, sorted, request) == 0)
        codec_fault_member(node, "labels", "not_found", "no observation has these labels");
}

/* --- stages --- */

/* A measure that some rows have and some do not cannot be a column. */
static void
check_measure(const struct codec_node *row, const struct codec_node *first, const char *key)
{
    bool wanted = json_value_is_object(first->json) && codec_present(first, key);
    if (wanted && !codec_present(row, key))
        codec_fault_member(row, key, "required", "is required, as in the first observation");
    if (!wanted && codec_present(row, key))
        codec_fault_member(row, key, "conflict",
                           "must be left out: the first observation has none");
}

static void decode_stage_rows(const struct codec_node *node,
                              const struct codec_node *list,
                              struct codec_model_fit *request)
{
    struct codec_node first = codec_item(list, 0);
    for (size_t i = 0; i < request->n; i++) {
        struct codec_node row = codec_item(list, i);
        request->rows[i] = MODEL_OBSERVATION;
        if (!codec_expect_object(&row))
            continue;
        shape_decode(&row, &codec_stage_observation_shape, NULL, &request->rows[i]);
        check_measure(&row, &first, "parallel_s");
        check_measure(&row, &first, "max_task_s");
        if (!codec_present(&row, "parallel_s") && !codec_present(&row, "max_task_s"))
            codec_fault_member(&row, "max_task_s", "required",
                               "is required, or parallel_s in all observations");
    }
    if (request->weights == MODEL_RELATIVE)
        codec_fault_member(node, "weights", "conflict", "of stage measures can only be seconds");
    if (decode_set(node).n > 0)
        codec_fault_member(node, "labels", "conflict", "stage measures have no labels");
}

/* --- the request --- */

static void decode_rows(const struct codec_node *node, size_t most, struct codec_model_fit *request)
{
    struct codec_node list;
    request->rows = codec_list(node, "observations", CODEC_REQUIRED, 1, most, sizeof *request->rows,
                               &list, &request->n);
    if (request->n == 0)
        return;
    struct codec_node first = codec_item(&list, 0);
    if (request->kind != NULL && request->kind->forms == MODEL_OF_STAGES) {
        decode_stage_rows(node, &list, request);
        return;
    }
    bool speedups = json_value_is_object(first.json) && codec_present(&first, "speedup") &&
                    !codec_present(&first, "duration_s");
    if (speedups && request->kind != NULL && (request->kind->forms & MODEL_OF_SPEEDUPS) == 0)
        codec_fault_member(&first, "speedup", "not_allowed", "%s is fitted to duration_s",
                           request->kind->name);
    for (size_t i = 0; i < request->n; i++) {
        struct codec_node row = codec_item(&list, i);
        struct observation *out = &request->rows[i];
        *out = MODEL_OBSERVATION;
        if (!codec_expect_object(&row))
            continue;
        check_form(&row, speedups);
        shape_decode(&row, &codec_observation_shape, NULL, out);
        if (out->initialization_s > out->duration_s)
            codec_fault_member(&row, "initialization_s", "out_of_range",
                               "must not be longer than duration_s");
    }
    decode_labels(node, &list, request);
    if (speedups && codec_present(node, "weights") && request->weights == MODEL_SECONDS)
        codec_fault_member(node, "weights", "conflict", "of speedups can only be relative");
}

void codec_model_fit_decode(const struct codec_node *node,
                            size_t most,
                            struct codec_model_fit *request)
{
    static const char *const known[] = {"model", "observations", "weights", "labels", NULL};
    *request = (struct codec_model_fit){.kind = NULL};
    codec_refuse_unknown(node, known);
    bool automatic;
    request->kind = codec_model_choice_decode(node, &automatic);
    size_t weights =
        codec_choice(node, "weights", CODEC_OPTIONAL, weights_words, automatic ? 1 : 0);
    request->weights = weights == 1 ? MODEL_RELATIVE : MODEL_SECONDS;
    if (automatic && weights == 0)
        codec_fault_member(node, "weights", "conflict", "of auto can only be relative");
    decode_rows(node, most, request);
}

/* --- the reply --- */

static void encode_residuals(struct writer *w, const struct model_fit *fit)
{
    writer_member_array(w, "residuals");
    for (size_t i = 0; i < fit->n; i++) {
        const struct model_residual *residual = &fit->residuals[i];
        writer_begin_object(w);
        writer_member_number(w, "problem_size", residual->problem_size);
        writer_member_number(w, "executors", residual->executors);
        writer_member_number(w, "actual", residual->actual);
        writer_member_number(w, "predicted", residual->predicted);
        writer_member_number(w, "error_percent", residual->error_percent);
        writer_end_object(w);
    }
    writer_end_array(w);
}

void codec_model_fit_encode(struct writer *w,
                            const struct model_fit *fit,
                            const struct model_selection *selection)
{
    writer_begin_object(w);
    codec_model_encode(w, &fit->model);
    codec_model_quality_encode(w, fit);
    encode_residuals(w, fit);
    if (selection != NULL) {
        writer_key(w, "selection");
        codec_model_selection_encode(w, selection);
    }
    writer_end_object(w);
}
