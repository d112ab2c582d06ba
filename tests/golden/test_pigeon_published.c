/*
 * Sparrow and Eagle against Pigeon on the traces of its authors, beside the factors that they
 * published (data/pigeon-traces/published-results of the shared data; Z. Li, dissertation, UT
 * Arlington 2019, section 4.5):
 *
 *     test_pigeon_published [--quick]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "pigeon_runs.h"

enum { SKIPPED = 77, SEEDS = 5, LOADS = 5, PERCENTILES = 6 };

static const double loads[LOADS] = {50, 60, 70, 80, 90};

/* In the order of pigeon_runs.h. */
static const struct {
    const char *file;
    const char *title;
} percentiles[PERCENTILES] = {{"short_50", "short 50"}, {"short_90", "short 90"},
                              {"short_99", "short 99"}, {"long_50", "long 50"},
                              {"long_90", "long 90"},   {"long_99", "long 99"}};

/* Completions over Pigeon's, as published, in the order of the columns there. */
struct published {
    double eagle;
    double eagle_simulated;
    double sparrow;
    double sparrow_simulated;
};

static struct published published[PERCENTILES][LOADS];

/* The lines behind the head. */
static bool read_lines(FILE *file, struct published lines[LOADS])
{
    char line[256];
    if (fgets(line, sizeof line, file) == NULL)
        return false;
    for (int l = 0; l < LOADS; l++) {
        double fields[4];
        char *at = line;
        if (fgets(line, sizeof line, file) == NULL)
            return false;
        for (int i = 0; i < 4; i++) {
            fields[i] = strtod(at, &at);
            at += *at == ',';
        }
        lines[l] = (struct published){fields[0], fields[1], fields[2], fields[3]};
    }
    return true;
}

static bool read_published(const char *shared)
{
    for (int i = 0; i < PERCENTILES; i++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/data/pigeon-traces/published-results/%s_tile.csv",
                       shared, percentiles[i].file);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            return false;
        bool read = read_lines(file, published[i]);
        (void)fclose(file);
        if (!read)
            return false;
    }
    return true;
}

/* --- simulation --- */

struct cluster {
    const char *trace;
    uint32_t workers;
    uint32_t groups;
};

/* The first one is the dissertation's; the other one's workers and groups are those for which other
 * figures are there (test_pigeon_traces.c). */
enum { NGO, NYH, CLUSTERS };
static const struct cluster clusters[CLUSTERS] = {{"NGO", 120, 3}, {"NYH", 330, 11}};

static double found[CLUSTERS][LOADS][TASKS_POLICIES][PIGEON_FIGURES];

static bool simulate(const char *shared, int c, int l, unsigned seeds)
{
    struct tasks_model model;
    struct arena arena;
    arena_init(&arena, 0);
    bool there =
        pigeon_model(shared, clusters[c].trace, loads[l], clusters[c].workers, &arena, &model);
    for (int p = 0; there && p < TASKS_POLICIES; p++) {
        struct tasks_terms terms = tasks_terms_default((enum tasks_policy_id)p);
        struct pigeon_spread spread;
        terms.groups = clusters[c].groups;
        terms.reserved_share = 0.1;
        terms.weight = TASKS_WEIGHT_INFINITE;
        pigeon_simulate(&model, &terms, p == TASKS_CENTRALISED ? 1 : seeds, &spread);
        memcpy(found[c][l][p], spread.median, sizeof spread.median);
    }
    arena_fini(&arena);
    return there;
}

/* Completion under a scheduler over that under another one. */
static double factor(int c, int l, int i, int policy, int other)
{
    return found[c][l][policy][i] / found[c][l][other][i];
}

/* --- tables --- */

