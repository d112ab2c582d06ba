/*
 * PingAn's simulations (section 6): Montage workflows in 100 clusters drawn from table 2, under
 * PingAn, its baselines and PingAn by other rules, beside the figures of the paper.
 *
 *     bench_geo [name=value ...]
 *
 *     workflows=300 repetitions=2 clusters=100 seed=1 threads=2
 *     slots=0.02   of the machines of table 2 that take tasks; what sets the load (see below)
 *     work=1 bytes=0.05   of the recorded task times and file sizes
 *     period=60 outage=60   table 2's unreachability is for this time, and keep_going for that
 *     sections=baselines+principles+allocation+epsilon   or speed: PingAn alone, with rows=1
 *     alike=0      0 to 1: mean powers and lines of table 2, or all the same
 *     start=1      PingAn insures tasks only when they start
 *     rows=1       every run with what it did
 *
 * workflows=2000 repetitions=10 is the size of the paper. The paper does not print how work relates
 * to a machine's power, nor how many tasks a machine takes. Chosen before any baseline had run:
 * task times as recorded; bytes such that three in four workflows of a light load take up to about
 * 100 s, as the paper has it; and slots such that Flutter, which starts each task once, keeps about
 * two in three of them busy at the heavy load (the column "busy").
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/geosim/comparison.h"
#include "core/geosim/engine.h"
#include "core/geosim/topology.h"
#include "core/geosim/workload.h"
#include "core/sim/statistics.h"

static const double COMMON_POWER = 200; /* MIPS */
static const double COMMON_WAN = 160e3; /* bytes/s */

enum { RUNS_MAX = 128, THREADS_MAX = 64, LOADS = 3, RATES = 5, EPSILONS = 4 };

struct settings {
    double workflows, repetitions, clusters, seed, threads;
    double slots, work, bytes, period, outage, alike, start, rows;
    const char *sections;
};

/* A policy at an arrival rate, over all repetitions. */
struct run {
    char name[24];
    struct geosim_parameters terms;
    double rate;
    double *flow_s;              /* mean of each workflow */
    struct sorted_sample sample; /* of those */
    struct geosim_counts counts;
    double busy; /* means over repetitions */
    double useful;
    double cpu_s;
};

