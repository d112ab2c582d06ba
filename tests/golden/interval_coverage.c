/*
 * Do intervals hold, and promises of deadlines, where each configuration ran few times? Runs of
 * public tables (docs/accuracy.md, "Coverage"):
 *
 *     interval_coverage [--draws N] [--seed N] [--alone] FILE.tsv ...
 *
 * Of every context the program draws executor counts and repetitions at random: the files are
 * sorted by time within a configuration, so the first repetitions would be the fastest. Runs drawn
 * are known, the other runs are asked for. Each table is an application of one team: fits learn how
 * far laws err from the other tables, unless --alone is given. Comma-separated lines on standard
 * output:
 *
 *     cell,APPLICATION,PLACE,REPETITIONS,COUNTS,RUNS,OPEN,IN80,IN90,IN95,ABOVE95,MISSED90,MISSED95,
 *         WIDTH95,WINKLER95,ERROR
 *
 * PLACE says where a run lies from the known runs: "ran" at a count that ran, "inside", "above" or
 * "below" at a count that did not run; "larger" with a problem larger than two or more sizes that
 * ran, "larger_than_one" than the one size that ran. RUNS are those with an interval; OPEN counts
 * runs whose interval has no ends. IN80 to MISSED95 are counts of runs: inside intervals, above the
 * upper end, and later than the shortest deadline that is promised with a probability of 0.9 or
 * 0.95. WIDTH95 is the sum of ln(upper / lower end), WINKLER95 the sum of the interval scores of
 * ln T, ERROR the sum of absolute percentage errors.
 */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/history/law_errors.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/selection/selection.h"
#include "public_runs.h"

enum {
    TABLES_MAX = 16,
    ROWS_MAX = 4096,
    COUNTS_MAX = 16,
    COUNTS_LEAST = 2,
    COUNTS_MOST = 5,
    LEVELS = 3
};
static const double levels[LEVELS] = {0.8, 0.9, 0.95};

enum { REPETITIONS = 4 };
static const size_t repetitions[REPETITIONS] = {1, 2, 3, 5};

enum place { RAN, INSIDE, ABOVE, BELOW, LARGER, LARGER_THAN_ONE, PLACES };
static const char *const place_names[PLACES] = {"ran",   "inside", "above",
                                                "below", "larger", "larger_than_one"};

/* --- what is counted --- */

struct cell {
    size_t runs;
    size_t open;
    size_t inside[LEVELS];
    size_t above;     /* the upper end at 95 % */
    size_t missed[2]; /* deadlines promised at 0.9 and 0.95 */
    double width;
    double winkler;
    double error;
};

static struct cell cells[PLACES][REPETITIONS][COUNTS_MOST + 1];

static void score_run(const struct model *model, const struct public_run *run, struct cell *cell)
{
    struct predictive predictive;
    double ends_s[2];
    bool known = model_predictive(model, run->problem_size, run->executors, &predictive);
    if (known)
        predictive_interval(&predictive, levels[LEVELS - 1], ends_s);
    if (!known || predictive.n == 0 || isnan(ends_s[0]) || isnan(ends_s[1])) {
        cell->open++;
        return;
    }
    double actual_s = run->duration_s;
    double tail = 1 - levels[LEVELS - 1];
    cell->runs++;
    cell->above += actual_s > ends_s[1];
    cell->width += log(ends_s[1] / ends_s[0]);
    cell->winkler += log(ends_s[1] / ends_s[0]) + 2 / tail * fmax(0, log(ends_s[0] / actual_s)) +
                     2 / tail * fmax(0, log(actual_s / ends_s[1]));
    cell->error += 100 * fabs(predictive.predicted_s - actual_s) / actual_s;
    for (size_t k = 0; k < 2; k++)
        cell->missed[k] += actual_s > predictive_quantile(&predictive, levels[k + 1]);
    for (size_t l = 0; l < LEVELS; l++) {
        predictive_interval(&predictive, levels[l], ends_s);
        cell->inside[l] += actual_s >= ends_s[0] && actual_s <= ends_s[1];
    }
}

