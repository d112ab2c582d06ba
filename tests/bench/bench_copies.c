/*
 * One copy plan: seconds of the processor, from 10 clusters and 200 tasks to 1,000 and 20,000.
 * Clusters are large, medium and small as in PingAn's table 2, speeds have 8 points, tasks read
 * from 1 to 3 clusters of their own, half of the slots are idle.
 *
 *     bench_copies [CLUSTERS_MAX]
 *
 * Goals: 100 clusters, 20 jobs, 2,000 tasks under 0.1 s; 1,000 clusters, 20,000 tasks under 5 s,
 * whatever the algorithm. Then 100 clusters and 2,000 tasks with every third task running, and as
 * one job. "waiting" is what got no copy, "copies" what was granted in all, "stops" what was ended.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "core/geo/plan_make.h"

enum { POINTS = 8, OPERATIONS = 4, LINK_KINDS = 512, REPETITIONS = 5 };

struct kind {
    double share;
    double slots[2];
    double gate[2];  /* of all its slots' transfers */
    double power[2]; /* mean processing speed, MB/s */
    double spread[2];
    double unreachable[2];
};

static const struct kind kinds[] = {
    {0.05, {500, 1500}, {0.55, 0.75}, {174, 355}, {0.25, 0.6}, {0.002, 0.011}},
    {0.20, {50, 500}, {0.65, 0.85}, {128, 241}, {0.55, 0.85}, {0.02, 0.2}},
    {0.75, {10, 50}, {0.75, 0.95}, {68, 179}, {0.35, 0.75}, {0.05, 0.5}}};

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double draw(struct rng *rng, const double range[2])
{
    return range[0] + (range[1] - range[0]) * rng_uniform(rng);
}

/* A normal distribution cut off below a twentieth of its mean, on equally spaced points. */
static struct speeds *make_speeds(struct arena *arena, double mean, double rsd)
{
    struct speed_point points[POINTS];
    double sum = 0;
    for (size_t i = 0; i < POINTS; i++) {
        double z = -2 + 4 * (double)i / (POINTS - 1);
        points[i] = (struct speed_point){
            fmax(mean * (1 + z * rsd), mean / 20 * (1 + 0.01 * (double)i)), exp(-z * z / 2)};
        sum += points[i].probability;
    }
    for (size_t i = 0; i < POINTS; i++)
        points[i].probability /= sum;
    struct speeds *made = arena_alloc(arena, sizeof *made);
    if (made != NULL)
        speeds_make(points, POINTS, made);
    return made;
}

static void
make_clusters(struct arena *arena, struct rng *rng, struct geo_cluster clusters[], size_t n)
{
    for (size_t m = 0; m < n; m++) {
        double u = rng_uniform(rng);
        const struct kind *kind = &kinds[u < 0.05 ? 0 : u < 0.25 ? 1 : 2];
        double slots = floor(draw(rng, kind->slots));
        double gate = draw(rng, kind->gate) * slots * 0.2e6;
        const struct speeds **processing = arena_array(arena, OPERATIONS, sizeof *processing);
        for (size_t op = 0; processing != NULL && op < OPERATIONS; op++)
            processing[op] =
                make_speeds(arena, 1e4 * draw(rng, kind->power), draw(rng, kind->spread));
        clusters[m] = (struct geo_cluster){
            (int64_t)slots, (int64_t)(slots / 2), draw(rng, kind->unreachable), gate, gate,
            processing};
    }
}

static size_t make_links(struct arena *arena, struct rng *rng, struct geo_link links[], size_t n)
{
    const double mean[2] = {64e3, 256e3};
    const double rsd[2] = {0.2, 0.5};
    struct speeds *some[LINK_KINDS];
    size_t n_links = 0;
    for (size_t i = 0; i < LINK_KINDS; i++)
        some[i] = make_speeds(arena, draw(rng, mean), draw(rng, rsd));
    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++)
            if (from != to)
                links[n_links++] =
                    (struct geo_link){from, to, some[(size_t)(rng_uniform(rng) * LINK_KINDS)]};
    return n_links;
}

static void make_task(struct arena *arena, struct rng *rng, size_t clusters, struct geo_task *task)
{
    size_t n = 1 + (size_t)(3 * rng_uniform(rng));
    size_t *inputs = arena_array(arena, n, sizeof *inputs);
    size_t first = (size_t)((double)clusters * rng_uniform(rng));
    for (size_t i = 0; inputs != NULL && i < n; i++)
        inputs[i] = (first + i * (1 + clusters / 7)) % clusters;
    *task = (struct geo_task){.operation = (size_t)(OPERATIONS * rng_uniform(rng)),
                              .size_bytes = rng_lognormal(rng, 64e6, 1),
                              .inputs = inputs,
                              .n_inputs = n};
}