static void print_ngo(void)
{
    evidence_begin("published factors");
    printf("| load | percentile | Pigeon s | Eagle | measured | simulated | Sparrow | measured | "
           "simulated | centralised |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int l = 0; l < LOADS; l++)
        for (int i = 0; i < PERCENTILES; i++) {
            const struct published *p = &published[i][l];
            printf("| %.0f %% | %s | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g |\n",
                   loads[l], percentiles[i].title, found[NGO][l][TASKS_PIGEON][i],
                   factor(NGO, l, i, TASKS_EAGLE, TASKS_PIGEON), p->eagle, p->eagle_simulated,
                   factor(NGO, l, i, TASKS_SPARROW, TASKS_PIGEON), p->sparrow, p->sparrow_simulated,
                   factor(NGO, l, i, TASKS_CENTRALISED, TASKS_PIGEON));
        }
    evidence_end();
}

static void print_nyh(void)
{
    evidence_begin("factors on NYH");
    printf("| load | percentile | Pigeon s | Eagle | Sparrow | centralised |\n"
           "|---|---|---|---|---|---|\n");
    for (int l = 0; l < LOADS; l++)
        for (int i = 0; i < PERCENTILES; i++)
            printf("| %.0f %% | %s | %.3g | %.3g | %.3g | %.3g |\n", loads[l], percentiles[i].title,
                   found[NYH][l][TASKS_PIGEON][i], factor(NYH, l, i, TASKS_EAGLE, TASKS_PIGEON),
                   factor(NYH, l, i, TASKS_SPARROW, TASKS_PIGEON),
                   factor(NYH, l, i, TASKS_CENTRALISED, TASKS_PIGEON));
    evidence_end();
}

/* --- what holds --- */

/* What was published of a pair of schedulers: both factors on one side of 1, by more than this. */
static const double UNDECIDED = 0.02;

struct tally {
    unsigned same;
    unsigned others;
};

static void compare(double measured, double simulated, double ours, struct tally *tally)
{
    bool decided = fmin(fabs(measured - 1), fabs(simulated - 1)) > UNDECIDED &&
                   (measured > 1) == (simulated > 1);
    tally->same += decided && (measured > 1) == (ours > 1);
    tally->others += decided && (measured > 1) != (ours > 1);
}

static void expect_order(void)
{
    struct tally sparrow = {0, 0};
    struct tally eagle = {0, 0};
    struct tally low = {0, 0}; /* Eagle, short jobs, loads of 50 and 60 percent */
    struct tally both = {0, 0};
    for (int l = 0; l < LOADS; l++)
        for (int i = 0; i < PERCENTILES; i++) {
            const struct published *p = &published[i][l];
            compare(p->sparrow, p->sparrow_simulated,
                    factor(NGO, l, i, TASKS_SPARROW, TASKS_PIGEON), &sparrow);
            compare(p->eagle, p->eagle_simulated, factor(NGO, l, i, TASKS_EAGLE, TASKS_PIGEON),
                    l < 2 && i < 3 ? &low : &eagle);
            compare(p->sparrow / p->eagle, p->sparrow_simulated / p->eagle_simulated,
                    factor(NGO, l, i, TASKS_SPARROW, TASKS_EAGLE), &both);
        }
    evidence_expect(sparrow.others == 0 && sparrow.same == LOADS * PERCENTILES,
                    "Sparrow and Pigeon: %u orders as published, %u others", sparrow.same,
                    sparrow.others);
    evidence_expect(both.others == 0, "Sparrow and Eagle: %u orders as published, %u others",
                    both.same, both.others);
    evidence_expect(eagle.others == 0,
                    "Eagle and Pigeon, but for short jobs at 50 and 60 %%: %u orders as published, "
                    "%u others",
                    eagle.same, eagle.others);
    evidence_expect(low.others <= 3,
                    "Eagle and Pigeon, short jobs at 50 and 60 %%: %u orders as published, %u "
                    "others",
                    low.same, low.others);
}

/* Of Sparrow's factors and those of long jobs. */
static void expect_factors(void)
{
    unsigned sparrow = 0;
    unsigned long_jobs = 0;
    for (int l = 0; l < LOADS; l++)
        for (int i = 0; i < PERCENTILES; i++) {
            const struct published *p = &published[i][l];
            double s = factor(NGO, l, i, TASKS_SPARROW, TASKS_PIGEON) / p->sparrow;
            double e = factor(NGO, l, i, TASKS_EAGLE, TASKS_PIGEON) / p->eagle;
            sparrow += fabs(log(s)) <= log(1.2);
            long_jobs += i >= 3 && fabs(log(s)) <= log(1.1) && fabs(log(e)) <= log(1.1);
        }
    evidence_expect(sparrow >= LOADS * PERCENTILES - 1,
                    "Sparrow: %u of %u factors within 20 %% of those measured", sparrow,
                    LOADS * PERCENTILES);
    evidence_expect(long_jobs == LOADS * 3,
                    "long jobs: %u of %u factors of both within 10 %% of those measured", long_jobs,
                    LOADS * 3);
}

static void expect_nyh(void)
{
    unsigned sparrow = 0;
    unsigned centralised = 0;
    for (int l = 0; l < LOADS; l++)
        for (int i = 0; i < PERCENTILES; i++) {
            sparrow += i < 3 && factor(NYH, l, i, TASKS_SPARROW, TASKS_PIGEON) > 1;
            centralised += factor(NYH, l, i, TASKS_CENTRALISED, TASKS_PIGEON) <= 1;
        }
    evidence_expect(sparrow == LOADS * 3, "NYH: short jobs are slower under Sparrow in %u of %u",
                    sparrow, LOADS * 3);
    evidence_expect(centralised == LOADS * PERCENTILES,
                    "NYH: one master is at least as good as groups in %u of %u", centralised,
                    LOADS * PERCENTILES);
}

int main(int argc, char **argv)
{
    const char *shared = getenv("PROVISOR_SHARED");
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (shared == NULL)
        shared = SHARED_DEFAULT;
    bool there = read_published(shared);
    for (int c = 0; c < CLUSTERS; c++)
        for (int l = 0; there && l < LOADS; l++)
            there = simulate(shared, c, l, quick ? 1 : SEEDS);
    if (!there) {
        printf("skipped: no traces in %s (set PROVISOR_SHARED)\n", shared);
        return SKIPPED;
    }
    if (quick)
        return 0;
    print_ngo();
    print_nyh();
    expect_order();
    expect_factors();
    expect_nyh();
    return evidence_status();
}