static void print_cells(const char *application)
{
    for (size_t p = 0; p < PLACES; p++)
        for (size_t r = 0; r < REPETITIONS; r++)
            for (size_t k = COUNTS_LEAST; k <= COUNTS_MOST; k++) {
                const struct cell *c = &cells[p][r][k];
                if (c->runs + c->open == 0)
                    continue;
                printf("cell,%s,%s,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%.4f,%.4f,%.4f\n",
                       application, place_names[p], repetitions[r], k, c->runs, c->open,
                       c->inside[0], c->inside[1], c->inside[2], c->above, c->missed[0],
                       c->missed[1], c->width, c->winkler, c->error);
            }
}

/* --- a draw: some runs are known, some are asked for --- */

static struct {
    const struct public_run *known[ROWS_MAX];
    size_t n_known;
    const struct public_run *asked[ROWS_MAX];
    enum place places[ROWS_MAX];
    size_t n_asked;
    unsigned long seed;
    double law_error; /* that other applications show */
} draw;

static void shuffle(struct rng *rng, const struct public_run *runs[], size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)(rng_uniform(rng) * (double)i);
        const struct public_run *kept = runs[i - 1];
        runs[i - 1] = runs[j];
        runs[j] = kept;
    }
}

/* Executor counts of the runs of a group, in ascending order. */
static size_t find_counts(const struct public_table *table, size_t group, double counts[COUNTS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++) {
        double count = table->runs[i].executors;
        size_t at = n;
        if (table->runs[i].group != group)
            continue;
        while (at > 0 && counts[at - 1] >= count)
            at--;
        if ((at < n && counts[at] <= count) || n == COUNTS_MAX)
            continue;
        memmove(&counts[at + 1], &counts[at], (n - at) * sizeof *counts);
        counts[at] = count;
        n++;
    }
    return n;
}

/* `wanted` of n counts, in ascending order. */
static void
draw_counts(struct rng *rng, const double counts[], size_t n, size_t wanted, double drawn[])
{
    size_t taken = 0;
    for (size_t i = 0; i < n; i++)
        if (rng_uniform(rng) * (double)(n - i) < (double)(wanted - taken))
            drawn[taken++] = counts[i];
}

static bool is_drawn(const double drawn[], size_t n, double count)
{
    for (size_t i = 0; i < n; i++)
        if (drawn[i] >= count && drawn[i] <= count)
            return true;
    return false;
}

/* Some runs of each count drawn become known; false if a count has fewer. Where `rest`, the
 * others are asked for. */
static bool draw_runs(struct rng *rng,
                      const struct public_table *table,
                      size_t group,
                      const double drawn[],
                      size_t n,
                      size_t wanted,
                      bool rest)
{
    const struct public_run *runs[ROWS_MAX];
    for (size_t c = 0; c < n; c++) {
        size_t found = 0;
        for (size_t i = 0; i < table->n; i++)
            if (table->runs[i].group == group && is_drawn(&drawn[c], 1, table->runs[i].executors))
                runs[found++] = &table->runs[i];
        if (found < wanted)
            return false;
        shuffle(rng, runs, found);
        for (size_t i = 0; i < wanted; i++)
            draw.known[draw.n_known++] = runs[i];
        for (size_t i = wanted; rest && i < found; i++) {
            draw.places[draw.n_asked] = RAN;
            draw.asked[draw.n_asked++] = runs[i];
        }
    }
    return true;
}

