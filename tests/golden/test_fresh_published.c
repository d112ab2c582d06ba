/*
 * FRESH beside what J. Wang's dissertation reports of it (UMass Boston 2017, section 3.4.2), on its
 * batches with assumed task times (fresh_sets.h):
 *
 *     test_fresh_published [--quick]
 *
 * --quick: one seed, and nothing is compared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/slots_split.h"
#include "core/sim/variates.h"
#include "evidence.h"
#include "fresh_sets.h"

enum { SEEDS = 5, NODE_SLOTS = 4 };

static const double SPREAD = 0.2;
static size_t seeds = SEEDS;
static struct arena arena;

/* --- policies --- */

static const struct slots_tenant tenants[] = {{0.5, 0.9}, {0.5, 0.9}};

static struct slots_terms terms_of(const struct slots_policy *policy, size_t concurrency)
{
    return (struct slots_terms){.policy = policy,
                                .concurrency = concurrency,
                                .tau1 = FRESH_TAU1,
                                .tau2 = FRESH_TAU2,
                                .tenants = tenants,
                                .n_tenants = 2};
}

/* Means over seeds. */
struct found {
    double makespan_s;
    double fairness;
    double reduces_at_s;
    double maps_s;
};

static struct found
simulate(const struct fresh_set *set, size_t map_slots, const struct slots_terms *terms)
{
    const struct slots_cluster cluster = {.slots = {map_slots, set->slots - map_slots},
                                          .slow_start = 0.05};
    struct mapreduce_job jobs[MAPREDUCE_JOBS_MAX];
    struct found found = {0};
    fresh_set_jobs(set, jobs);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct arena_mark mark = arena_mark(&arena);
        struct mapreduce_batch batch = mapreduce_draw(jobs, set->n, SPREAD, seed, &arena);
        struct mapreduce_outcome outcome = mapreduce_run(&cluster, &batch, terms, &arena);
        found.makespan_s += outcome.makespan_s / (double)seeds;
        found.fairness += outcome.fairness / (double)seeds;
        found.reduces_at_s += outcome.reduces_at_s / (double)seeds;
        found.maps_s += outcome.maps_s / (double)seeds;
        arena_rewind(&arena, mark);
    }
    return found;
}

/* With as many map slots as reduce slots on each node. */
static struct found
simulate_even(const struct fresh_set *set, const struct slots_policy *policy, size_t concurrency)
{
    const struct slots_terms terms = terms_of(policy, concurrency);
    return simulate(set, set->slots / 2, &terms);
}

/* --- set A and simple workloads: by concurrency --- */

struct by_concurrency {
    struct found fair[NODE_SLOTS]; /* with 1, 2, 3 of 4 slots of a node for maps */
    double best_s;                 /* of all splits */
    size_t best;
    struct found fresh_static, fresh;
};

static struct by_concurrency compare_at(const struct fresh_set *set, size_t concurrency)
{
    const struct slots_terms fair = terms_of(&slots_policy_fair, concurrency);
    struct by_concurrency at = {.best_s = HUGE_VAL};
    for (size_t maps = 1; maps < set->slots; maps++) {
        struct found found = simulate(set, maps, &fair);
        if (maps * NODE_SLOTS % set->slots == 0)
            at.fair[maps * NODE_SLOTS / set->slots] = found;
        if (found.makespan_s < at.best_s) {
            at.best_s = found.makespan_s;
            at.best = maps;
        }
    }
    at.fresh_static = simulate_even(set, &slots_policy_fresh_static, concurrency);
    at.fresh = simulate_even(set, &slots_policy_fresh, concurrency);
    return at;
}

