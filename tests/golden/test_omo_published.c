/*
 * OMO beside what J. Wang's dissertation reports of it (UMass Boston 2017, sections 4.3.2 and 4.4.3), on
 * its batches with assumed task times (omo_sets.h):
 *
 *     test_omo_published [--quick]
 *
 * --quick: one seed, and nothing is compared.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"
#include "evidence.h"
#include "omo_sets.h"
#include "omo_yarn.h"

enum { SEEDS = 10, NODE_SLOTS = 4 };

static const double SPREAD = 0.2;
static size_t seeds = SEEDS;
static struct arena arena;

static struct slots_terms omo_terms(bool lazy_start, bool batch_finish)
{
    return (struct slots_terms){.policy = &slots_policy_omo,
                                .ema_weight = OMO_EMA_WEIGHT,
                                .window_s = OMO_WINDOW_S,
                                .lazy_start = lazy_start,
                                .batch_finish = batch_finish};
}

/* --- when reduces start (tables 4.2 and 4.3) --- */

struct curve {
    const char *name;
    size_t jobs;
    size_t slots;
    const double *published_s;
    const struct mapreduce_job *job;
    double bandwidth; /* of nodes of four slots; 0: shuffles take shuffle_s */
    double here_s[OMO_STARTS];
    double omo_s;
};

/* Terasort of 8 GB; what fits the curve of one job best, with tasks that differ by up to 10 %. */
static const struct mapreduce_job TERASORT_8_GB = {80, 4, 12.5, 97, 84};
static const double CURVE_SPREAD = 0.1;

/* The same where shuffles share the network; what fits the curve of three jobs best. */
static const struct mapreduce_job TERASORT_OVER_LINKS = {80, 4, 34, 5, 0};
static const double CURVE_BANDWIDTH = 6e7;
static const double CURVE_BYTES = 8e9;

static double
run_curve(const struct curve *curve, double slow_start, const struct slots_terms *terms)
{
    enum { NODES_MAX = 10 };
    const struct mapreduce_job jobs[] = {*curve->job, *curve->job, *curve->job};
    struct slots_node nodes[NODES_MAX];
    struct slots_cluster cluster = {.slots = {curve->slots / 2, curve->slots / 2},
                                    .slow_start = slow_start};
    if (curve->bandwidth > 0) {
        cluster.nodes = nodes;
        cluster.n_nodes = curve->slots / NODE_SLOTS;
    }
    for (size_t i = 0; i < cluster.n_nodes; i++)
        nodes[i] = (struct slots_node){.slots = {NODE_SLOTS / 2, NODE_SLOTS / 2},
                                       .speed = 1,
                                       .bandwidth_bytes_per_s = curve->bandwidth};
    double makespan_s = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct arena_mark mark = arena_mark(&arena);
        struct mapreduce_batch batch =
            mapreduce_draw(jobs, curve->jobs, CURVE_SPREAD, seed, &arena);
        for (size_t i = 0; i < batch.n; i++)
            batch.jobs[i].shuffle_bytes = curve->bandwidth > 0 ? CURVE_BYTES : 0;
        makespan_s += mapreduce_run(&cluster, &batch, terms, &arena).makespan_s / (double)seeds;
        arena_rewind(&arena, mark);
    }
    return makespan_s;
}

static void simulate_curve(struct curve *curve)
{
    const struct slots_terms shared = omo_terms(false, false);
    const struct slots_terms omo = omo_terms(true, true);
    for (size_t i = 0; i < OMO_STARTS; i++)
        curve->here_s[i] = run_curve(curve, omo_starts[i], &shared);
    curve->omo_s = run_curve(curve, 1, &omo);
}

static void print_seconds(const char *name, const char *whose, const double seconds[], double omo_s)
{
    printf("| %s | %s |", name, whose);
    for (size_t i = 0; i < OMO_STARTS; i++)
        printf(" %.0f |", seconds[i]);
    if (isnan(omo_s))
        printf(" |\n");
    else
        printf(" %.0f |\n", omo_s);
}

