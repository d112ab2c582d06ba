#include "codec/scheduling/speculation_history.h"

#include <stdlib.h>

#include "base/order.h"
#include "base/plural.h"
#include "base/rounding.h"

enum { NAME_BYTES = 64 };

struct codec_speculation_past {
    struct strview id;
    size_t place; /* in the order of the request */
    double elapsed_s;
    double progress;
};

static int compare_past(const void *a, const void *b)
{
    const struct codec_speculation_past *x = a;
    const struct codec_speculation_past *y = b;
    return compare_strview(x->id, y->id);
}

/* The tasks of a state by id; ids are borrowed. */
static enum pv_code sort_tasks(const struct codec_speculation *now,
                               struct arena *arena,
                               struct codec_speculation_past **tasks,
                               size_t *n,
                               struct pv_error *err)
{
    size_t all = 0;
    for (size_t i = 0; i < now->n_nodes; i++)
        all += now->nodes[i].n_running;
    struct codec_speculation_past *sorted = arena_array(arena, all, sizeof *sorted);
    if (sorted == NULL)
        return pv_no_memory(err);
    *n = 0;
    for (size_t i = 0; i < now->n_nodes; i++) {
        for (size_t t = 0; t < now->nodes[i].n_running; t++) {
            const struct codec_speculation_task *task = &now->nodes[i].running[t];
            sorted[*n] =
                (struct codec_speculation_past){task->id, *n, task->elapsed_s, task->progress};
            (*n)++;
        }
    }
    qsort(sorted, all, sizeof *sorted, compare_past);
    *tasks = sorted;
    return PV_OK;
}

/* Of one kind: how often, and the first one in the order of the request. */
struct contradiction {
    size_t count;
    const struct codec_speculation_past *first;
};

static void note(struct contradiction *seen, const struct codec_speculation_past *task)
{
    seen->count++;
    if (seen->first == NULL || task->place < seen->first->place)
        seen->first = task;
}

static bool fell(double now, double before)
{
    return now < before && !rounding_equal(now, before);
}

static void warn(const struct contradiction *seen,
                 const char *code,
                 const char *what,
                 struct findings *warnings)
{
    if (seen->count == 0)
        return;
    struct strview first = strview_clip(seen->first->id, NAME_BYTES);
    struct finding *finding = finding_add(
        warnings, code, "Of %zu task%s %s is less than in the state before, the first is %.*s.",
        seen->count, PLURAL(seen->count), what, (int)first.n, first.at);
    finding_count(finding, seen->count);
    finding_text(finding, "task", seen->first->id.at);
}

static void compare(const struct codec_speculation_history *before,
                    const struct codec_speculation_past tasks[],
                    size_t n,
                    struct findings *warnings)
{
    struct contradiction progress = {0, NULL};
    struct contradiction elapsed = {0, NULL};
    for (size_t i = 0, k = 0; i < n && k < before->n;) {
        int order = compare_strview(tasks[i].id, before->tasks[k].id);
        if (order == 0 && fell(tasks[i].progress, before->tasks[k].progress))
            note(&progress, &tasks[i]);
        if (order == 0 && fell(tasks[i].elapsed_s, before->tasks[k].elapsed_s))
            note(&elapsed, &tasks[i]);
        i += order <= 0;
        k += order >= 0;
    }
    warn(&progress, "progress_fell", "the progress", warnings);
    warn(&elapsed, "elapsed_fell", "the time so far", warnings);
}

/* Texts too: those of the state go with it. */
static enum pv_code remember(struct codec_speculation_history *history,
                             const struct codec_speculation_past tasks[],
                             size_t n,
                             struct arena *beside,
                             struct pv_error *err)
{
    codec_speculation_forget(history);
    arena_init_beside(&history->arena, beside, 0);
    history->tasks = arena_array(&history->arena, n, sizeof *history->tasks);
    if (history->tasks == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        history->tasks[i] = tasks[i];
        history->tasks[i].id = arena_copy(&history->arena, tasks[i].id);
        if (history->tasks[i].id.at == NULL)
            return pv_no_memory(err);
    }
    history->n = n;
    return PV_OK;
}

enum pv_code codec_speculation_follow(struct codec_speculation_history *history,
                                      const struct codec_speculation *now,
                                      struct arena *scratch,
                                      struct findings *warnings,
                                      struct pv_error *err)
{
    struct codec_speculation_past *tasks = NULL;
    size_t n = 0;
    PV_TRY(sort_tasks(now, scratch, &tasks, &n, err));
    compare(history, tasks, n, warnings);
    PV_TRY(findings_check(warnings, err));
    return remember(history, tasks, n, scratch, err);
}

void codec_speculation_forget(struct codec_speculation_history *history)
{
    arena_fini(&history->arena);
    *history = (struct codec_speculation_history){.n = 0};
}
