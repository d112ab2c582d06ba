/*
 * Do runs that next-experiments chooses teach more than others? On the public C3O tables: every
 * family of runs that differ in data size and scale-out alone, with at least three sizes, is a
 * small world of cells (size, scale-out) of which some runs each are known. A history starts with
 * a run of each of its three cheapest cells; one run after another is added,
 *
 *   imse        by core/scaling/experiments, most certainty about the whole family
 *   cheapest    likewise, for what it costs
 *   d_optimal   likewise, the effects of the model separated best
 *   random      of any cell with equal chance (the mean of so many seeds)
 *   low_cost    the cheapest cell with the fewest runs in the history: cost alone
 *
 * and after each the model that `auto` selects predicts the medians of all cells. Printed: the mean
 * over families of its mean absolute percentage error, and the executor-seconds spent on the runs
 * that were added. A repetition of a cell is drawn by the same seed for all strategies. Where no
 * model can be fitted yet the mean of the history stands in for it.
 *
 *   bench_experiments [--min-executors M] [--within R] TABLE.tsv ...
 *                                cells with less, or whose runs differ by more than a factor of R,
 *                                are no part of it
 *   bench_experiments --time     milliseconds of the processor for a design of 20 runs among 2,000
 *                                points, by criterion and by how many cells have been run
 *
 * Nothing is tuned here; which runs stay for the error to be measured on does not depend on the
 * strategy, since all cells count.
 */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../golden/public_runs.h"
#include "base/rng.h"
#include "core/scaling/experiments/design.h"
#include "core/scaling/selection/selection.h"

enum {
    CELLS_MAX = 128,
    RUNS_OF_CELL = 16,
    STEPS = 7,
    START = 3,
    SEEDS = 40,
    HISTORY = START + STEPS
};

enum strategy { IMSE, CHEAPEST, D_OPTIMAL, RANDOM, LOW_COST, STRATEGIES };
static const char *const strategy_names[STRATEGIES] = {"imse", "cheapest", "d_optimal", "random",
                                                       "low_cost"};
static const enum experiments_criterion criteria[] = {EXPERIMENTS_IMSE, EXPERIMENTS_CHEAPEST,
                                                      EXPERIMENTS_D_OPTIMAL};

struct cell {
    struct effects_point at;
    double runs_s[RUNS_OF_CELL];
    size_t n;
    double median_s;
    double executor_s; /* of the median */
};

struct world {
    struct cell cells[CELLS_MAX]; /* by cost */
    size_t n;
};

struct history {
    struct observation rows[HISTORY];
    size_t n;
    size_t taken[CELLS_MAX];
    double spent;
};

/* Sums over families and seeds, by runs in the history. */
struct score {
    double error_percent[STEPS + 1];
    double spent[STEPS + 1];
    size_t n;
};

