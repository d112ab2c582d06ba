#include "api/advice/advice_context.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* --- which runs --- */

struct sighting {
    struct observation *rows;
    struct context_labels *labels;
    size_t n;
};

static enum pv_code look_at(const struct run_duration_list *durations,
                            struct arena *arena,
                            struct sighting *seen,
                            struct pv_error *err)
{
    seen->n = durations->n;
    seen->rows = arena_array(arena, seen->n, sizeof *seen->rows);
    seen->labels = arena_array(arena, seen->n, sizeof *seen->labels);
    if (seen->rows == NULL || seen->labels == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < seen->n; i++) {
        const struct run_duration *run = &durations->items[i];
        seen->rows[i] = model_seen((double)run->problem_size, (double)run->executors,
                                   run->duration_s, run->initialization_s);
        seen->labels[i] = run->labels;
    }
    return PV_OK;
}

static bool explains(const struct strview keys[], size_t n_keys, struct strview key)
{
    for (size_t k = 0; k < n_keys; k++)
        if (strview_equal(keys[k], key))
            return true;
    return false;
}

/* Of the labels asked for those whose key explains the time. */
static enum pv_code keep_explaining(const struct contexts *contexts,
                                    const struct codec_advice_request *asked,
                                    struct arena *arena,
                                    struct context_labels *kept,
                                    struct pv_error *err)
{
    struct run_label *labels = arena_array(arena, asked->n_labels, sizeof *labels);
    if (labels == NULL)
        return pv_no_memory(err);
    *kept = (struct context_labels){labels, 0};
    for (size_t i = 0; i < asked->n_labels; i++)
        if (explains(contexts->keys, contexts->n_keys, asked->labels[i].key))
            labels[kept->n++] = asked->labels[i];
    return PV_OK;
}

static bool copy_text(struct strview *text, struct arena *arena)
{
    text->at = arena_strndup(arena, text->at == NULL ? "" : text->at, text->n);
    return text->at != NULL;
}

/* The keys, and the values that `labels` have of them, where the loaded runs are not needed. */
static enum pv_code describe(const struct contexts *contexts,
                             const struct context_labels *labels,
                             struct arena *arena,
                             struct codec_history_context *found,
                             struct pv_error *err)
{
    struct strview *keys = arena_array(arena, contexts->n_keys, sizeof *keys);
    struct context_labels *own = arena_alloc(arena, sizeof *own);
    struct run_label *pairs = arena_array(arena, contexts->n_keys, sizeof *pairs);
    if (keys == NULL || own == NULL || pairs == NULL)
        return pv_no_memory(err);
    *own = (struct context_labels){pairs, 0};
    for (size_t k = 0; k < contexts->n_keys; k++) {
        struct strview value = context_label_value(labels, contexts->keys[k]);
        keys[k] = contexts->keys[k];
        if (!copy_text(&keys[k], arena))
            return pv_no_memory(err);
        if (value.at == NULL)
            continue;
        if (!copy_text(&value, arena))
            return pv_no_memory(err);
        pairs[own->n++] = (struct run_label){keys[k], value};
    }
    found->keys = keys;
    found->n_keys = contexts->n_keys;
    found->labels = own;
    found->contexts = contexts->n;
    return PV_OK;
}

static enum pv_code mark(const struct contexts *contexts,
                         size_t row,
                         struct sighting *seen,
                         struct arena *loaded,
                         struct advice_context *context,
                         struct pv_error *err)
{
    context->of = arena_array(loaded, seen->n, sizeof *context->of);
    if (context->of == NULL)
        return pv_no_memory(err);
    contexts_assign(contexts, row, seen->rows, seen->n);
    for (size_t i = 0; i < seen->n; i++) {
        context->of[i] = seen->rows[i].context;
        context->found.runs += context->of[i] == 1;
    }
    return PV_OK;
}

enum pv_code advice_context_find(const struct run_duration_list *durations,
                                 const struct codec_advice_request *asked,
                                 struct arena *loaded,
                                 struct arena *arena,
                                 struct advice_context *context,
                                 struct pv_error *err)
{
    struct sighting seen;
    struct contexts contexts;
    struct context_labels kept;
    struct advice_context made = {.of = NULL};
    size_t labelled = 0;
    for (size_t i = 0; i < durations->n; i++)
        labelled += durations->items[i].labels.n > 0;
    if (labelled == 0) {
        *context = made;
        return PV_OK;
    }
    PV_TRY(look_at(durations, loaded, &seen, err));
    PV_TRY(contexts_find(seen.rows, seen.labels, seen.n, loaded, &contexts, err));
    if (contexts.n_keys > 0)
        PV_TRY(keep_explaining(&contexts, asked, loaded, &kept, err));
    if (contexts.n_keys > 0) {
        /* Asked for none of them: the latest run, which is the first. */
        size_t row = contexts_match(seen.labels, seen.n, kept.labels, kept.n);
        bool is_there = row < seen.n;
        made.found.asked = kept.n > 0;
        made.found.ignored = !is_there;
        made.message = !is_there ? "no run has these labels: runs of all labels are taken"
                       : made.found.asked
                           ? "the prediction is for runs with these labels"
                           : "the prediction is for runs with the labels of the latest run, which "
                             "explain the time: ask for others with labels";
        PV_TRY(describe(&contexts, is_there ? &seen.labels[row] : &kept, arena, &made.found, err));
        if (is_there)
            PV_TRY(mark(&contexts, row, &seen, loaded, &made, err));
    }
    *context = made;
    return PV_OK;
}