/* What slots alone do not have: it costs as much to wait for all maps as published. */
static void expect_network(const struct curve *three)
{
    double off = 0;
    bool rises = true;
    for (size_t i = 0; i < OMO_STARTS; i++) {
        off += fabs(three->here_s[i] - three->published_s[i]) / OMO_STARTS;
        rises = rises && (i < 2 || three->here_s[i] > three->here_s[i - 1]);
    }
    evidence_expect(off <= 14, "three jobs, shared network: %.1f s off on average", off);
    evidence_expect(rises && three->here_s[1] < three->here_s[0] &&
                        three->here_s[OMO_STARTS - 1] - three->here_s[1] > 90,
                    "three jobs, shared network: best at 0.6, and %.0f s more at 1",
                    three->here_s[OMO_STARTS - 1] - three->here_s[1]);
}

static void compare_curves(void)
{
    struct curve curves[] = {
        {"one job, 8 slots", 1, 8, omo_published_s[0], &TERASORT_8_GB, 0, {0}, 0},
        {"three jobs, 40 slots", 3, 40, omo_published_s[1], &TERASORT_8_GB, 0, {0}, 0},
        {"three jobs, shared network",
         3,
         40,
         omo_published_s[1],
         &TERASORT_OVER_LINKS,
         CURVE_BANDWIDTH,
         {0},
         0},
        {"one job, the same",
         1,
         8,
         omo_published_s[0],
         &TERASORT_OVER_LINKS,
         CURVE_BANDWIDTH,
         {0},
         0},
    };
    evidence_begin("OMO, slow start");
    printf(
        "| | | 0.5 | 0.6 | 0.7 | 0.8 | 0.9 | 1 | OMO |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t c = 0; c < sizeof curves / sizeof *curves; c++) {
        simulate_curve(&curves[c]);
        print_seconds(curves[c].name, "published", curves[c].published_s, (double)NAN);
        print_seconds(curves[c].name, "here", curves[c].here_s, curves[c].omo_s);
    }
    evidence_end();
    const struct curve *one = &curves[0];
    double off = 0;
    for (size_t i = 0; i < OMO_STARTS; i++)
        off = fmax(off, fabs(mapreduce_change(one->here_s[i], one->published_s[i])));
    evidence_expect(off <= 3, "one job: within %.1f %% of all published figures", off);
    evidence_expect(one->here_s[1] < one->here_s[0] &&
                        one->here_s[1] < one->here_s[OMO_STARTS - 1] &&
                        one->omo_s <= one->here_s[1],
                    "one job: the best slow start is 0.6, and OMO is at least as good");
    const struct curve *three = &curves[1];
    evidence_expect(
        three->omo_s < 0.95 * three->here_s[0] && three->here_s[0] < three->here_s[OMO_STARTS - 1],
        "three jobs: OMO is better than every slow start, and to wait for all maps is the worst");
    expect_network(&curves[2]);
}

/* --- sets --- */

enum { SLOW_STARTS = 6 };
static const double slow_starts[SLOW_STARTS] = {0.05, 0.2, 0.4, 0.6, 0.8, 1};

/* Means over seeds. */
struct found {
    struct mapreduce_outcome fair[SLOW_STARTS];
    struct mapreduce_outcome fresh, lazy, batch, omo;
    double bound_s; /* below which no order of the maps can be: their work over all slots */
};

static struct mapreduce_outcome simulate(const struct omo_set *set,
                                         double slower,
                                         double slow_start,
                                         const struct slots_terms *terms)
{
    size_t slots = set->nodes * NODE_SLOTS / 2;
    const struct slots_cluster cluster = {.slots = {slots, slots}, .slow_start = slow_start};
    struct mapreduce_job jobs[MAPREDUCE_JOBS_MAX];
    size_t n = omo_set_jobs(set, slower, jobs);
    struct mapreduce_outcome mean = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct arena_mark mark = arena_mark(&arena);
        struct mapreduce_batch batch = mapreduce_draw(jobs, n, SPREAD, seed, &arena);
        struct mapreduce_outcome outcome = mapreduce_run(&cluster, &batch, terms, &arena);
        mean.makespan_s += outcome.makespan_s / (double)seeds;
        mean.maps_s += outcome.maps_s / (double)seeds;
        mean.shuffle_s += outcome.shuffle_s / (double)seeds;
        arena_rewind(&arena, mark);
    }
    return mean;
}