static void print_by_concurrency_head(void)
{
    printf(
        "| jobs | k | Fair 1:3 | Fair 2:2 | Fair 3:1 | best split | FRESH static | FRESH | FRESH "
        "against Fair 2:2 | against the best split | fairness, Fair 2:2 | FRESH |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

static void print_by_concurrency(const char *jobs, size_t k, const struct by_concurrency *at)
{
    printf(
        "| %s | %zu | %.0f | %.0f | %.0f | %.0f (%zu) | %.0f | %.0f | %.1f %% | %.1f %% | %.3f | "
        "%.3f |\n",
        jobs, k, at->fair[1].makespan_s, at->fair[2].makespan_s, at->fair[3].makespan_s, at->best_s,
        at->best, at->fresh_static.makespan_s, at->fresh.makespan_s,
        mapreduce_change(at->fresh.makespan_s, at->fair[2].makespan_s),
        mapreduce_change(at->fresh.makespan_s, at->best_s), at->fair[2].fairness,
        at->fresh.fairness);
}

static void expect_by_concurrency(const char *jobs, size_t k, const struct by_concurrency *at)
{
    double static_s = at->fresh_static.makespan_s;
    evidence_expect(at->fresh.makespan_s < at->best_s, "%s, k = %zu: FRESH is the fastest", jobs,
                    k);
    evidence_expect(
        static_s <= 1.08 * at->best_s && static_s <= at->fair[1].makespan_s &&
            static_s <= at->fair[2].makespan_s && static_s <= at->fair[3].makespan_s,
        "%s, k = %zu: FRESH static is at most as slow as Fair with any split of a node, "
        "and within 8 %% of the best of all splits (%.1f %%)",
        jobs, k, mapreduce_change(static_s, at->best_s));
}

/* Figure 3.6. */
static void print_stages(const struct found *fresh)
{
    evidence_begin("FRESH, stages");
    printf("| set A, k = 5 | first reduce s | last map s | makespan s |\n|---|---|---|---|\n");
    printf("| published, about | 650 | 1500 | 1800 |\n");
    printf("| here | %.0f | %.0f | %.0f |\n", fresh->reduces_at_s, fresh->maps_s,
           fresh->makespan_s);
    evidence_end();
}

/* FRESH against Fair 2:2 at k = 5. */
static double compare_set_a(void)
{
    static const size_t ks[] = {1, 2, 3, 5, 10, 12};
    double at_five = 0;
    double least_fairness = 1;
    evidence_begin("FRESH, set A");
    print_by_concurrency_head();
    struct by_concurrency at[6];
    for (size_t i = 0; i < 6; i++) {
        at[i] = compare_at(&fresh_sets[FRESH_A], ks[i]);
        print_by_concurrency("set A", ks[i], &at[i]);
        if (ks[i] == 5)
            at_five = mapreduce_change(at[i].fresh.makespan_s, at[i].fair[2].makespan_s);
        if (ks[i] >= 5)
            least_fairness = fmin(least_fairness, at[i].fresh.fairness);
    }
    evidence_end();
    print_stages(&at[3].fresh);
    for (size_t i = 0; i < 6; i++)
        expect_by_concurrency("set A", ks[i], &at[i]);
    evidence_expect(least_fairness >= 0.95, "set A, k >= 5: fairness of FRESH is %.3f and more",
                    least_fairness);
    double slowest = fmax(at[0].fresh.makespan_s, at[5].fresh.makespan_s);
    double fastest = fmin(at[3].fresh.makespan_s, at[4].fresh.makespan_s);
    evidence_expect(slowest <= 1.07 * fastest, "set A: FRESH differs by %.1f %% between k",
                    mapreduce_change(slowest, fastest));
    return at_five;
}

/* FRESH against Fair 2:2 on average. */
static double compare_simple(void)
{
    static const struct {
        const char *name;
        enum fresh_benchmark benchmark;
    } kinds[] = {{"Classification", FRESH_CLASSIFICATION},
                 {"Invertedindex", FRESH_INVERTEDINDEX},
                 {"Wordcount", FRESH_WORDCOUNT}};
    static const size_t ks[] = {1, 3, 5, 10};
    struct by_concurrency at[3][4];
    double sum = 0;
    evidence_begin("FRESH, ten jobs of a kind");
    print_by_concurrency_head();
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) {
            struct fresh_set set = fresh_simple_set(kinds[i].benchmark);
            at[i][j] = compare_at(&set, ks[j]);
            print_by_concurrency(kinds[i].name, ks[j], &at[i][j]);
            sum += mapreduce_change(at[i][j].fresh.makespan_s, at[i][j].fair[2].makespan_s);
        }
    evidence_end();
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++)
            expect_by_concurrency(kinds[i].name, ks[j], &at[i][j]);
    return sum / 12;
}

/* --- sets B to E: other schedulers --- */

enum { ONE, HALF, ALL, CONCURRENCIES };

struct by_scheduler {
    struct found fifo, capacity, fair;
    struct found fresh[CONCURRENCIES];
};

