/*
 * Traces through simulated schedulers against what others' simulators make of them: Pigeon's own,
 * with its list of reserved workers corrected, and Eagle's, for Sparrow as well (data/peer-figures.md
 * of the shared data, sections 1 and 2):
 *
 *     test_pigeon_traces [--quick]
 *
 * Ours are medians over seeds. A figure of theirs is near when it lies within the spread of ours, or
 * outside by a share of it that is allowed. --quick: one seed, and nothing is compared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "pigeon_runs.h"

enum { SKIPPED = 77 };

#define STRICT TASKS_WEIGHT_INFINITE

/* Half of the last of three digits that are printed there. */
static const double ROUNDING = 0.005;

/* Eagle's simulator takes whole milliseconds, and three seeds. */
static const double NEAR = 0.1;

/* Their figures are no further apart than what their seeds are, and say nothing about an order. */
static const double EQUAL = 0.1;

/* The schedulers whose figures are there for every trace. */
enum { PIGEON, SPARROW, EAGLE, SCHEDULERS };

static const enum tasks_policy_id policies[SCHEDULERS] = {TASKS_PIGEON, TASKS_SPARROW, TASKS_EAGLE};
static const unsigned seeds[SCHEDULERS] = {20, 5, 5};

struct row {
    const char *trace;
    double percent;
    uint32_t workers;
    double figures[SCHEDULERS][PIGEON_FIGURES];
};

/* Groups of 30 workers, a tenth of them reserved, of all of Eagle's as well; strict priority. */
static const struct row rows[] = {
    {"NGO",
     50,
     120,
     {{0.351, 0.931, 2.64, 170, 210, 257, 16.95},
      {0.737, 142, 176, 150, 182, 238, 48.7},
      {0.343, 0.868, 1.88, 173, 217, 262, 17.1}}},
    {"NGO",
     70,
     120,
     {{0.403, 1.37, 4.26, 189, 237, 277, 18.77},
      {49.4, 171, 201, 163, 205, 253, 75.3},
      {0.436, 14.8, 36.1, 187, 239, 279, 21.3}}},
    {"NGO",
     90,
     120,
     {{0.503, 1.88, 4.02, 200, 255, 293, 19.92},
      {101, 189, 217, 170, 219, 262, 103},
      {1.00, 49.1, 58.1, 192, 254, 302, 32.6}}},
    {"NGO",
     90,
     180,
     {{0.375, 1.00, 2.92, 119, 150, 206, 12.11},
      {3.37, 103, 127, 106, 130, 191, 40.1},
      {0.353, 0.925, 6.51, 117, 154, 213, 12.2}}},
    {"NGO",
     90,
     240,
     {{0.341, 0.869, 1.67, 80.4, 98.2, 156, 8.34},
      {0.581, 61.6, 83.7, 74.2, 91.4, 144, 20.4},
      {0.334, 0.837, 1.35, 78.9, 111, 156, 8.45}}},
    {"NYH",
     50,
     330,
     {{0.290, 1.00, 3.07, 8.42, 40.1, 60.0, 1.85},
      {0.579, 10.9, 19.6, 12.2, 43.6, 64.9, 4.57},
      {0.269, 0.904, 2.71, 7.55, 39.3, 62.4, 1.81}}},
    {"NYH",
     70,
     330,
     {{0.530, 2.17, 4.09, 18.9, 48.3, 73.9, 3.01},
      {6.35, 26.1, 32.6, 22.1, 52.4, 76.5, 11.2},
      {0.411, 40.2, 73.0, 14.2, 44.0, 72.8, 9.43}}},
    {"NYH",
     90,
     330,
     {{1.07, 3.14, 5.25, 35.3, 73.3, 105, 5.18},
      {19.7, 51.4, 61.0, 34.8, 69.5, 100, 25.7},
      {11.8, 149, 182, 23.8, 57.3, 87.0, 42.6}}},
    {"NYH",
     90,
     420,
     {{0.497, 1.91, 4.04, 16.8, 44.6, 69.4, 2.74},
      {5.85, 22.6, 29.2, 20.1, 51.0, 72.9, 10.1},
      {0.390, 28.9, 56.4, 12.6, 43.1, 68.1, 7.33}}},
    {"NYH",
     90,
     660,
     {{0.263, 0.814, 1.26, 6.67, 38.3, 59.3, 1.68},
      {0.424, 5.86, 14.3, 9.33, 40.6, 59.8, 3.05},
      {0.258, 0.806, 1.25, 6.88, 38.2, 59.4, 1.68}}},
};

/* Their spread over 20 seeds, where it is published: from .. to, of percentiles. */
static const struct {
    size_t row;
    double least[6];
    double most[6];
} spreads[] = {
    {2, {0.486, 1.71, 3.34, 195, 252, 285}, {0.506, 2.09, 4.67, 202, 267, 302}},
    {5, {0.286, 0.978, 2.42, 8.2, 39.0, 59.9}, {0.293, 1.03, 3.48, 8.79, 40.1, 60.6}},
    {7, {0.987, 2.78, 4.54, 30.9, 69.2, 101}, {1.11, 3.49, 7.38, 36.2, 75.2, 111}},
};