static struct found compare(const struct omo_set *set, double slower)
{
    static const struct slots_terms fair = {.policy = &slots_policy_fair};
    const struct slots_terms fresh = {.policy = &slots_policy_fresh,
                                      .concurrency = MAPREDUCE_JOBS_MAX,
                                      .tau1 = FRESH_TAU1,
                                      .tau2 = FRESH_TAU2};
    const struct slots_terms lazy = omo_terms(true, false);
    const struct slots_terms batch = omo_terms(false, true);
    const struct slots_terms omo = omo_terms(true, true);
    struct mapreduce_job jobs[MAPREDUCE_JOBS_MAX];
    size_t n = omo_set_jobs(set, slower, jobs);
    struct found found = {.fresh = simulate(set, slower, 1, &fresh),
                          .lazy = simulate(set, slower, 1, &lazy),
                          .batch = simulate(set, slower, 1, &batch),
                          .omo = simulate(set, slower, 1, &omo)};
    for (size_t i = 0; i < SLOW_STARTS; i++)
        found.fair[i] = simulate(set, 1, slow_starts[i], &fair);
    for (size_t i = 0; i < n; i++)
        found.bound_s += (double)jobs[i].maps * jobs[i].map_s / (double)(set->nodes * NODE_SLOTS);
    return found;
}

static double best_fair(const struct found *found)
{
    double best_s = HUGE_VAL;
    for (size_t i = 0; i < SLOW_STARTS; i++)
        best_s = fmin(best_s, found->fair[i].makespan_s);
    return best_s;
}

static void print_sets(const char *title, const struct found found[])
{
    evidence_begin(title);
    printf(
        "| jobs | Fair 0.05 | Fair best | Fair 1 | FRESH | lazy start | batch finish | OMO | OMO "
        "against Fair best | against FRESH | lazy start against Fair best | against FRESH |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t s = 0; s < OMO_SETS; s++) {
        const struct found *of = &found[s];
        double best_s = best_fair(of);
        printf(
            "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f %% | %.1f %% | %.1f %% | "
            "%.1f %% |\n",
            omo_sets[s].name, of->fair[0].makespan_s, best_s, of->fair[SLOW_STARTS - 1].makespan_s,
            of->fresh.makespan_s, of->lazy.makespan_s, of->batch.makespan_s, of->omo.makespan_s,
            mapreduce_change(of->omo.makespan_s, best_s),
            mapreduce_change(of->omo.makespan_s, of->fresh.makespan_s),
            mapreduce_change(of->lazy.makespan_s, best_s),
            mapreduce_change(of->lazy.makespan_s, of->fresh.makespan_s));
    }
    evidence_end();
}

/* The same order as published. */
static void expect_sets(const char *title, const struct found found[])
{
    for (size_t s = 0; s < OMO_SETS; s++) {
        const struct found *of = &found[s];
        double best_s = best_fair(of);
        evidence_expect(
            of->omo.makespan_s < of->fresh.makespan_s && of->omo.makespan_s < best_s &&
                of->lazy.makespan_s < of->fresh.makespan_s && of->lazy.makespan_s < best_s &&
                of->fair[SLOW_STARTS - 1].makespan_s > of->fresh.makespan_s &&
                of->fair[SLOW_STARTS - 1].makespan_s > of->fair[0].makespan_s,
            "%s, %s: OMO and lazy start are faster than FRESH and every Fair; Fair 1 is "
            "the slowest",
            title, omo_sets[s].name);
        evidence_expect(of->fair[0].makespan_s == best_s,
                        "%s, %s: no slow start is better for Fair than 0.05", title,
                        omo_sets[s].name);
    }
}

/* What batch finish adds to lazy start. */
static void expect_both(const struct found found[])
{
    size_t faster = 0;
    for (size_t s = 0; s < OMO_SETS; s++)
        faster += found[s].omo.makespan_s < found[s].lazy.makespan_s;
    evidence_expect(
        faster == 7 && found[OMO_8_TERASORT].omo.makespan_s > found[OMO_8_TERASORT].lazy.makespan_s,
        "maps slower: OMO is faster than lazy start alone on %zu of %d sets, not on Terasort",
        faster, OMO_SETS);
}

/* --- what was published --- */

static double over(const struct found *found, size_t first, size_t n, bool lazy, bool fresh)
{
    double sum = 0;
    for (size_t s = first; s < first + n; s++) {
        const struct found *of = &found[s];
        sum += mapreduce_change(lazy ? of->lazy.makespan_s : of->omo.makespan_s,
                                fresh ? of->fresh.makespan_s : best_fair(of));
    }
    return sum / (double)n;
}