static struct bench {
    struct settings settings;
    struct geosim_world_parameters world;
    struct geosim_workload_parameters workload;
    struct run runs[RUNS_MAX];
    size_t n_runs;
    atomic_size_t next;
    pthread_mutex_t lock;
    struct arena arena;
} bench = {.settings = {300, 2, 100, 1, 2, 0.02, 1, 0.05, 60, 60, 0, 0, 0,
                        "baselines+principles+allocation+epsilon"},
           .lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the paper --- */

static const struct {
    const char *name;
    double rate;
    double epsilon;
    double cut_percent; /* against the best baseline */
    double within_s;
    double pingan, dolly, mantri; /* percent of workflows within that */
    double least_cut[3];          /* percent against Flutter that seven in ten reach: likewise */
} loads[LOADS] = {{"light", 0.02, 0.8, 52.9, 100, 76.9, 70.5, 73.7, {91.4, 85.2, 74.3}},
                  {"medium", 0.07, 0.6, 61.9, 200, 84.03, 67.5, 61.34, {94.13, 89.7, 88.1}},
                  {"heavy", 0.15, 0.2, 13.5, 800, 71.0, 37.6, 59, {49.6, (double)NAN, 41.1}}};

static const double rates[RATES] = {0.02, 0.05, 0.07, 0.11, 0.15};
static const double best_epsilon[RATES] = {0.8, 0.6, 0.6, 0.4, 0.2};
static const double epsilons[EPSILONS] = {0.2, 0.4, 0.6, 0.8};
#define EPSILON_LARGE 0.8

/* --- runs --- */

static void die(const char *what)
{
    (void)fprintf(stderr, "bench_geo: %s\n", what);
    exit(EXIT_FAILURE);
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void add_up(struct geosim_counts *sum, const struct geosim_counts *one)
{
    sum->copies += one->copies;
    sum->extra += one->extra;
    sum->lost += one->lost;
    sum->losers += one->losers;
    sum->stopped += one->stopped;
    sum->refused += one->refused;
    sum->plans += one->plans;
}

static void note(struct run *run, const struct geosim_result *result, size_t n, double cpu)
{
    double share = 1 / bench.settings.repetitions;
    pthread_mutex_lock(&bench.lock);
    for (size_t w = 0; w < n; w++)
        run->flow_s[w] += result->flow_s[w] * share;
    add_up(&run->counts, &result->counts);
    run->busy += result->utilization * share;
    run->useful += result->useful * share;
    run->cpu_s += cpu * share;
    pthread_mutex_unlock(&bench.lock);
}

/* World and workload are the same in all repetitions; what happens there is not. */
static void carry_out(struct run *run, uint64_t repetition)
{
    struct arena arena;
    struct geosim_world world;
    struct geosim_workload workload;
    struct geosim_result result;
    struct pv_error err = {0};
    uint64_t seed = (uint64_t)bench.settings.seed;
    arena_init(&arena, 0);
    if (geosim_world_draw(&bench.world, seed, &arena, &world, &err) != PV_OK ||
        geosim_workload_draw(&bench.workload, &world, run->rate, seed, &arena, &workload, &err) !=
            PV_OK)
        die(err.detail);
    double began = cpu_s();
    if (geosim_run(&world, &workload, &run->terms, 1000 * seed + repetition, NULL, &arena, &result,
                   &err) != PV_OK)
        die(err.detail);
    note(run, &result, workload.n_workflows, cpu_s() - began);
    arena_fini(&arena);
}

static void *work(void *unused)
{
    size_t repetitions = (size_t)bench.settings.repetitions;
    (void)unused;
    for (;;) {
        size_t at = atomic_fetch_add(&bench.next, 1);
        if (at >= bench.n_runs * repetitions)
            return NULL;
        carry_out(&bench.runs[at / repetitions], at % repetitions);
        if (bench.settings.rows > 0)
            (void)fprintf(stderr, "\r%zu of %zu ", at + 1, bench.n_runs * repetitions);
    }
}

static void run_all(void)
{
    pthread_t threads[THREADS_MAX];
    size_t n = (size_t)fmin(THREADS_MAX, bench.settings.threads);
    for (size_t i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            die("no thread");
    for (size_t i = 0; i < n; i++)
        (void)pthread_join(threads[i], NULL);
    for (size_t i = 0; i < bench.n_runs; i++) {
        struct run *run = &bench.runs[i];
        (void)sorted_sample_make(&run->sample, run->flow_s, (size_t)bench.settings.workflows,
                                 &bench.arena);
    }
}

/* The run of that name and rate, which is made on the first call. */
static struct run *run_of(const char *name, double rate, const struct geosim_parameters *terms)
{
    size_t i = 0;
    while (i < bench.n_runs &&
           (strcmp(bench.runs[i].name, name) != 0 || bench.runs[i].rate != rate))
        i++;
    struct run *run = &bench.runs[i];
    if (i < bench.n_runs)
        return run;
    if (terms == NULL || i == RUNS_MAX)
        die("a run is missing");
    *run = (struct run){.terms = *terms, .rate = rate};
    (void)snprintf(run->name, sizeof run->name, "%s", name);
    run->flow_s = arena_calloc(&bench.arena, (size_t)bench.settings.workflows, sizeof(double));
    if (run->flow_s == NULL)
        die("no memory");
    bench.n_runs++;
    return run;
}

static struct run *pingan(double rate, double epsilon)
{
    char name[16];
    struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    (void)geo_parameters_set(&terms.planner, "epsilon", epsilon);
    terms.clone_running = !(bench.settings.start > 0);
    (void)snprintf(name, sizeof name, "pingan %.1f", epsilon);
    return run_of(name, rate, &terms);
}

static struct run *baseline(double rate, const struct geo_planner *planner)
{
    const struct geosim_parameters terms = geosim_parameters_default(planner);
    return run_of(planner->name, rate, &terms);
}

/* PingAn by other rules. */
static struct run *variant(double rate, double epsilon, const char *name)
{
    char full[24];
    struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    static const char *const principles[] = {"eff-reli", "reli-eff", "eff-eff", "reli-reli"};
    size_t principle = 0;
    for (size_t i = 0; i < sizeof principles / sizeof *principles; i++)
        if (strcmp(name, principles[i]) == 0)
            principle = i;
    (void)geo_parameters_set(&terms.planner, "epsilon", epsilon);
    terms.clone_running = !(bench.settings.start > 0);
    (void)geo_parameters_set(&terms.planner, "principle", (double)principle);
    (void)geo_parameters_set(&terms.planner, "allocation", strcmp(name, "jga") == 0);
    (void)snprintf(full, sizeof full, "%s %.1f", name, epsilon);
    return run_of(full, rate, &terms);
}

/* --- tables --- */

static double cut_percent(const struct run *run, const struct run *other)
{
    return 100 * (1 - run->sample.mean / other->sample.mean);
}

static void print_rows(void)
{
    printf("\n%-14s %5s %9s %8s %8s %6s %7s %8s %6s %6s %6s %6s %8s %8s\n", "policy", "rate",
           "mean s", "median", "p95", "busy", "useful", "copies", "extra", "lost", "stops",
           "undone", "plans", "cpu s");
    for (size_t i = 0; i < bench.n_runs; i++) {
        const struct run *run = &bench.runs[i];
        const struct geosim_counts *c = &run->counts;
        printf(
            "%-14s %5.2f %9.1f %8.1f %8.1f %5.1f%% %6.1f%% %8zu %6.2f %6zu %6zu %6zu %8zu %8.2f\n",
            run->name, run->rate, run->sample.mean, sorted_sample_quantile(&run->sample, 0.5),
            sorted_sample_quantile(&run->sample, 0.95), 100 * run->busy, 100 * run->useful,
            c->copies, (double)c->extra / (double)(c->copies - c->extra), c->lost, c->stopped,
            run->sample.absent, c->plans, run->cpu_s);
    }
}

/* What seven in ten workflows save at least against Flutter. */
static double least_cut(const struct run *run, const struct run *flutter)
{
    size_t n = (size_t)bench.settings.workflows;
    double *cut = arena_array(&bench.arena, n, sizeof *cut);
    if (cut == NULL)
        die("no memory");
    comparison_reduction(run->flow_s, flutter->flow_s, n, cut);
    struct sorted_sample sample;
    (void)sorted_sample_make(&sample, cut, n, &bench.arena);
    return 100 * sorted_sample_quantile(&sample, 0.3);
}

/* The best of the paper's four baselines. Runs are made on the first call. */
static const struct run *best_baseline(double rate)
{
    const struct run *best = baseline(rate, &geo_planner_flutter);
    static const struct geo_planner *const others[] = {&geo_planner_iridium, &geo_planner_mantri,
                                                       &geo_planner_dolly};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct run *run = baseline(rate, others[i]);
        if (run->sample.mean < best->sample.mean)
            best = run;
    }
    return best;
}

static void make_baselines(void)
{
    for (size_t i = 0; i < LOADS; i++) {
        (void)pingan(loads[i].rate, loads[i].epsilon);
        (void)pingan(loads[i].rate, EPSILON_LARGE);
        (void)best_baseline(loads[i].rate);
        (void)baseline(loads[i].rate, &geo_planner_spark);
    }
}

static void tell_baselines(void)
{
    printf("\nmean flow time, s; cut: against the best of flutter, iridium, mantri, dolly\n"
           "%-7s %7s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n",
           "load", "epsilon", "pingan", "cut", "(paper)", "flutter", "iridium", "mantri", "dolly",
           "spark", "busy");
    for (size_t i = 0; i < LOADS; i++) {
        double rate = loads[i].rate;
        const struct run *best = best_baseline(rate);
        const struct run *large = pingan(rate, EPSILON_LARGE);
        const struct run *own = pingan(rate, loads[i].epsilon);
        printf("%-7s %7.1f %8.1f %7.1f%% %7.1f%%", loads[i].name, loads[i].epsilon,
               own->sample.mean, cut_percent(own, best), loads[i].cut_percent);
        for (size_t a = 1; a < geo_planners_n; a++)
            printf(" %8.1f", baseline(rate, geo_planners[a])->sample.mean);
        printf(" %7.1f%%\n", 100 * baseline(rate, &geo_planner_flutter)->busy);
        if (large != own)
            printf("%-7s %7.1f %8.1f %7.1f%%\n", "", EPSILON_LARGE, large->sample.mean,
                   cut_percent(large, best));
    }
}

static void tell_points(void)
{
    static const struct geo_planner *const others[] = {&geo_planner_dolly, &geo_planner_mantri};
    printf("\nworkflows done in time, and what 7 in 10 save at least against Flutter (paper)\n"
           "%-8s %-8s %10s %18s %22s\n",
           "load", "policy", "within", "of all", "least saving");
    for (size_t i = 0; i < LOADS; i++) {
        const struct run *flutter = baseline(loads[i].rate, &geo_planner_flutter);
        for (size_t k = 0; k < 3; k++) {
            const struct run *run = k == 0 ? pingan(loads[i].rate, loads[i].epsilon)
                                           : baseline(loads[i].rate, others[k - 1]);
            double paper = k == 0 ? loads[i].pingan : k == 1 ? loads[i].dolly : loads[i].mantri;
            printf("%-8s %-8s %8.0f s %8.1f%% (%5.1f%%) %12.1f%% (%5.1f%%)\n", loads[i].name,
                   k == 0 ? "pingan" : run->name, loads[i].within_s,
                   100 * sorted_sample_share_within(&run->sample, loads[i].within_s), paper,
                   least_cut(run, flutter), loads[i].least_cut[k]);
        }
    }
}

struct rule {
    const char *name; /* as it should be */
    size_t n;
    const char *others[3];
    double paper_percent[3];
};

static const struct rule principles = {
    "eff-reli", 3, {"reli-eff", "reli-reli", "eff-eff"}, {18.5, 52.8, 4}};
static const struct rule allocation = {"efa", 1, {"jga"}, {39.4}};

static void tell_variant(const struct rule *rule, size_t load, double epsilon, bool make)
{
    const struct run *own = pingan(loads[load].rate, epsilon);
    if (!make)
        printf("%-7s %7.1f %8.1f", loads[load].name, epsilon, own->sample.mean);
    for (size_t k = 0; k < rule->n; k++) {
        const struct run *run = variant(loads[load].rate, epsilon, rule->others[k]);
        if (!make)
            printf("  %9s %6.1f%% (%4.1f%%)", rule->others[k], cut_percent(own, run),
                   rule->paper_percent[k]);
    }
    if (!make)
        printf("\n");
}

static void tell_variants(const struct rule *rule, bool make)
{
    if (!make)
        printf("\n%s: mean flow time, s, and its cut against (paper)\n", rule->name);
    for (size_t i = 0; i < LOADS; i++) {
        tell_variant(rule, i, loads[i].epsilon, make);
        if (loads[i].epsilon != EPSILON_LARGE)
            tell_variant(rule, i, EPSILON_LARGE, make);
    }
}

static void tell_epsilon(bool make)
{
    if (!make)
        printf("\nmean flow time by epsilon, s\n%-8s %9s %9s %9s %9s  %s\n", "rate", "0.2", "0.4",
               "0.6", "0.8", "best (paper)");
    for (size_t i = 0; i < RATES; i++) {
        size_t best = 0;
        if (!make)
            printf("%-8.2f", rates[i]);
        for (size_t k = 0; k < EPSILONS; k++) {
            const struct run *run = pingan(rates[i], epsilons[k]);
            if (run->sample.mean < pingan(rates[i], epsilons[best])->sample.mean)
                best = k;
            if (!make)
                printf(" %9.1f", run->sample.mean);
        }
        if (!make)
            printf("  %.1f  (%.1f)\n", epsilons[best], best_epsilon[i]);
    }
}

/* First called to list the runs, then to tell of them. */
static void tell(bool make)
{
    const char *sections = bench.settings.sections;
    if (strstr(sections, "speed") != NULL)
        for (size_t i = 0; i < LOADS; i++)
            (void)pingan(loads[i].rate, EPSILON_LARGE);
    if (strstr(sections, "baselines") != NULL && make)
        make_baselines();
    if (strstr(sections, "baselines") != NULL && !make) {
        tell_baselines();
        tell_points();
    }
    if (strstr(sections, "principles") != NULL)
        tell_variants(&principles, make);
    if (strstr(sections, "allocation") != NULL)
        tell_variants(&allocation, make);
    if (strstr(sections, "epsilon") != NULL)
        tell_epsilon(make);
}

/* --- */

static void read_settings(int argc, char **argv)
{
    struct settings *s = &bench.settings;
    const struct {
        const char *name;
        double *value;
    } names[] = {{"workflows", &s->workflows},
                 {"repetitions", &s->repetitions},
                 {"clusters", &s->clusters},
                 {"seed", &s->seed},
                 {"threads", &s->threads},
                 {"slots", &s->slots},
                 {"work", &s->work},
                 {"bytes", &s->bytes},
                 {"period", &s->period},
                 {"outage", &s->outage},
                 {"alike", &s->alike},
                 {"start", &s->start},
                 {"rows", &s->rows}};
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        size_t length = value != NULL ? (size_t)(value - argv[i]) : 0;
        size_t k = 0;
        while (k < sizeof names / sizeof *names &&
               (strlen(names[k].name) != length || strncmp(names[k].name, argv[i], length) != 0))
            k++;
        if (k < sizeof names / sizeof *names)
            *names[k].value = strtod(value + 1, NULL);
        else if (length == 8 && strncmp(argv[i], "sections", length) == 0)
            s->sections = value + 1;
        else
            die("arguments are name=value, as told at the head of bench_geo.c");
    }
}

/* All clusters' mean powers, and all means of the lines between them, moved towards one. */
static void make_alike(double share)
{
    for (size_t i = 0; i < GEOSIM_SCALES; i++) {
        struct geosim_scale_parameters *scale = &bench.world.scales[i];
        struct geosim_range *const ranges[] = {&scale->power, &scale->wan_bytes_per_s};
        const double centres[] = {COMMON_POWER, COMMON_WAN};
        for (size_t k = 0; k < 2; k++) {
            ranges[k]->low += share * (centres[k] - ranges[k]->low);
            ranges[k]->high += share * (centres[k] - ranges[k]->high);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct geosim_montage_figures *const figures[] = {&geosim_montage_2mass};
    const struct settings *s = &bench.settings;
    read_settings(argc, argv);
    arena_init(&bench.arena, 0);
    bench.world = geosim_world_defaults;
    bench.world.n_clusters = (size_t)s->clusters;
    bench.world.slots_factor = s->slots;
    bench.world.outage_period_s = s->period;
    bench.world.outage_s = s->outage;
    make_alike(s->alike);
    bench.workload = (struct geosim_workload_parameters){.n_workflows = (size_t)s->workflows,
                                                         .medium_share = 0.5,
                                                         .scaling = {s->work, s->bytes},
                                                         .sizes = geosim_size_classes,
                                                         .n_sizes = GEOSIM_SIZE_CLASSES,
                                                         .figures = figures,
                                                         .n_figures = 1,
                                                         .n_operations = MONTAGE_STEPS};
    tell(true);
    run_all();
    printf("%.0f workflows, %.0f clusters, %.0f repetitions; slots %g, work %g, bytes %g\n",
           s->workflows, s->clusters, s->repetitions, s->slots, s->work, s->bytes);
    tell(false);
    if (s->rows > 0)
        print_rows();
    arena_fini(&bench.arena);
    return EXIT_SUCCESS;
}