static void score_draw(struct cell at[PLACES])
{
    static struct observation rows[ROWS_MAX];
    struct model_selection selection;
    struct pv_error err = {0};
    struct arena arena;
    for (size_t i = 0; i < draw.n_known; i++) {
        rows[i] = model_seen(draw.known[i]->problem_size, draw.known[i]->executors,
                             draw.known[i]->duration_s, (double)NAN);
        rows[i].law_error = draw.law_error;
    }
    arena_init(&arena, 0);
    bool selected = model_select(rows, draw.n_known, &arena, &selection, &err) == PV_OK &&
                    selection.selected != NULL;
    for (size_t i = 0; i < draw.n_asked; i++) {
        if (selected)
            score_run(&selection.selected->fit.model, draw.asked[i], &at[draw.places[i]]);
        else
            at[draw.places[i]].open++;
    }
    arena_fini(&arena);
}

static void add_cells(const struct cell at[PLACES], size_t r, size_t k)
{
    for (size_t p = 0; p < PLACES; p++) {
        struct cell *sum = &cells[p][r][k];
        sum->runs += at[p].runs;
        sum->open += at[p].open;
        sum->above += at[p].above;
        sum->width += at[p].width;
        sum->winkler += at[p].winkler;
        sum->error += at[p].error;
        for (size_t l = 0; l < LEVELS; l++)
            sum->inside[l] += at[p].inside[l];
        for (size_t l = 0; l < 2; l++)
            sum->missed[l] += at[p].missed[l];
    }
}

/* Runs at other counts of one group are asked for, and other repetitions at the same counts. */
static void
score_group(struct rng *rng, const struct public_table *table, size_t group, size_t r, size_t k)
{
    double counts[COUNTS_MAX];
    double drawn[COUNTS_MOST];
    struct cell at[PLACES] = {{0}};
    size_t n = find_counts(table, group, counts);
    if (n <= k)
        return;
    draw.n_known = draw.n_asked = 0;
    draw_counts(rng, counts, n, k, drawn);
    if (!draw_runs(rng, table, group, drawn, k, repetitions[r], true))
        return;
    for (size_t i = 0; i < table->n; i++) {
        const struct public_run *run = &table->runs[i];
        if (run->group != group || is_drawn(drawn, k, run->executors))
            continue;
        draw.places[draw.n_asked] = run->executors < drawn[0]       ? BELOW
                                    : run->executors > drawn[k - 1] ? ABOVE
                                                                    : INSIDE;
        draw.asked[draw.n_asked++] = run;
    }
    score_draw(at);
    add_cells(at, r, k);
}

/* Groups of a family, one a problem size, in ascending order of size. */
static size_t
find_sizes(const struct public_table *table, size_t family, const struct public_run *sizes[])
{
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++) {
        const struct public_run *run = &table->runs[i];
        size_t at = n;
        if (run->family != family)
            continue;
        while (at > 0 && sizes[at - 1]->problem_size >= run->problem_size)
            at--;
        if ((at < n && sizes[at]->problem_size <= run->problem_size) || n == COUNTS_MAX)
            continue;
        memmove(&sizes[at + 1], &sizes[at], (n - at) * sizeof(const struct public_run *));
        sizes[at] = run;
        n++;
    }
    return n;
}

/* The largest size of a family is asked for where smaller ones ran: all of them, or the next. */
static void score_larger(
    struct rng *rng, const struct public_table *table, size_t family, size_t r, size_t k, bool one)
{
    const struct public_run *sizes[COUNTS_MAX + 1];
    double counts[COUNTS_MAX];
    double drawn[COUNTS_MOST];
    struct cell at[PLACES] = {{0}};
    size_t n_sizes = find_sizes(table, family, sizes);
    if (n_sizes < (one ? 2 : 3))
        return;
    size_t largest = sizes[n_sizes - 1]->group;
    size_t n = find_counts(table, largest, counts);
    if (n < k)
        return;
    draw.n_known = draw.n_asked = 0;
    draw_counts(rng, counts, n, k, drawn);
    for (size_t s = one ? n_sizes - 2 : 0; s + 1 < n_sizes; s++)
        if (!draw_runs(rng, table, sizes[s]->group, drawn, k, repetitions[r], false))
            return;
    for (size_t i = 0; i < table->n; i++)
        if (table->runs[i].group == largest && is_drawn(drawn, k, table->runs[i].executors)) {
            draw.places[draw.n_asked] = one ? LARGER_THAN_ONE : LARGER;
            draw.asked[draw.n_asked++] = &table->runs[i];
        }
    score_draw(at);
    add_cells(at, r, k);
}