static void print_change(const char *what, double alike, double slower, const char *published)
{
    printf("| %s | %.1f %% | %.1f %% | %s |\n", what, alike, slower, published);
}

/* As if the maps took OMO 20.8 % less than FRESH, which slots cannot do (docs/slots-evidence.md). */
static double granted_s(const struct found *found)
{
    return found->omo.makespan_s - (found->omo.maps_s - (1 - 0.208) * found->fresh.maps_s);
}

static void print_granted(const struct found *alike, const struct found *slower)
{
    print_change("OMO against Fair best, 8 Terasort, with the published map phase",
                 mapreduce_change(granted_s(alike), best_fair(alike)),
                 mapreduce_change(granted_s(slower), best_fair(slower)), "");
    print_change("OMO against FRESH, 8 Terasort, with the published map phase",
                 mapreduce_change(granted_s(alike), alike->fresh.makespan_s),
                 mapreduce_change(granted_s(slower), slower->fresh.makespan_s), "");
}

static void print_published(const struct found alike[], const struct found slower[])
{
    enum { SHOWN = OMO_B + 1 }; /* figure 4.17: three of one kind, A and B */
    evidence_begin("OMO, published");
    printf("| | slots alike | maps 1.64 times as long | published |\n|---|---|---|---|\n");
    print_change("OMO against Fair best", over(alike, 0, SHOWN, false, false),
                 over(slower, 0, SHOWN, false, false), "-26 %");
    print_change("OMO against FRESH", over(alike, 0, SHOWN, false, true),
                 over(slower, 0, SHOWN, false, true), "-29.3 %");
    static const struct {
        size_t set;
        const char *best, *fresh;
    } rows[] = {{OMO_8_TERASORT, "-11.6 %", "-24.5 %"},
                {OMO_8_SEQCOUNT, "-15.9 %", "-23.8 %"},
                {OMO_A, "-18.1 %", "-20.2 %"},
                {OMO_B, "-15.6 %", "-20.7 %"}};
    for (size_t r = 0; r < 4; r++) {
        char what[64];
        size_t s = rows[r].set;
        (void)snprintf(what, sizeof what, "lazy start against Fair best, %s", omo_sets[s].name);
        print_change(what, over(alike, s, 1, true, false), over(slower, s, 1, true, false),
                     rows[r].best);
        (void)snprintf(what, sizeof what, "lazy start against FRESH, %s", omo_sets[s].name);
        print_change(what, over(alike, s, 1, true, true), over(slower, s, 1, true, true),
                     rows[r].fresh);
    }
    print_change("FRESH against Fair 1, H",
                 mapreduce_change(alike[OMO_H].fresh.makespan_s, alike[OMO_H].fair[5].makespan_s),
                 mapreduce_change(slower[OMO_H].fresh.makespan_s, slower[OMO_H].fair[5].makespan_s),
                 "-9.8 %");
    print_change("OMO against Fair 0.05, H",
                 mapreduce_change(alike[OMO_H].omo.makespan_s, alike[OMO_H].fair[0].makespan_s),
                 mapreduce_change(slower[OMO_H].omo.makespan_s, slower[OMO_H].fair[0].makespan_s),
                 "-34.3 %");
    print_granted(&alike[OMO_8_TERASORT], &slower[OMO_8_TERASORT]);
    evidence_end();
}

/* --- phases, and what batch finish can do --- */

static void print_phase(const char *name, const struct mapreduce_outcome *of, const char *published)
{
    printf("| %s | %.0f | %.0f | %.0f | %s |\n", name, of->maps_s, of->shuffle_s, of->makespan_s,
           published);
}