/* --- worlds --- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_cost(const void *a, const void *b)
{
    const struct cell *x = a;
    const struct cell *y = b;
    return (x->executor_s > y->executor_s) - (x->executor_s < y->executor_s);
}

static struct cell *cell_of(struct world *world, const struct public_run *run)
{
    for (size_t i = 0; i < world->n; i++)
        if (fabs(world->cells[i].at.problem_size - run->problem_size) < 1e-9 &&
            fabs(world->cells[i].at.executors - run->executors) < 1e-9)
            return &world->cells[i];
    if (world->n == CELLS_MAX)
        return NULL;
    struct cell *cell = &world->cells[world->n++];
    *cell = (struct cell){.at = {run->problem_size, run->executors}};
    return cell;
}

static size_t count_sizes(const struct world *world)
{
    size_t sizes = 0;
    for (size_t i = 0; i < world->n; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen ||
                   fabs(world->cells[j].at.problem_size - world->cells[i].at.problem_size) < 1e-9;
        sizes += !seen;
    }
    return sizes;
}

static double min_executors = 1;
static double within = (double)INFINITY;

static void drop_cells_beyond(struct world *world, double factor)
{
    size_t kept = 0;
    for (size_t i = 0; i < world->n; i++) {
        const struct cell *cell = &world->cells[i];
        double least = (double)INFINITY;
        double most = 0;
        for (size_t k = 0; k < cell->n; k++) {
            least = fmin(least, cell->runs_s[k]);
            most = fmax(most, cell->runs_s[k]);
        }
        if (most <= factor * least)
            world->cells[kept++] = *cell;
    }
    world->n = kept;
}

static bool make_world(const struct public_table *table, size_t family, struct world *world)
{
    world->n = 0;
    for (size_t i = 0; i < table->n; i++) {
        if (table->runs[i].family != family || table->runs[i].executors < min_executors)
            continue;
        struct cell *cell = cell_of(world, &table->runs[i]);
        if (cell != NULL && cell->n < RUNS_OF_CELL)
            cell->runs_s[cell->n++] = table->runs[i].duration_s;
    }
    drop_cells_beyond(world, within);
    for (size_t i = 0; i < world->n; i++) {
        struct cell *cell = &world->cells[i];
        double sorted[RUNS_OF_CELL];
        memcpy(sorted, cell->runs_s, sizeof sorted);
        qsort(sorted, cell->n, sizeof *sorted, ascending);
        cell->median_s = cell->n % 2 == 1 ? sorted[cell->n / 2]
                                          : (sorted[cell->n / 2 - 1] + sorted[cell->n / 2]) / 2;
        cell->executor_s = cell->median_s * cell->at.executors;
    }
    qsort(world->cells, world->n, sizeof *world->cells, by_cost);
    return count_sizes(world) >= 3 && world->n > HISTORY;
}

/* --- one history --- */

