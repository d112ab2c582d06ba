/*
 * The load of an executor, N/m, at which it does most (IPSO section 2.5.2: more tasks an executor
 * spread the overhead of scale-out, until they no longer fit into its memory).
 *
 * What an executor does, N/(m T), depends on m as well, and not every load was run on every m. Its
 * logarithm is taken as the sum of an effect of m and an effect of the load; both are found by
 * sweeps of means (a balanced table needs one).
 */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/diagnosis/diagnosis_internal.h"

/* Always as many, so that no tolerance decides; a balanced table is done after the first. */
enum { SWEEPS = 200 };

/* A load is worse, and not just by chance, when an executor does this much less. */
static const double worse = 0.9;

/* The runs of one load on one executor count. */
struct cell {
    size_t load;
    size_t count;
    double executors;
    double rate; /* mean of ln(N/(m T)) */
    size_t runs;
    size_t spilled;
    size_t spill_known;
};

struct table {
    struct cell *cells;
    size_t n;
    double *of_load; /* effects */
    double *of_count;
    double *seen; /* cells of each */
    size_t loads;
    size_t counts;
};

static int by_load(const void *a, const void *b)
{
    const struct diagnosis_run *x = a;
    const struct diagnosis_run *y = b;
    int order = compare_double(x->problem_size / x->executors, y->problem_size / y->executors);
    if (order == 0)
        order = compare_double(x->executors, y->executors);
    return order != 0 ? order : compare_double(x->duration_s, y->duration_s);
}

static double load_of(const struct diagnosis_run *run)
{
    return run->problem_size / run->executors;
}

/* Executor counts that were run, ascending. */
static size_t list_counts(const struct diagnosis_run runs[], size_t n, double counts[])
{
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        counts[i] = runs[i].executors;
    qsort(counts, n, sizeof *counts, order_by_double);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || counts[i] != counts[distinct - 1])
            counts[distinct++] = counts[i];
    return distinct;
}

static size_t find_count(const double counts[], size_t n, double executors)
{
    size_t low = 0;
    while (low + 1 < n && counts[low] < executors)
        low++;
    return low;
}

static void add_to_cell(const struct diagnosis_run *run, struct cell *cell)
{
    double rate = log(load_of(run) / run->duration_s);
    cell->runs++;
    cell->rate += (rate - cell->rate) / (double)cell->runs;
    if (isnan(run->spilled_bytes))
        return;
    cell->spill_known++;
    cell->spilled += run->spilled_bytes > 0;
}

/* runs ascending by load. The loads' own values go to `values`. */
static void best_load_fill(const struct diagnosis_run runs[],
                           size_t n,
                           const double counts[],
                           struct table *table,
                           double values[])
{
    double first = 0;
    for (size_t i = 0; i < n; i++) {
        double load = load_of(&runs[i]);
        if (i == 0 || !(load < first * diagnosis_same_load)) {
            if (table->loads == DIAGNOSIS_LOADS_MAX)
                return;
            first = load;
            values[table->loads++] = load;
        }
        size_t at = table->loads - 1;
        size_t count = find_count(counts, table->counts, runs[i].executors);
        size_t c = 0;
        while (c < table->n && (table->cells[c].load != at || table->cells[c].count != count))
            c++;
        if (c == table->n)
            table->cells[table->n++] =
                (struct cell){.load = at, .count = count, .executors = runs[i].executors};
        add_to_cell(&runs[i], &table->cells[c]);
    }
}

/* Means of what the other effect leaves, by turns. */
static void best_load_sweep(const struct table *table, double effects[], size_t n, bool of_load)
{
    for (size_t e = 0; e < n; e++)
        effects[e] = table->seen[e] = 0;
    for (size_t c = 0; c < table->n; c++) {
        const struct cell *cell = &table->cells[c];
        size_t e = of_load ? cell->load : cell->count;
        double other = of_load ? table->of_count[cell->count] : table->of_load[cell->load];
        table->seen[e]++;
        effects[e] += (cell->rate - other - effects[e]) / table->seen[e];
    }
}

/* Only loads that share executor counts with others can be compared: those reached from the load
 * with most cells. */
static void find_joined(const struct table *table, bool joined[])
{
    size_t most = 0;
    size_t start = 0;
    for (size_t l = 0; l < table->loads; l++) {
        size_t cells = 0;
        joined[l] = false;
        for (size_t c = 0; c < table->n; c++)
            cells += table->cells[c].load == l;
        if (cells > most) {
            most = cells;
            start = l;
        }
    }
    bool grew = table->loads > 0;
    if (grew)
        joined[start] = true;
    while (grew) {
        grew = false;
        for (size_t a = 0; a < table->n; a++)
            for (size_t b = 0; b < table->n; b++)
                if (table->cells[a].count == table->cells[b].count &&
                    joined[table->cells[a].load] && !joined[table->cells[b].load])
                    grew = joined[table->cells[b].load] = true;
    }
}

