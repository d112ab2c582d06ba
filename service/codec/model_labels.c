#include "codec/model_labels.h"

#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 64 };

static int compare_text(struct strview a, struct strview b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n == 0 ? 0 : memcmp(a.at, b.at, n);
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

/* Labels are sorted by key. */
static int compare_contexts(const void *a, const void *b)
{
    const struct model_context *x = a;
    const struct model_context *y = b;
    for (size_t i = 0; i < x->n_labels && i < y->n_labels; i++) {
        int order = compare_text(x->labels[i].key, y->labels[i].key);
        if (order == 0)
            order = compare_text(x->labels[i].value, y->labels[i].value);
        if (order != 0)
            return order;
    }
    return (x->n_labels > y->n_labels) - (x->n_labels < y->n_labels);
}

static void decode_context(const struct codec_node *item, struct model_context *context)
{
    struct run_label *labels = NULL;
    *context = (struct model_context){.n_labels = 0};
    if (!json_is_object(item->json))
        return;
    codec_labels(item, "labels", CODEC_NULLABLE, LABELS_MAX, &labels, &context->n_labels);
    context->labels = labels;
}

void codec_model_labels_decode(const struct codec_node *observations,
                               struct codec_model_fit *request)
{
    struct arena *arena = observations->reader->arena;
    struct model_context *given = arena_array(arena, request->n, sizeof *given);
    struct model_context *sorted = arena_array(arena, request->n, sizeof *sorted);
    if (given == NULL || sorted == NULL) {
        (void)pv_fail(observations->reader->err, PV_E_MEMORY, "out of memory");
        return;
    }
    size_t labelled = 0;
    for (size_t i = 0; i < request->n; i++) {
        struct codec_node item = codec_item(observations, i);
        decode_context(&item, &given[i]);
        labelled += given[i].n_labels > 0;
    }
    if (labelled == 0)
        return;
    size_t n = 0;
    memcpy(sorted, given, request->n * sizeof *sorted);
    qsort(sorted, request->n, sizeof *sorted, compare_contexts);
    for (size_t i = 0; i < request->n; i++)
        if (n == 0 || compare_contexts(&sorted[i], &sorted[n - 1]) != 0)
            sorted[n++] = sorted[i];
    if (n > MODEL_CONTEXTS_MAX) {
        codec_fault(observations, "too_many_items",
                    "may hold at most %d different sets of labels, has %zu", MODEL_CONTEXTS_MAX, n);
        return;
    }
    for (size_t i = 0; i < request->n; i++) {
        const struct model_context *found =
            bsearch(&given[i], sorted, n, sizeof *sorted, compare_contexts);
        request->rows[i].context = (unsigned)(found - sorted) + 1;
    }
    request->contexts = sorted;
    request->n_contexts = n;
}

void codec_model_point_labels_decode(const struct codec_node *item,
                                     const struct model *model,
                                     struct codec_model_point *point)
{
    struct model_context wanted;
    if (!codec_present(item, "labels"))
        return;
    decode_context(item, &wanted);
    if (model->kind != NULL && (model->kind->tables & MODEL_HAS_CONTEXTS) == 0) {
        codec_fault_member(item, "labels", "conflict", "%s knows no labels", model->kind->name);
        return;
    }
    point->unknown_labels = true;
    for (size_t c = 0; c < model->tables.n_contexts; c++)
        if (compare_contexts(&wanted, &model->tables.contexts[c]) == 0) {
            point->context = (unsigned)c + 1;
            point->unknown_labels = false;
        }
}