static void print_phases(const struct found *terasort)
{
    evidence_begin("OMO, phases");
    printf("| 8 Terasort | maps s | shuffle after maps s | makespan s | published |\n"
           "|---|---|---|---|---|\n");
    print_phase("Fair 0.05", &terasort->fair[0], "maps 75 s longer than Fair 1, shuffle 36 s");
    print_phase("Fair 1", &terasort->fair[SLOW_STARTS - 1], "shuffle 293 s");
    print_phase("FRESH", &terasort->fresh, "maps 17.8 % less than Fair 1");
    print_phase("OMO", &terasort->omo, "maps 34.9 % less than Fair 1, shuffle 43 s, all 1,319 s");
    evidence_end();
    double change =
        mapreduce_change(terasort->fresh.maps_s, terasort->fair[SLOW_STARTS - 1].maps_s);
    evidence_expect(fabs(change + 17.8) <= 5,
                    "8 Terasort: maps of FRESH take %.1f %% against Fair 1's", change);
    evidence_expect(terasort->fresh.maps_s <= 1.08 * terasort->bound_s,
                    "8 Terasort: maps of FRESH take %.1f %% more than their work over all slots",
                    mapreduce_change(terasort->fresh.maps_s, terasort->bound_s));
}

/* Without lazy start no job with pending maps has begun its reduces at a slow start of 1. */
static void compare_batch_finish(const struct found found[])
{
    const struct slots_terms batch = omo_terms(false, true);
    const struct slots_terms neither = omo_terms(false, false);
    evidence_begin("OMO, batch finish");
    printf(
        "| jobs | FRESH | slow start 1, without | batch finish | slow start 0.05, without | batch "
        "finish |\n|---|---|---|---|---|---|\n");
    bool alike = true, less = true;
    for (size_t s = 0; s <= OMO_B; s++) {
        const struct omo_set *set = &omo_sets[s];
        double last_s = simulate(set, OMO_SLOWER, 1, &neither).makespan_s;
        double early_s = simulate(set, OMO_SLOWER, 0.05, &neither).makespan_s;
        double hurried_s = simulate(set, OMO_SLOWER, 0.05, &batch).makespan_s;
        alike = alike && last_s == found[s].batch.makespan_s;
        less = less && hurried_s < 0.96 * early_s;
        printf("| %s | %.0f | %.0f | %.0f | %.0f | %.0f |\n", set->name, found[s].fresh.makespan_s,
               last_s, found[s].batch.makespan_s, early_s, hurried_s);
    }
    evidence_end();
    evidence_expect(alike, "at a slow start of 1 batch finish alone changes nothing");
    evidence_expect(less, "at a slow start of 0.05 batch finish alone saves more than 4 %%");
}

/* --- larger inputs, more jobs --- */

static void print_scaling(const struct found slower[])
{
    double c_s = slower[OMO_C].omo.makespan_s;
    evidence_begin("OMO, scaling");
    printf("| OMO, times set C | here | published |\n|---|---|---|\n");
    printf("| 30 GB, set D | %.2f | 1.6 |\n", slower[OMO_D].omo.makespan_s / c_s);
    printf("| 40 GB, set E | %.2f | 2.1 |\n", slower[OMO_E].omo.makespan_s / c_s);
    printf("| 18 jobs, set F | %.2f | linear |\n", slower[OMO_F].omo.makespan_s / c_s);
    printf("| 24 jobs, set G | %.2f | linear |\n", slower[OMO_G].omo.makespan_s / c_s);
    evidence_end();
    evidence_expect(fabs(slower[OMO_E].omo.makespan_s / c_s - 2) <= 0.2 &&
                        fabs(slower[OMO_G].omo.makespan_s / c_s - 2) <= 0.2,
                    "twice the input or the jobs take OMO about twice as long");
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    struct found alike[OMO_SETS];
    struct found slower[OMO_SETS];
    if (quick)
        seeds = 1;
    arena_init(&arena, 0);
    compare_curves();
    for (size_t s = 0; s < OMO_SETS; s++) {
        alike[s] = compare(&omo_sets[s], 1);
        slower[s] = compare(&omo_sets[s], OMO_SLOWER);
    }
    print_sets("OMO, slots alike", alike);
    print_sets("OMO, maps slower", slower);
    expect_sets("slots alike", alike);
    expect_sets("maps slower", slower);
    expect_both(slower);
    print_published(alike, slower);
    print_phases(&slower[OMO_8_TERASORT]);
    compare_batch_finish(slower);
    print_scaling(slower);
    omo_yarn_compare(alike[OMO_8_TERASORT].omo.makespan_s, slower[OMO_8_TERASORT].omo.makespan_s,
                     SPREAD, seeds, &arena);
    arena_fini(&arena);
    return quick ? 0 : evidence_status();
}