static void put_loads(const struct table *table,
                      const double values[],
                      const bool joined[],
                      struct diagnosis_best_load *best)
{
    double top = (double)-INFINITY;
    for (size_t l = 0; l < table->loads; l++)
        if (joined[l])
            top = fmax(top, table->of_load[l]);
    for (size_t l = 0; l < table->loads; l++) {
        if (!joined[l])
            continue;
        struct diagnosis_load load = {.load = values[l],
                                      .throughput = exp(table->of_load[l] - top)};
        size_t spilled = 0;
        size_t known = 0;
        for (size_t c = 0; c < table->n; c++) {
            if (table->cells[c].load != l)
                continue;
            load.runs += table->cells[c].runs;
            spilled += table->cells[c].spilled;
            known += table->cells[c].spill_known;
        }
        load.spilled = known > 0 ? (double)spilled / (double)known : (double)NAN;
        if (table->of_load[l] == top)
            best->best = best->n;
        best->loads[best->n++] = load;
    }
}

/* The first load beyond the best with clearly less, and what the memory says. */
static void find_limit(struct diagnosis_best_load *best)
{
    for (size_t l = best->best + 1; l < best->n && !best->limited; l++) {
        best->limited = best->loads[l].throughput < worse;
        best->limit = l;
    }
    if (best->limited)
        best->spills = best->loads[best->limit].spilled > best->loads[best->best].spilled &&
                       best->loads[best->limit].spilled >= 0.5;
}

/* A step of the time over the load, the effect of the executor count taken out. */
static enum pv_code
find_step(struct diagnosis_best_load *best, struct arena *arena, struct pv_error *err)
{
    double *load = arena_array(arena, best->n, sizeof *load);
    double *time = arena_array(arena, best->n, sizeof *time);
    if (load == NULL || time == NULL)
        return pv_no_memory(err);
    /* In units of the least load, since a step is looked for from 1 on. */
    for (size_t l = 0; l < best->n; l++) {
        load[l] = best->loads[l].load / best->loads[0].load;
        time[l] = load[l] / best->loads[l].throughput;
    }
    enum pv_code code = step_find(load, time, best->n, arena, &best->step, err);
    if (code == PV_OK && best->step.found) {
        best->step.last_before *= best->loads[0].load;
        best->step.first_after *= best->loads[0].load;
        best->step.at *= best->loads[0].load;
    }
    return code;
}

static enum pv_code best_load_make_table(struct diagnosis_run runs[],
                                         size_t n,
                                         struct arena *arena,
                                         struct table *table,
                                         double values[],
                                         struct pv_error *err)
{
    double *counts = arena_array(arena, n, sizeof *counts);
    table->cells = arena_array(arena, n, sizeof *table->cells);
    table->of_load = arena_calloc(arena, DIAGNOSIS_LOADS_MAX, sizeof *table->of_load);
    table->of_count = arena_calloc(arena, n, sizeof *table->of_count);
    table->seen = arena_calloc(arena, n + DIAGNOSIS_LOADS_MAX, sizeof *table->seen);
    if (counts == NULL || table->cells == NULL || table->seen == NULL || table->of_load == NULL ||
        table->of_count == NULL)
        return pv_no_memory(err);
    table->counts = list_counts(runs, n, counts);
    qsort(runs, n, sizeof *runs, by_load);
    best_load_fill(runs, n, counts, table, values);
    for (int i = 0; i < SWEEPS; i++) {
        best_load_sweep(table, table->of_count, table->counts, false);
        best_load_sweep(table, table->of_load, table->loads, true);
    }
    return PV_OK;
}

enum pv_code diagnosis_find_best_load(const struct diagnosis_run runs[],
                                      size_t n,
                                      struct arena *arena,
                                      struct diagnosis_best_load *best,
                                      struct pv_error *err)
{
    struct table table = {.n = 0};
    double values[DIAGNOSIS_LOADS_MAX];
    bool joined[DIAGNOSIS_LOADS_MAX];
    *best = (struct diagnosis_best_load){.n = 0};
    struct diagnosis_run *own = arena_array(arena, n, sizeof *own);
    best->loads = arena_array(arena, DIAGNOSIS_LOADS_MAX, sizeof *best->loads);
    if (own == NULL || best->loads == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        own[i] = runs[i];
    PV_TRY(best_load_make_table(own, n, arena, &table, values, err));
    find_joined(&table, joined);
    put_loads(&table, values, joined, best);
    if (best->n < 2) { /* nothing to compare it with */
        best->n = 0;
        return PV_OK;
    }
    find_limit(best);
    return find_step(best, arena, err);
}