/* The runs of a cell come in an order that the seed decides. */
static double draw(const struct cell *cell, size_t cell_at, size_t nth, uint64_t seed)
{
    size_t order[RUNS_OF_CELL];
    struct rng rng = rng_make(seed, cell_at);
    for (size_t i = 0; i < cell->n; i++)
        order[i] = i;
    for (size_t i = cell->n - 1; i > 0; i--) {
        size_t j = (size_t)(rng_uniform(&rng) * (double)(i + 1));
        size_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    return cell->runs_s[order[nth % cell->n]];
}

static void add_run(const struct world *world, size_t at, uint64_t seed, struct history *history)
{
    const struct cell *cell = &world->cells[at];
    double time_s = draw(cell, at, history->taken[at]++, seed);
    history->rows[history->n++] =
        model_seen(cell->at.problem_size, cell->at.executors, time_s, (double)NAN);
    history->spent += time_s * cell->at.executors;
}

static const struct model *
select_model(const struct history *history, struct arena *arena, struct model_selection *selection)
{
    struct pv_error err = {0};
    if (model_select(history->rows, history->n, arena, selection, &err) != PV_OK) {
        fprintf(stderr, "%s\n", err.detail);
        exit(1);
    }
    return selection->selected == NULL ? NULL : &selection->selected->fit.model;
}

static double
error_of(const struct world *world, const struct history *history, const struct model *model)
{
    double mean_log = 0;
    double sum = 0;
    for (size_t i = 0; i < history->n; i++)
        mean_log += log(history->rows[i].duration_s) / (double)history->n;
    for (size_t i = 0; i < world->n; i++) {
        const struct cell *cell = &world->cells[i];
        double predicted_s = exp(mean_log);
        if (model != NULL) {
            const struct effects_law law = {.model = model};
            predicted_s = effects_time(&law, cell->at.problem_size, cell->at.executors);
        }
        if (!(predicted_s > 0) || !isfinite(predicted_s))
            predicted_s = 0;
        sum += 100 * fabs(predicted_s - cell->median_s) / cell->median_s;
    }
    return sum / (double)world->n;
}

/* --- strategies --- */

static bool is_left(const struct world *world, const struct history *history, size_t i)
{
    return history->taken[i] < world->cells[i].n;
}

static size_t by_design(const struct world *world,
                        const struct history *history,
                        const struct model *model,
                        enum experiments_criterion criterion,
                        struct arena *arena)
{
    struct effects_point allowed[CELLS_MAX];
    struct effects_point asked[CELLS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < world->n; i++) {
        asked[i] = world->cells[i].at;
        if (is_left(world, history, i))
            allowed[n++] = world->cells[i].at;
    }
    const struct experiments_question question = {.allowed = allowed,
                                                  .n_allowed = n,
                                                  .asked = asked,
                                                  .n_asked = world->n,
                                                  .criterion = criterion,
                                                  .count = 1,
                                                  .confidence = 0.95,
                                                  .executor_s_max = (double)NAN,
                                                  .doubt = EFFECTS_DOUBT};
    struct experiments_plan plan;
    struct pv_error err = {0};
    if (experiments_choose(history->rows, history->n, model, &question, arena, &plan, &err) !=
            PV_OK ||
        plan.n == 0) {
        fprintf(stderr, "no experiment: %s\n", err.detail);
        exit(1);
    }
    size_t i = 0;
    while (fabs(world->cells[i].at.problem_size - plan.items[0].at.problem_size) > 1e-9 ||
           fabs(world->cells[i].at.executors - plan.items[0].at.executors) > 1e-9)
        i++;
    return i;
}

static size_t at_random(const struct world *world, const struct history *history, struct rng *rng)
{
    size_t i;
    do
        i = (size_t)(rng_uniform(rng) * (double)world->n);
    while (!is_left(world, history, i));
    return i;
}

static size_t at_low_cost(const struct world *world, const struct history *history)
{
    size_t best = 0;
    for (size_t i = 1; i < world->n; i++)
        if (history->taken[i] < history->taken[best])
            best = i;
    return best;
}

static void
play(const struct world *world, enum strategy strategy, uint64_t seed, struct score *score)
{
    struct history history = {.n = 0};
    struct rng rng = rng_make(seed, 1000);
    for (size_t i = 0; i < START; i++)
        add_run(world, i, seed, &history);
    history.spent = 0;
    for (size_t step = 0; step <= STEPS; step++) {
        struct model_selection selection;
        struct arena arena;
        arena_init(&arena, 0);
        const struct model *model = select_model(&history, &arena, &selection);
        score->error_percent[step] += error_of(world, &history, model);
        score->spent[step] += history.spent;
        size_t next = strategy == RANDOM ? at_random(world, &history, &rng)
                      : strategy == LOW_COST
                          ? at_low_cost(world, &history)
                          : by_design(world, &history, model, criteria[strategy], &arena);
        if (step < STEPS)
            add_run(world, next, seed, &history);
        arena_fini(&arena);
    }
    score->n++;
}

/* --- tables --- */

static void print_scores(const char *name, size_t families, const struct score scores[])
{
    printf("\n%s, %zu families: error %% (executor-hours added)\n\n| runs |", name, families);
    for (size_t s = 0; s < STRATEGIES; s++)
        printf(" %s |", strategy_names[s]);
    printf("\n|---|");
    for (size_t s = 0; s < STRATEGIES; s++)
        printf("---|");
    printf("\n");
    for (size_t step = 0; step <= STEPS; step++) {
        printf("| %zu |", START + step);
        for (size_t s = 0; s < STRATEGIES; s++)
            printf(" %.1f (%.2f) |", scores[s].error_percent[step] / (double)scores[s].n,
                   scores[s].spent[step] / (double)scores[s].n / 3600);
        printf("\n");
    }
}

static size_t play_table(const struct public_table *table, struct score scores[])
{
    static struct world world;
    size_t families = 0;
    for (size_t family = 0; family < table->families; family++) {
        if (!make_world(table, family, &world))
            continue;
        families++;
        for (size_t s = 0; s < STRATEGIES; s++)
            for (uint64_t seed = 0; seed < SEEDS; seed++)
                play(&world, (enum strategy)s, seed, &scores[s]);
    }
    return families;
}

/* --- time --- */

enum { TIMED_SIZES = 20, TIMED_COUNTS = 100, TIMED_POINTS = TIMED_SIZES * TIMED_COUNTS };

static struct effects_point timed_point(size_t i)
{
    return (struct effects_point){8 * (double)(1 + i / TIMED_COUNTS),
                                  (double)(1 + i % TIMED_COUNTS)};
}

static double time_design(enum experiments_criterion criterion,
                          const struct effects_point allowed[],
                          const struct observation rows[],
                          size_t n)
{
    const struct experiments_question question = {.allowed = allowed,
                                                  .n_allowed = TIMED_POINTS,
                                                  .asked = &allowed[TIMED_POINTS - 16],
                                                  .n_asked = 16,
                                                  .criterion = criterion,
                                                  .count = EXPERIMENTS_MAX,
                                                  .confidence = 0.95,
                                                  .executor_s_max = (double)NAN,
                                                  .doubt = EFFECTS_DOUBT};
    struct arena arena;
    struct experiments_plan plan;
    struct pv_error err = {0};
    arena_init(&arena, 0);
    clock_t began = clock();
    if (experiments_choose(rows, n, NULL, &question, &arena, &plan, &err) != PV_OK)
        exit(1);
    double spent_ms = 1e3 * (double)(clock() - began) / CLOCKS_PER_SEC;
    arena_fini(&arena);
    return spent_ms;
}

static void print_times(void)
{
    static const size_t cells[] = {0, 10, 100, 256, 2000};
    static struct effects_point allowed[TIMED_POINTS];
    static struct observation rows[TIMED_POINTS];
    struct rng rng = rng_make(7, 0);
    for (size_t i = 0; i < TIMED_POINTS; i++) {
        const struct effects_point at = timed_point(i * 7 % TIMED_POINTS);
        double time_s = 20 + 3 * at.problem_size / at.executors + 0.5 * at.executors;
        allowed[i] = timed_point(i);
        rows[i] = model_seen(at.problem_size, at.executors, rng_lognormal(&rng, time_s, 0.05),
                             (double)NAN);
    }
    printf("%d runs among %d points: milliseconds\n\n| cells run | imse | cheapest | d_optimal |\n"
           "|---|---|---|---|\n",
           EXPERIMENTS_MAX, TIMED_POINTS);
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
        printf("| %zu |", cells[c]);
        for (size_t k = 0; k < sizeof criteria / sizeof *criteria; k++)
            printf(" %.1f |", time_design(criteria[k], allowed, rows, cells[c]));
        printf("\n");
    }
}

int main(int argc, char *argv[])
{
    gsl_set_error_handler_off();
    if (argc == 2 && strcmp(argv[1], "--time") == 0) {
        print_times();
        return 0;
    }
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        bool bound = strcmp(argv[first], "--within") == 0;
        if (!bound && strcmp(argv[first], "--min-executors") != 0) {
            fprintf(stderr, "%s: no such option\n", argv[first]);
            return 2;
        }
        *(bound ? &within : &min_executors) = strtod(argv[first + 1], NULL);
    }
    for (int i = first; i < argc; i++) {
        struct arena arena;
        struct public_table table;
        struct score scores[STRATEGIES] = {{.n = 0}};
        arena_init(&arena, 0);
        if (!public_table_read(argv[i], &arena, &table))
            return 1;
        size_t families = play_table(&table, scores);
        if (families > 0)
            print_scores(table.name, families, scores);
        else
            printf("\n%s: no family has three sizes\n", table.name);
        arena_fini(&arena);
    }
    return 0;
}