static struct by_scheduler compare_schedulers(const struct fresh_set *set)
{
    struct by_scheduler at = {.fifo = simulate_even(set, &slots_policy_fifo, 0),
                              .capacity = simulate_even(set, &slots_policy_capacity, 0),
                              .fair = simulate_even(set, &slots_policy_fair, 0)};
    at.fresh[ONE] = simulate_even(set, &slots_policy_fresh, 1);
    at.fresh[HALF] = simulate_even(set, &slots_policy_fresh, set->n / 2);
    at.fresh[ALL] = simulate_even(set, &slots_policy_fresh, set->n);
    return at;
}

static void print_schedulers(const struct fresh_set *set, const struct by_scheduler *at)
{
    const struct found *cells[] = {&at->fifo,       &at->capacity,    &at->fair,
                                   &at->fresh[ONE], &at->fresh[HALF], &at->fresh[ALL]};
    printf("| %s | %zu |", set->name, set->slots);
    for (size_t i = 0; i < 6; i++)
        printf(" %.0f (%.3f) |", cells[i]->makespan_s, cells[i]->fairness);
    printf("\n");
}

/* FRESH against a scheduler, over all k. */
static double mean_change(const struct by_scheduler *at, const struct found *other)
{
    double sum = 0;
    for (size_t k = 0; k < CONCURRENCIES; k++)
        sum += mapreduce_change(at->fresh[k].makespan_s, other->makespan_s);
    return sum / CONCURRENCIES;
}

static void expect_schedulers(const struct fresh_set *set, const struct by_scheduler *at)
{
    double slowest = 0;
    for (size_t k = 0; k < CONCURRENCIES; k++)
        slowest = fmax(slowest, at->fresh[k].makespan_s);
    evidence_expect(slowest < at->fifo.makespan_s && slowest < at->capacity.makespan_s &&
                        slowest < at->fair.makespan_s &&
                        at->fair.makespan_s > at->fifo.makespan_s &&
                        at->fair.makespan_s > at->capacity.makespan_s,
                    "set %s, %zu slots: FRESH is the fastest with any k, and Fair the slowest",
                    set->name, set->slots);
    evidence_expect(at->fresh[HALF].fairness >= 0.95 && at->fresh[ALL].fairness >= 0.95,
                    "set %s, %zu slots: fairness of FRESH is %.3f and %.3f", set->name, set->slots,
                    at->fresh[HALF].fairness, at->fresh[ALL].fairness);
}

static void print_change(const char *what, double here, double published)
{
    printf("| %s | %.1f %% | %.1f %% |\n", what, here, published);
}

static void compare_with_published(const struct by_scheduler at[], double simple, double set_a)
{
    double fair = 0, capacity = 0, balanced = 0, unbalanced = 0;
    for (size_t s = FRESH_B; s < FRESH_SETS; s++) {
        if (s == FRESH_B_80)
            continue;
        fair += mean_change(&at[s], &at[s].fair) / 4;
        capacity += mean_change(&at[s], &at[s].capacity) / 4;
        *(s == FRESH_D || s == FRESH_E ? &unbalanced : &balanced) +=
            mean_change(&at[s], &at[s].fifo) / 2;
    }
    evidence_begin("FRESH, published");
    printf("| FRESH against | here | published |\n|---|---|---|\n");
    print_change("Fair 2:2, ten jobs of a kind, k = 1 to 10", simple, -32.75);
    print_change("Fair 2:2, set A, k = 5", set_a, -27.62);
    print_change("Fair, sets B to E", fair, -31.32);
    print_change("Fair, set B, 80 slots", mean_change(&at[FRESH_B_80], &at[FRESH_B_80].fair),
                 -31.1);
    print_change("Capacity, sets B to E", capacity, -25.1);
    print_change("FIFO, sets D and E", unbalanced, -24.47);
    printf("| FIFO, sets B and C | %.1f %% | as fast |\n", balanced);
    evidence_end();
    evidence_expect(unbalanced < balanced,
                    "FRESH gains more on FIFO where maps and reduces are not balanced");
}

static void compare_others(double simple, double set_a)
{
    struct by_scheduler at[FRESH_SETS];
    evidence_begin("FRESH, sets B to E");
    printf("| set | slots | FIFO | Capacity | Fair | FRESH, k = 1 | k = half | k = all |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size_t s = FRESH_B; s < FRESH_SETS; s++) {
        at[s] = compare_schedulers(&fresh_sets[s]);
        print_schedulers(&fresh_sets[s], &at[s]);
    }
    evidence_end();
    for (size_t s = FRESH_B; s < FRESH_SETS; s++)
        expect_schedulers(&fresh_sets[s], &at[s]);
    compare_with_published(at, simple, set_a);
}

/* --- thresholds and profiles --- */