/* Pigeon with other terms, on the traces of 90 percent and the nominal cluster. They count W short
 * tasks before a long one, ours W - 1. */
struct variant {
    const char *name;
    const char *trace;
    uint32_t workers;
    uint32_t groups;
    double reserved_share;
    uint64_t weight;
    double figures[PIGEON_FIGURES];
};

static const struct variant variants[] = {
    {"12 groups", "NGO", 120, 12, 0.1, STRICT, {0.644, 2.50, 5.80, 203, 263, 298, 20.60}},
    {"2 groups", "NGO", 120, 2, 0.1, STRICT, {0.457, 1.66, 3.33, 198, 254, 290, 19.74}},
    {"1 group", "NGO", 120, 1, 0.1, STRICT, {0.466, 1.69, 3.26, 198, 252, 287, 19.61}},
    {"none reserved", "NGO", 120, 4, 0, STRICT, {0.994, 4.16, 10.8, 191, 242, 280, 19.95}},
    {"33 groups", "NYH", 330, 33, 0.1, STRICT, {2.10, 5.80, 8.73, 50.3, 92.6, 125, 7.63}},
    {"1 group", "NYH", 330, 1, 0.1, STRICT, {0.576, 1.80, 3.15, 28.3, 65.8, 98.4, 4.14}},
    {"none reserved", "NYH", 330, 11, 0, STRICT, {1.73, 4.56, 8.80, 35.0, 71.2, 104, 5.77}},
    {"their W = 10", "NGO", 120, 4, 0.1, 11, {0.545, 2.73, 5.70, 199, 254, 293, 20.06}},
    {"their W = 10", "NYH", 330, 11, 0.1, 11, {8.79, 16.8, 20.7, 31.0, 67.4, 101, 11.31}},
};

enum { ROWS = sizeof rows / sizeof *rows, VARIANTS = sizeof variants / sizeof *variants };

static struct pigeon_spread found[ROWS][SCHEDULERS];
static struct pigeon_spread found_of_variants[VARIANTS];

/* --- simulation --- */

static bool simulate_row(const char *shared, size_t r, bool quick)
{
    struct tasks_model model;
    struct arena arena;
    arena_init(&arena, 0);
    bool there =
        pigeon_model(shared, rows[r].trace, rows[r].percent, rows[r].workers, &arena, &model);
    for (size_t s = 0; there && s < SCHEDULERS; s++) {
        struct tasks_terms terms = tasks_terms_default(policies[s]);
        terms.groups = rows[r].workers / 30;
        terms.reserved_share = 0.1;
        terms.weight = STRICT;
        pigeon_simulate(&model, &terms, quick ? 1 : seeds[s], &found[r][s]);
    }
    arena_fini(&arena);
    return there;
}

static void simulate_variant(const char *shared, size_t v, bool quick)
{
    const struct variant *variant = &variants[v];
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    struct tasks_model model;
    struct arena arena;
    arena_init(&arena, 0);
    if (!pigeon_model(shared, variant->trace, 90, variant->workers, &arena, &model))
        abort();
    terms.groups = variant->groups;
    terms.reserved_share = variant->reserved_share;
    terms.weight = variant->weight;
    pigeon_simulate(&model, &terms, variant->groups > 1 && !quick ? seeds[PIGEON] : 1,
                    &found_of_variants[v]);
    arena_fini(&arena);
}

/* --- tables --- */

static void print_head(const char *first)
{
    printf("| %s | short 50 %% | 90 %% | 99 %% | long 50 %% | 90 %% | 99 %% | mean |\n"
           "|---|---|---|---|---|---|---|---|\n",
           first);
}

static void print_figures(const struct pigeon_spread *ours, const double theirs[])
{
    for (int i = 0; i < PIGEON_FIGURES; i++)
        printf(" %.3g (%.3g) |", ours->median[i], theirs[i]);
    printf("\n");
}

static void print_tables(void)
{
    static const char *const names[SCHEDULERS] = {"Pigeon", "Sparrow", "Eagle"};
    for (size_t s = 0; s < SCHEDULERS; s++) {
        char name[32];
        (void)snprintf(name, sizeof name, "traces, %s", names[s]);
        evidence_begin(name);
        print_head("trace, workers");
        for (size_t r = 0; r < ROWS; r++) {
            printf("| %s %.0f, %u |", rows[r].trace, rows[r].percent, rows[r].workers);
            print_figures(&found[r][s], rows[r].figures[s]);
        }
        evidence_end();
    }
    evidence_begin("traces, other terms");
    print_head("Pigeon");
    for (size_t v = 0; v < VARIANTS; v++) {
        printf("| %s 90, %s |", variants[v].trace, variants[v].name);
        print_figures(&found_of_variants[v], variants[v].figures);
    }
    evidence_end();
}

