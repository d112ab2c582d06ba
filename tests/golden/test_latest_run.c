/*
 * How often the newest run is said to deviate (core/advice/latest_run.h), on the public C3O tables.
 *
 * Runs of one application are drawn in a random order; the last one is the newest, its duration
 * times 1 (a false alarm, if it is said to deviate), 1.3 and 2. Histories:
 *
 * alike  n runs of the very configuration (n = 1, 2, 4)
 * counts two runs on each of the executor counts, the newest on one of them
 * sizes  all runs on one executor count that differ in the data size
 */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "core/advice/latest_run.h"
#include "public_runs.h"

enum { SKIPPED = 77, RUNS_MAX = 64, DRAWS = 3 };

static const double scales[] = {1.0, 1.3, 2.0};
enum { SCALES = sizeof scales / sizeof *scales };

struct tally {
    size_t asked;
    size_t slower[SCALES];
    size_t faster[SCALES];
};

static int faults;

/* runs[0] is the newest. */
static void ask(const struct public_run *const runs[], size_t n, struct tally *tally)
{
    struct observation rows[RUNS_MAX];
    static struct run_evidence evidence[RUNS_MAX];
    tally->asked++;
    for (size_t s = 0; s < SCALES; s++) {
        for (size_t i = 0; i < n; i++) {
            rows[i] = model_seen(runs[i]->problem_size, runs[i]->executors,
                                 runs[i]->duration_s * (i == 0 ? scales[s] : 1), (double)NAN);
            evidence[i].cores_per_executor = 4;
        }
        const struct run_observations seen = {.rows = rows, .evidence = evidence, .n = n};
        const struct latest_run found = latest_run_find(&seen);
        tally->slower[s] += found.deviates && found.slower;
        tally->faster[s] += found.deviates && !found.slower;
    }
}

static void shuffle(const struct public_run *runs[], size_t n, struct rng *rng)
{
    for (size_t i = n; i > 1; i--) {
        size_t other = (size_t)(rng_uniform(rng) * (double)i);
        const struct public_run *swapped = runs[i - 1];
        runs[i - 1] = runs[other];
        runs[other] = swapped;
    }
}

/* Those runs that are like `run` in what is asked for; at most RUNS_MAX. */
static size_t gather(const struct public_table *table,
                     const struct public_run *run,
                     bool by_family,
                     bool one_count,
                     const struct public_run *runs[RUNS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < table->n && n < RUNS_MAX; i++) {
        const struct public_run *other = &table->runs[i];
        if ((by_family ? other->family == run->family : other->group == run->group) &&
            (!one_count || fabs(other->executors - run->executors) < 0.5))
            runs[n++] = other;
    }
    return n;
}

/* At most two runs of each executor count, the newest first of all. */
static size_t thin(const struct public_run *runs[], size_t n)
{
    size_t kept = 1;
    for (size_t i = 1; i < n; i++) {
        size_t same = 0;
        for (size_t k = 1; k < kept; k++)
            same += fabs(runs[k]->executors - runs[i]->executors) < 0.5;
        if (same < 2)
            runs[kept++] = runs[i];
    }
    return kept;
}

enum { ALIKE_1, ALIKE_2, ALIKE_4, COUNTS, SIZES, HISTORIES };
static const char *const names[HISTORIES] = {"alike, 1", "alike, 2", "alike, 4", "counts", "sizes"};

static void ask_table(const struct public_table *table, struct rng *rng, struct tally tallies[])
{
    const struct public_run *runs[RUNS_MAX];
    for (size_t i = 0; i < table->n; i++) {
        const struct public_run *run = &table->runs[i];
        for (size_t draw = 0; draw < DRAWS; draw++) {
            for (size_t h = ALIKE_1; h <= ALIKE_4; h++) {
                static const size_t others[] = {1, 2, 4};
                size_t n = gather(table, run, false, true, runs);
                shuffle(runs, n, rng);
                if (n > others[h])
                    ask(runs, others[h] + 1, &tallies[h]);
            }
            size_t n = gather(table, run, false, false, runs);
            shuffle(runs, n, rng);
            n = thin(runs, n);
            if (n > 4)
                ask(runs, n, &tallies[COUNTS]);
            n = gather(table, run, true, true, runs);
            shuffle(runs, n, rng);
            if (n > 5)
                ask(runs, n, &tallies[SIZES]);
        }
    }
}

static double percent(size_t part, size_t whole)
{
    return 100 * (double)part / (double)whole;
}

static void expect(bool holds, const char *history, const char *what)
{
    printf("%s %s: %s\n", holds ? "#" : "# not so:", history, what);
    faults += holds ? 0 : 1;
}

int main(void)
{
    static const char *const files[] = {"grep", "kmeans", "pagerank"};
    const char *shared = getenv("PROVISOR_SHARED");
    struct tally tallies[HISTORIES] = {{0}};
    struct rng rng = rng_make(32, 0);
    (void)gsl_set_error_handler_off();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4096];
        struct arena arena;
        struct public_table table;
        (void)snprintf(path, sizeof path, "%s/data/c3o/%s.tsv",
                       shared == NULL ? SHARED_DEFAULT : shared, files[i]);
        arena_init(&arena, 0);
        bool good = public_table_read(path, &arena, &table);
        if (good)
            ask_table(&table, &rng, tallies);
        arena_fini(&arena);
        if (!good) {
            printf("# skipped: no shared data set: %s (set PROVISOR_SHARED)\n", path);
            return SKIPPED;
        }
    }
    printf("# history    asked   slower x 1   x 1.3   x 2   faster x 1\n");
    for (size_t h = 0; h < HISTORIES; h++) {
        const struct tally *t = &tallies[h];
        printf("# %-9s %6zu %10.1f %% %5.1f %% %4.1f %% %8.1f %%\n", names[h], t->asked,
               percent(t->slower[0], t->asked), percent(t->slower[1], t->asked),
               percent(t->slower[2], t->asked), percent(t->faster[0], t->asked));
        expect(percent(t->slower[0], t->asked) <= 2, names[h], "at most 2 % false alarms");
        expect(percent(t->faster[0], t->asked) <= 2, names[h], "likewise of faster runs");
        if (h != ALIKE_1)
            expect(percent(t->slower[2], t->asked) >= 95, names[h], "twice the time is noticed");
    }
    return faults > 0;
}