static void compare_thresholds(void)
{
    static const double tau1s[] = {0.7, 0.8, 0.9};
    static const double tau2s[] = {0.5, 0.6, 0.7};
    double least = HUGE_VAL, most = 0;
    evidence_begin("FRESH, thresholds");
    printf("| set A, k = 5 | tau2 0.5 | 0.6 | 0.7 |\n|---|---|---|---|\n");
    for (size_t i = 0; i < 3; i++) {
        printf("| tau1 %.1f |", tau1s[i]);
        for (size_t j = 0; j < 3; j++) {
            struct slots_terms terms = terms_of(&slots_policy_fresh, 5);
            terms.tau1 = tau1s[i];
            terms.tau2 = tau2s[j];
            double makespan_s = simulate(&fresh_sets[FRESH_A], 20, &terms).makespan_s;
            least = fmin(least, makespan_s);
            most = fmax(most, makespan_s);
            printf(" %.0f |", makespan_s);
        }
        printf("\n");
    }
    evidence_end();
    evidence_expect(most <= 1.01 * least, "thresholds change the makespan by %.2f %% at most",
                    mapreduce_change(most, least));
}

/* The split for profiles of which each is off by up to 30 % either way. */
static void misjudged_split(const struct fresh_set *set,
                            const struct mapreduce_job jobs[],
                            size_t concurrency,
                            uint64_t seed,
                            size_t split[])
{
    static const struct slots_cluster cluster = {.slots = {20, 20}};
    const uint64_t purpose[] = {3};
    struct rng rng = variate_stream(seed, purpose, 1);
    struct mapreduce_job wrong[MAPREDUCE_JOBS_MAX];
    for (size_t i = 0; i < set->n; i++) {
        wrong[i] = jobs[i];
        wrong[i].map_s *= variate_uniform(&rng, 0.7, 1.3);
        wrong[i].reduce_s *= variate_uniform(&rng, 0.7, 1.3);
    }
    struct mapreduce_batch batch = mapreduce_draw(wrong, set->n, 0, seed, &arena);
    if (slots_split(&cluster, batch.jobs, batch.n, concurrency, &arena, split, NULL) != PV_OK)
        abort();
}

static double misjudged_makespan(const struct fresh_set *set, size_t concurrency, uint64_t seed)
{
    static const struct slots_cluster cluster = {.slots = {20, 20}, .slow_start = 0.05};
    struct mapreduce_job jobs[MAPREDUCE_JOBS_MAX];
    struct slots_terms terms = terms_of(&slots_policy_fresh_static, concurrency);
    fresh_set_jobs(set, jobs);
    struct mapreduce_batch batch = mapreduce_draw(jobs, set->n, SPREAD, seed, &arena);
    double right_s = mapreduce_run(&cluster, &batch, &terms, &arena).makespan_s;
    misjudged_split(set, jobs, concurrency, seed, terms.split);
    return mapreduce_change(mapreduce_run(&cluster, &batch, &terms, &arena).makespan_s, right_s);
}

static void compare_profiles(void)
{
    enum { DRAWS = 40 };
    size_t draws = seeds < SEEDS ? 1 : DRAWS;
    evidence_begin("FRESH static, profiles");
    printf("| set | k | longer on average | at most |\n|---|---|---|---|\n");
    double worst = 0;
    for (size_t s = FRESH_A; s < FRESH_SETS; s++)
        for (size_t k = 1; k <= 6 && s != FRESH_B_80; k += 5) {
            double sum = 0, most = -HUGE_VAL;
            for (uint64_t seed = 1; seed <= draws; seed++) {
                struct arena_mark mark = arena_mark(&arena);
                double change = misjudged_makespan(&fresh_sets[s], k, seed);
                arena_rewind(&arena, mark);
                sum += change;
                most = fmax(most, change);
            }
            worst = fmax(worst, sum / (double)draws);
            printf("| %s | %zu | %.1f %% | %.1f %% |\n", fresh_sets[s].name, k, sum / (double)draws,
                   most);
        }
    evidence_end();
    evidence_expect(worst <= 5,
                    "profiles wrong by 30 %% cost FRESH static at most %.1f %% on average", worst);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (quick)
        seeds = 1;
    arena_init(&arena, 0);
    double set_a = compare_set_a();
    double simple = compare_simple();
    compare_others(simple, set_a);
    compare_thresholds();
    compare_profiles();
    arena_fini(&arena);
    return quick ? 0 : evidence_status();
}