void advice_context_ignore(struct advice_context *context)
{
    context->found.ignored = true;
    context->of = NULL;
    context->message = "these labels explain the time, but none of their runs can be replayed and "
                       "they are too few for a model: runs of all labels are taken";
}

/* --- the nearest of them --- */

struct place {
    uint64_t away;
    size_t row;
};

static int by_distance(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    if (x->away != y->away)
        return x->away > y->away ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

enum pv_code advice_context_nearest(const struct advice_context *context,
                                    const struct run_duration_list *durations,
                                    int64_t problem_size,
                                    size_t most,
                                    struct arena *arena,
                                    struct run_id **ids,
                                    size_t *n,
                                    struct pv_error *err)
{
    *n = 0;
    if (context->of == NULL)
        return PV_OK;
    struct place *places = arena_array(arena, durations->n, sizeof *places);
    if (places == NULL)
        return pv_no_memory(err);
    size_t found = 0;
    for (size_t i = 0; i < durations->n; i++) {
        const struct run_duration *run = &durations->items[i];
        if (context->of[i] != 1 || !run->replayable)
            continue;
        int64_t size = problem_size == RUN_UNKNOWN ? run->problem_size : problem_size;
        int64_t away = run->problem_size - size;
        places[found++] = (struct place){(uint64_t)(away < 0 ? -away : away), i};
    }
    if (found > 0)
        qsort(places, found, sizeof *places, by_distance);
    *n = found < most ? found : most;
    *ids = arena_array(arena, *n, sizeof **ids);
    if (*ids == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < *n; i++)
        memcpy((*ids)[i].text, durations->items[places[i].row].evidence.run_id,
               sizeof(*ids)[i].text);
    return PV_OK;
}

/* --- what was asked for --- */

static void absorb(crypto_generichash_state *state, struct strview text)
{
    uint64_t n = text.n;
    (void)crypto_generichash_update(state, (const unsigned char *)&n, sizeof n);
    (void)crypto_generichash_update(state, (const unsigned char *)text.at, n);
}

void advice_context_digest(const struct codec_advice_request *asked, unsigned char digest[32])
{
    crypto_generichash_state state;
    memset(digest, 0, 32);
    if (asked->n_labels == 0)
        return;
    (void)crypto_generichash_init(&state, NULL, 0, 32);
    for (size_t i = 0; i < asked->n_labels; i++) {
        absorb(&state, asked->labels[i].key);
        absorb(&state, asked->labels[i].value);
    }
    (void)crypto_generichash_final(&state, digest, 32);
}

/* --- warnings --- */

/* "iterations=10, machine=m5"; a label that the runs have not: "machine absent". */
static const char *list_labels(const struct codec_history_context *context, struct arena *arena)
{
    const char *text = "";
    for (size_t k = 0; k < context->n_keys && text != NULL; k++) {
        struct strview key = context->keys[k];
        struct strview value = context_label_value(context->labels, key);
        text = arena_printf(arena, "%s%s%.*s%s%.*s", text, k == 0 ? "" : ", ", (int)key.n, key.at,
                            value.at == NULL ? " absent" : "=", (int)value.n,
                            value.at == NULL ? "" : value.at);
    }
    return text;
}

/* The keys asked for that explain nothing; "" where all do. */
static const char *list_unused(const struct codec_history_context *context,
                               const struct codec_advice_request *asked,
                               struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < asked->n_labels && text != NULL; i++) {
        struct strview key = asked->labels[i].key;
        if (!explains(context->keys, context->n_keys, key))
            text = arena_printf(arena, "%s%s%.*s", text, text[0] == '\0' ? "" : ", ", (int)key.n,
                                key.at);
    }
    return text;
}

static void warn_of_context(const struct codec_history_context *context,
                            const char *labels,
                            struct advice *advice)
{
    struct finding *note;
    if (context->runs == 0)
        note =
            finding_add(&advice->warnings, "labels_unknown",
                        "None of the latest runs has the labels asked for (%.200s): the prediction "
                        "is from runs of all labels, though these labels explain the time.",
                        labels);
    else if (context->ignored)
        note =
            finding_add(&advice->warnings, "label_group_not_used",
                        "None of the %zu runs with %.200s can be replayed and they are too few for "
                        "a model: the prediction is from runs of all labels, though these labels "
                        "explain the time.",
                        context->runs, labels);
    else if (!context->asked)
        note = finding_add(&advice->warnings, "labels_of_latest_run",
                           "Labels explain the time, and the request names none of them: the "
                           "prediction is for runs like the latest (%.200s), one of %zu contexts.",
                           labels, context->contexts);
    else
        return;
    finding_text(note, "labels", labels);
    finding_number(note, "label_groups", (double)context->contexts);
    finding_number(note, "runs", (double)context->runs);
}

enum pv_code advice_context_explain(const struct codec_history_context *context,
                                    const struct codec_advice_request *asked,
                                    struct arena *arena,
                                    struct advice *advice,
                                    struct pv_error *err)
{
    const char *labels = list_labels(context, arena);
    const char *unused = list_unused(context, asked, arena);
    if (labels == NULL || unused == NULL)
        return pv_no_memory(err);
    if (context->n_keys > 0)
        warn_of_context(context, labels, advice);
    if (unused[0] != '\0') {
        struct finding *note =
            finding_add(&advice->warnings, "labels_not_used",
                        "Among the latest runs these labels do not explain the time beyond problem "
                        "size and executors, so runs were not chosen by them: %.200s.",
                        unused);
        finding_text(note, "labels", unused);
    }
    return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}