/* What fits to the groups of a table show; the labels of a history's latest run select one group.
 */
static size_t find_law_errors(const struct public_table *table, double errors[])
{
    static struct observation rows[ROWS_MAX];
    size_t shown = 0;
    for (size_t group = 0; group < table->groups; group++) {
        struct model_selection selection;
        struct pv_error err = {0};
        struct arena arena;
        size_t n = 0;
        for (size_t i = 0; i < table->n; i++)
            if (table->runs[i].group == group)
                rows[n++] = model_seen(table->runs[i].problem_size, table->runs[i].executors,
                                       table->runs[i].duration_s, (double)NAN);
        arena_init(&arena, 0);
        double each = (double)NAN;
        if (model_select(rows, n, &arena, &selection, &err) == PV_OK)
            each = law_errors_shown(&selection);
        if (!isnan(each))
            errors[shown++] = each;
        arena_fini(&arena);
    }
    return shown;
}

/* What the other tables show: one group of each, drawn at random. */
static double learn(struct rng *rng, const struct law_errors shown[], size_t n, size_t table)
{
    double others[TABLES_MAX];
    size_t found = 0;
    for (size_t k = 0; k < n; k++)
        if (k != table && shown[k].n > 0)
            others[found++] = shown[k].at[(size_t)(rng_uniform(rng) * (double)shown[k].n)];
    return law_errors_std(others, found);
}

static void score_table(struct rng *rng,
                        const struct public_table tables[],
                        const struct law_errors shown[],
                        size_t n,
                        size_t at,
                        size_t draws)
{
    const struct public_table *table = &tables[at];
    struct rng others = rng_make(draw.seed, TABLES_MAX + at);
    memset(cells, 0, sizeof cells);
    for (size_t d = 0; d < draws; d++) {
        draw.law_error = learn(&others, shown, n, at);
        for (size_t r = 0; r < REPETITIONS; r++)
            for (size_t k = COUNTS_LEAST; k <= COUNTS_MOST; k++) {
                for (size_t group = 0; group < table->groups; group++)
                    score_group(rng, table, group, r, k);
                for (size_t family = 0; family < table->families; family++)
                    for (int one = 0; one < 2; one++)
                        score_larger(rng, table, family, r, k, one);
            }
    }
    print_cells(table->name);
}

static void score_tables(const struct public_table tables[], size_t n, size_t draws, bool alone)
{
    static double errors[TABLES_MAX][ROWS_MAX];
    struct law_errors shown[TABLES_MAX];
    for (size_t i = 0; i < n; i++)
        shown[i] =
            (struct law_errors){errors[i], alone ? 0 : find_law_errors(&tables[i], errors[i])};
    for (size_t i = 0; i < n; i++) {
        struct rng rng = rng_make(draw.seed, i);
        score_table(&rng, tables, shown, n, i, draws);
    }
}

int main(int argc, char **argv)
{
    static struct public_table tables[TABLES_MAX];
    size_t draws = 1;
    bool alone = false;
    struct arena arena;
    size_t n = 0;
    bool good = true;
    gsl_set_error_handler_off();
    draw.seed = 1;
    arena_init(&arena, 0);
    for (int i = 1; good && i < argc; i++) {
        if (strcmp(argv[i], "--draws") == 0 && i + 1 < argc)
            draws = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            draw.seed = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--alone") == 0)
            alone = true;
        else
            good = n < TABLES_MAX && public_table_read(argv[i], &arena, &tables[n++]);
    }
    good = good && n > 0;
    if (good)
        score_tables(tables, n, draws, alone);
    arena_fini(&arena);
    return good ? 0 : 1;
}