/* --- what holds --- */

static bool is_near(const struct pigeon_spread *ours, double theirs, int i, double share)
{
    return theirs >= ours->least[i] * (1 - share) && theirs <= ours->most[i] * (1 + share);
}

/* How many figures of a scheduler, from the first to the last one, are near. */
static unsigned count_near(size_t scheduler, int first, int last, double share)
{
    unsigned n = 0;
    for (size_t r = 0; r < ROWS; r++)
        for (int i = first; i <= last; i++)
            n += is_near(&found[r][scheduler], rows[r].figures[scheduler][i], i, share);
    return n;
}

static void expect_near(void)
{
    unsigned n = count_near(PIGEON, 0, 6, ROUNDING);
    evidence_expect(n == ROWS * 7, "Pigeon: %u of %u figures within our spread", n, ROWS * 7);
    n = count_near(SPARROW, 0, 6, NEAR);
    evidence_expect(n == ROWS * 7, "Sparrow: %u of %u figures near", n, ROWS * 7);
    n = count_near(EAGLE, 3, 5, NEAR);
    evidence_expect(n == ROWS * 3, "Eagle: %u of %u figures of long jobs near", n, ROWS * 3);
    n = count_near(EAGLE, 0, 0, NEAR);
    evidence_expect(n >= ROWS - 2, "Eagle: %u of %u medians of short jobs near", n, ROWS);
    n = count_near(EAGLE, 1, 2, NEAR);
    evidence_expect(n >= 9, "Eagle: %u of %u other figures of short jobs near", n, ROWS * 2);
}

static void expect_within_their_spreads(void)
{
    for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
        const struct row *row = &rows[spreads[s].row];
        unsigned n = 0;
        for (int i = 0; i < 6; i++) {
            double ours = found[spreads[s].row][PIGEON].median[i];
            n += ours >= spreads[s].least[i] * (1 - ROUNDING) &&
                 ours <= spreads[s].most[i] * (1 + ROUNDING);
        }
        evidence_expect(n == 6, "Pigeon, %s %.0f: %u of 6 medians of ours within their spread",
                        row->trace, row->percent, n);
    }
}

static void expect_variants(void)
{
    for (size_t v = 0; v < VARIANTS; v++) {
        const struct pigeon_spread *ours = &found_of_variants[v];
        unsigned n = 0;
        for (int i = 0; i < PIGEON_FIGURES; i++)
            n += is_near(ours, variants[v].figures[i], i, ROUNDING);
        if (variants[v].weight == STRICT)
            evidence_expect(n == PIGEON_FIGURES, "Pigeon, %s, %s: %u of 7 within our spread",
                            variants[v].trace, variants[v].name, n);
        else
            evidence_expect(ours->median[1] < variants[v].figures[1] &&
                                ours->median[3] < 1.1 * variants[v].figures[3],
                            "Pigeon, %s, %s: short jobs are faster here, long ones as fast",
                            variants[v].trace, variants[v].name);
    }
}

/* Every two schedulers, on every trace, at every percentile where theirs differ. What is otherwise is
 * about short jobs under Eagle that wait behind others. */
static void expect_order(void)
{
    unsigned same = 0;
    unsigned others = 0;
    unsigned short_tails = 0;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t s = 0; s < SCHEDULERS; s++)
            for (size_t t = 0; t < s; t++)
                for (int i = 0; i < 6; i++) {
                    double theirs = rows[r].figures[s][i] / rows[r].figures[t][i];
                    double ours = found[r][s].median[i] / found[r][t].median[i];
                    bool differ = fabs(log(theirs)) >= log1p(EQUAL);
                    same += differ && (theirs > 1) == (ours > 1);
                    others += differ && (theirs > 1) != (ours > 1);
                    short_tails +=
                        differ && (theirs > 1) != (ours > 1) && s == EAGLE && (i == 1 || i == 2);
                }
    evidence_expect(others == short_tails && others <= 3,
                    "%u of %u orders of two schedulers are theirs; the others are of Eagle's short "
                    "jobs above the median",
                    same, same + others);
}

int main(int argc, char **argv)
{
    const char *shared = getenv("PROVISOR_SHARED");
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (shared == NULL)
        shared = SHARED_DEFAULT;
    for (size_t r = 0; r < ROWS; r++)
        if (!simulate_row(shared, r, quick)) {
            printf("skipped: no traces in %s (set PROVISOR_SHARED)\n", shared);
            return SKIPPED;
        }
    for (size_t v = 0; v < VARIANTS; v++)
        simulate_variant(shared, v, quick);
    if (quick)
        return 0;
    print_tables();
    expect_near();
    expect_within_their_spreads();
    expect_variants();
    expect_order();
    return evidence_status();
}
