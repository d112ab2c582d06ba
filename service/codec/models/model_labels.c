#include "codec/models/model_labels.h"

#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 64 };

static int compare_text(struct strview a, struct strview b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n == 0 ? 0 : memcmp(a.at, b.at, n);
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

/* Labels of one run, sorted by key. */
struct label_set {
    const struct run_label *labels;
    size_t n;
};

static int compare_sets(const void *a, const void *b)
{
    const struct label_set *x = a;
    const struct label_set *y = b;
    for (size_t i = 0; i < x->n && i < y->n; i++) {
        int order = compare_text(x->labels[i].key, y->labels[i].key);
        if (order == 0)
            order = compare_text(x->labels[i].value, y->labels[i].value);
        if (order != 0)
            return order;
    }
    return (x->n > y->n) - (x->n < y->n);
}

static bool has_all(const struct label_set *set, const struct label_set *asked)
{
    size_t found = 0;
    for (size_t i = 0; i < set->n && found < asked->n; i++) {
        const struct run_label *want = &asked->labels[found];
        found += compare_text(set->labels[i].key, want->key) == 0 &&
                 compare_text(set->labels[i].value, want->value) == 0;
    }
    return found == asked->n;
}

static struct label_set decode_set(const struct codec_node *item)
{
    struct run_label *labels = NULL;
    struct label_set set = {.n = 0};
    if (json_is_object(item->json))
        codec_labels(item, "labels", CODEC_NULLABLE, LABELS_MAX, &labels, &set.n);
    set.labels = labels;
    return set;
}

/* 1 for those that were asked about, else 2 and the place among the different sets. */
static size_t assign(const struct label_set *asked,
                     const struct label_set given[],
                     struct label_set sorted[],
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
        const struct label_set *place =
            bsearch(&given[i], sorted, distinct, sizeof *sorted, compare_sets);
        request->rows[i].context = wanted ? 1 : (unsigned)(place - sorted) + 2;
        own += wanted;
    }
    return own;
}

void codec_model_labels_decode(const struct codec_node *node,
                               const struct codec_node *observations,
                               struct codec_model_fit *request)
{
    struct arena *arena = observations->reader->arena;
    struct label_set asked = decode_set(node);
    struct label_set *given = arena_array(arena, request->n, sizeof *given);
    struct label_set *sorted = arena_array(arena, request->n, sizeof *sorted);
    if (given == NULL || sorted == NULL) {
        (void)pv_no_memory(observations->reader->err);
        return;
    }
    for (size_t i = 0; i < request->n; i++) {
        struct codec_node item = codec_item(observations, i);
        given[i] = decode_set(&item);
    }
    if (asked.n > 0 && assign(&asked, given, sorted, request) == 0)
        codec_fault_member(node, "labels", "not_found", "no observation has these labels");
}