/* It runs where its first input is, perhaps slowly: work for those who look at running copies. */
static void start_task(struct arena *arena, struct rng *rng, struct geo_task *task)
{
    struct geo_running *copy = arena_alloc(arena, sizeof *copy);
    double processed = task->size_bytes * rng_uniform(rng);
    if (copy == NULL)
        return;
    *copy =
        (struct geo_running){task->inputs[0], rng_lognormal(rng, processed / 5e5, 1), processed};
    task->copies = copy;
    task->n_copies = 1;
}

struct made {
    struct arena arena;
    struct geo_problem problem;
    size_t tasks;
};

static void
make_problem(struct made *made, size_t n_clusters, size_t n_jobs, size_t tasks_each, bool running)
{
    struct arena *arena = &made->arena;
    arena_init(arena, 0);
    struct rng rng = rng_make(7, n_clusters);
    struct geo_cluster *clusters = arena_array(arena, n_clusters, sizeof *clusters);
    struct geo_link *links = arena_array(arena, n_clusters * n_clusters, sizeof *links);
    struct geo_job *jobs = arena_array(arena, n_jobs, sizeof *jobs);
    make_clusters(arena, &rng, clusters, n_clusters);
    size_t n_links = make_links(arena, &rng, links, n_clusters);
    for (size_t j = 0; j < n_jobs; j++) {
        struct geo_task *tasks = arena_array(arena, tasks_each, sizeof *tasks);
        jobs[j] = (struct geo_job){.unprocessed_bytes = rng_lognormal(&rng, 1e10, 1),
                                   .tasks = tasks,
                                   .n_tasks = tasks_each,
                                   .stage_tasks = 4 * tasks_each,
                                   .done_tasks = 3 * tasks_each,
                                   .median_duration_s = 60};
        for (size_t t = 0; t < tasks_each; t++)
            make_task(arena, &rng, n_clusters, &tasks[t]);
        for (size_t t = 0; running && t < tasks_each; t += 3)
            start_task(arena, &rng, &tasks[t]);
    }
    made->tasks = n_jobs * tasks_each;
    made->problem =
        (struct geo_problem){clusters, n_clusters, links, n_links, OPERATIONS, jobs, n_jobs, 1};
}

static bool run_row(const struct made *made, const struct geo_parameters *terms)
{
    struct geo_plan plan;
    double least = HUGE_VAL;
    for (size_t i = 0; i < REPETITIONS; i++) {
        struct arena work;
        arena_init(&work, 0);
        double began = cpu_s();
        if (geo_plan_make(&made->problem, terms, NULL, NULL, &work, &plan, NULL) != PV_OK)
            return false;
        least = fmin(least, cpu_s() - began);
        if (i + 1 == REPETITIONS)
            printf("%9s %9zu %6zu %8zu %10.4f %8zu %8zu %6zu %9.1f\n", terms->planner->name,
                   made->problem.n_clusters, made->problem.n_jobs, made->tasks, least,
                   plan.n_copies, plan.n_waiting, plan.n_cancellations, (double)work.total / 1e6);
        arena_fini(&work);
    }
    return true;
}

static struct geo_parameters terms_of(const struct geo_planner *planner)
{
    struct geo_parameters terms = geo_parameters_default(planner);
    (void)geo_parameters_set(&terms, "epsilon", 0.8);
    (void)geo_parameters_set(&terms, "max_rounds", 3);
    return terms;
}

/* How the time of one algorithm grows. */
static bool show_growth(const struct geo_planner *planner, size_t most)
{
    static const size_t rows[][3] = {
        {10, 4, 50}, {30, 10, 60}, {100, 20, 100}, {300, 40, 150}, {1000, 100, 200}};
    const struct geo_parameters terms = terms_of(planner);
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof rows / sizeof *rows && rows[i][0] <= most; i++) {
        struct made made;
        make_problem(&made, rows[i][0], rows[i][1], rows[i][2], false);
        ok = run_row(&made, &terms);
        arena_fini(&made.arena);
    }
    return ok;
}

/* All of them on one problem: nothing runs, or every third task does; 20 jobs, or one. */
static bool compare(bool running, size_t n_jobs)
{
    struct made made;
    bool ok = true;
    make_problem(&made, 100, n_jobs, 2000 / n_jobs, running);
    for (size_t a = 0; ok && a < geo_planners_n; a++) {
        const struct geo_parameters terms = terms_of(geo_planners[a]);
        ok = run_row(&made, &terms);
    }
    arena_fini(&made.arena);
    return ok;
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 1000;
    bool ok = true;
    printf("%9s %9s %6s %8s %10s %8s %8s %6s %9s\n", "algorithm", "clusters", "jobs", "tasks",
           "least s", "copies", "waiting", "stops", "MB");
    for (size_t a = 0; ok && a < geo_planners_n; a++)
        ok = show_growth(geo_planners[a], most);
    printf("\nevery third task runs already\n");
    ok = ok && compare(true, 20);
    printf("\none job of all tasks\n");
    ok = ok && compare(false, 1);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
