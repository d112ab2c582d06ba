/* Outliers among the runs of a history; core/scaling/drift/drift.h says how they are found. */
#include <math.h>
#include <stdlib.h>

#include "core/scaling/drift/drift_internal.h"

/* Fewer deviations tell no spread. */
enum { LEAST_REPEATED = 5, LEAST_ALONE = 8 };

/* How far run `run` is from what the others promise. */
struct deviation {
    size_t run;
    double promised; /* logarithm */
    double off;
};

struct deviations {
    struct deviation *items;
    size_t n;
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double watch_median(double values[], size_t n)
{
    qsort(values, n, sizeof *values, ascending);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Median logarithm of the other runs at the place of run i; how many there are. */
static size_t find_others(const struct watch_run runs[],
                          size_t first,
                          size_t n,
                          size_t i,
                          double room[],
                          double *promised)
{
    size_t others = 0;
    for (size_t j = first; j < n; j++)
        if (j != i && watch_same_place(&runs[j].seen, &runs[i].seen))
            room[others++] = log(runs[j].seen.duration_s);
    *promised = others == 0 ? (double)NAN : watch_median(room, others);
    return others;
}

/* No other run lies on its far side, along either axis that was varied. */
static bool is_at_an_end(const struct watch_run runs[], size_t first, size_t n, size_t i)
{
    const struct observation *seen = &runs[i].seen;
    bool fewer = false, more = false, smaller = false, larger = false, counts = false;
    bool sizes = false;
    for (size_t j = first; j < n; j++) {
        const struct observation *other = &runs[j].seen;
        if (j == i)
            continue;
        fewer = fewer || other->executors <= seen->executors;
        more = more || other->executors >= seen->executors;
        smaller = smaller || other->problem_size <= seen->problem_size;
        larger = larger || other->problem_size >= seen->problem_size;
        counts = counts || other->executors < seen->executors || other->executors > seen->executors;
        sizes = sizes || other->problem_size < seen->problem_size ||
                other->problem_size > seen->problem_size;
    }
    return (counts && !(fewer && more)) || (sizes && !(smaller && larger));
}

/* Runs beyond WATCH_OUTLIER robust standard deviations count less the further they are off. */
static void weigh(const struct deviations *all,
                  size_t least,
                  double noise,
                  double room[],
                  struct watch_verdict verdicts[])
{
    if (all->n < least)
        return;
    for (size_t i = 0; i < all->n; i++)
        room[i] = fabs(all->items[i].off);
    double spread = fmax(noise, 1.4826 * watch_median(room, all->n));
    for (size_t i = 0; i < all->n; i++) {
        const struct deviation *item = &all->items[i];
        double far = fabs(item->off) / spread;
        double weight = WATCH_OUTLIER / far * (WATCH_OUTLIER / far);
        struct watch_verdict *verdict = &verdicts[item->run];
        if (!(far > WATCH_OUTLIER) || verdict->weight <= weight)
            continue;
        *verdict = (struct watch_verdict){fmax(weight, WATCH_LEAST_WEIGHT), WATCH_OUTLYING,
                                          exp(item->promised), far};
    }
}

/* Runs that are alone at their place, against the law fitted without them. */
static enum pv_code compare_alone(const struct watch_run runs[],
                                  size_t first,
                                  size_t n,
                                  const bool alone[],
                                  const struct watch_verdict verdicts[],
                                  struct arena *scratch,
                                  struct deviations *found,
                                  struct pv_error *err)
{
    bool fitted = false;
    struct model_fit fit;
    struct observation *rows = arena_array(scratch, n, sizeof *rows);
    if (rows == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        rows[i] = runs[i].seen;
        rows[i].weight = verdicts[i].weight;
    }
    enum pv_code code = watch_fit_law(rows, n, scratch, &fit, &fitted, err);
    for (size_t k = 0; code == PV_OK && fitted && k < fit.n; k++) {
        const struct model_residual *residual = &fit.residuals[k];
        size_t i = residual->observation;
        if (i < first || !alone[i] || !(residual->left_out > 0) || is_at_an_end(runs, first, n, i))
            continue;
        found->items[found->n++] = (struct deviation){i, log(residual->left_out),
                                                      log(residual->actual / residual->left_out)};
    }
    return code;
}

enum pv_code watch_outliers(const struct watch_run runs[],
                            size_t first,
                            size_t n,
                            struct arena *scratch,
                            struct watch_verdict verdicts[],
                            struct pv_error *err)
{
    struct deviations repeated = {arena_array(scratch, n, sizeof *repeated.items), 0};
    struct deviations single = {arena_array(scratch, n, sizeof *single.items), 0};
    double *room = arena_array(scratch, n, sizeof *room);
    bool *alone = arena_calloc(scratch, n, sizeof *alone);
    size_t n_alone = 0;
    if (repeated.items == NULL || single.items == NULL || room == NULL || alone == NULL)
        return pv_no_memory(err);
    for (size_t i = first; i < n; i++) {
        double promised;
        size_t others = find_others(runs, first, n, i, room, &promised);
        alone[i] = others == 0;
        n_alone += alone[i];
        if (others >= 2) /* one other does not say which of the two is wrong */
            repeated.items[repeated.n++] =
                (struct deviation){i, promised, log(runs[i].seen.duration_s) - promised};
    }
    enum pv_code code = PV_OK;
    if (n_alone >= LEAST_ALONE)
        code = compare_alone(runs, first, n, alone, verdicts, scratch, &single, err);
    if (code != PV_OK)
        return code;
    weigh(&repeated, LEAST_REPEATED, WATCH_NOISE, room, verdicts);
    weigh(&single, LEAST_ALONE, WATCH_LAW_NOISE, room, verdicts);
    return PV_OK;
}
