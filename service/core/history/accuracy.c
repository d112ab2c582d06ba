#include "core/history/accuracy.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numerics/quantile.h"

/* --- one record --- */

static void count_promise(struct accuracy_promises *promises, const struct accuracy_entry *entry)
{
    promises->runs++;
    promises->promised += entry->promised;
    promises->met += entry->met ? 1 : 0;
}

/* Sums become means; of nothing there is none. */
static void close_promises(struct accuracy_promises *promises)
{
    promises->promised /= (double)promises->runs;
    promises->met /= (double)promises->runs;
}

static size_t bin_of(double probability)
{
    /* A product such as 0.3 x 10 may come out just below the whole number. */
    double at = floor(probability * ACCURACY_BINS + 1e-9);
    return at < 0 ? 0 : at >= ACCURACY_BINS ? ACCURACY_BINS - 1 : (size_t)at;
}

static void count_compared(struct accuracy *record, const struct accuracy_entry *entry)
{
    record->compared++;
    record->mape_percent += fabs(entry->error_percent);
    record->mean_error_percent += entry->error_percent;
    if (entry->inside_known && !isnan(entry->confidence)) {
        record->intervals++;
        record->inside_interval += entry->inside ? 1 : 0;
        record->nominal += entry->confidence;
    }
    if (!isnan(entry->promised)) {
        count_promise(&record->deadlines, entry);
        count_promise(&record->bins[bin_of(entry->promised)], entry);
    }
}

enum pv_code accuracy_of(const struct accuracy_entry entries[],
                         size_t n,
                         struct arena *scratch,
                         struct accuracy *record,
                         struct pv_error *err)
{
    struct accuracy made = {.count = n};
    struct arena_mark mark = arena_mark(scratch);
    double *errors = arena_array(scratch, n, sizeof *errors);
    if (errors == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        if (!entries[i].compared || isnan(entries[i].error_percent))
            continue;
        errors[made.compared] = fabs(entries[i].error_percent);
        count_compared(&made, &entries[i]);
    }
    made.median_ape_percent = quantile_median(errors, made.compared);
    made.mape_percent /= (double)made.compared;
    made.mean_error_percent /= (double)made.compared;
    made.inside_interval /= (double)made.intervals;
    made.nominal /= (double)made.intervals;
    close_promises(&made.deadlines);
    for (size_t i = 0; i < ACCURACY_BINS; i++)
        close_promises(&made.bins[i]);
    arena_rewind(scratch, mark);
    *record = made;
    return PV_OK;
}

/* --- groups --- */

struct placed {
    struct accuracy_entry entry;
    struct strview name;
    size_t at;
};

static int by_name(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    int order = compare_strview(x->name, y->name);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

static enum pv_code group(const struct accuracy_entry entries[],
                          size_t n,
                          bool by_model,
                          struct arena *arena,
                          struct accuracy_groups *groups,
                          struct pv_error *err)
{
    struct accuracy_groups made = {.items = arena_array(arena, n, sizeof *made.items)};
    struct placed *placed = arena_array(arena, n, sizeof *placed);
    struct accuracy_entry *sorted = arena_array(arena, n, sizeof *sorted);
    if (made.items == NULL || placed == NULL || sorted == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        placed[i] =
            (struct placed){entries[i], by_model ? entries[i].model : entries[i].application, i};
    qsort(placed, n, sizeof *placed, by_name);
    for (size_t i = 0; i < n; i++)
        sorted[i] = placed[i].entry;
    for (size_t first = 0, end = 0; first < n; first = end) {
        while (end < n && compare_strview(placed[end].name, placed[first].name) == 0)
            end++;
        struct accuracy_group *item = &made.items[made.n++];
        item->name = placed[first].name;
        PV_TRY(accuracy_of(sorted + first, end - first, arena, &item->record, err));
    }
    *groups = made;
    return PV_OK;
}

enum pv_code accuracy_by_application(const struct accuracy_entry entries[],
                                     size_t n,
                                     struct arena *arena,
                                     struct accuracy_groups *groups,
                                     struct pv_error *err)
{
    return group(entries, n, false, arena, groups, err);
}

enum pv_code accuracy_by_model(const struct accuracy_entry entries[],
                               size_t n,
                               struct arena *arena,
                               struct accuracy_groups *groups,
                               struct pv_error *err)
{
    return group(entries, n, true, arena, groups, err);
}

/* --- one run --- */

const char *accuracy_interval(const struct run *run, const struct accuracy_advised *advised)
{
    const double *ends_s = advised->interval_s;
    bool followed =
        (run->executors <= 0 || run->executors == advised->executors) &&
        (run->cores_per_executor <= 0 || run->cores_per_executor == advised->cores_per_executor);
    bool bounded = !isnan(ends_s[0]) || !isnan(ends_s[1]);
    if (!run->succeeded || !(run->duration_s > 0) || !followed || !bounded)
        return "other";
    if (run->duration_s < ends_s[0])
        return "faster";
    return run->duration_s > ends_s[1] ? "slower" : "inside";
}

const char *accuracy_deadline(const struct run *run, const struct accuracy_advised *advised)
{
    bool ended = !run->succeeded || run->duration_s > 0;
    if (!ended || isnan(advised->deadline_s))
        return NULL;
    return run->succeeded && run->duration_s <= advised->deadline_s ? "met" : "missed";
}
