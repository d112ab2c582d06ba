#include "geo_cases.h"

#include <math.h>
#include <string.h>

struct arena arena;

void cases_setup(void)
{
    arena_init(&arena, 0);
}

void cases_teardown(void)
{
    arena_fini(&arena);
}

const struct speeds *fixed(double value)
{
    struct speeds *made = arena_alloc(&arena, sizeof *made);
    speeds_make((struct speed_point[]){{value, 1}}, 1, made);
    return made;
}

const struct speeds *two(double low, double p, double high)
{
    struct speeds *made = arena_alloc(&arena, sizeof *made);
    speeds_make((struct speed_point[]){{low, p}, {high, 1 - p}}, 2, made);
    return made;
}

struct geo_cluster cluster(int64_t slots, double unreachable, const struct speeds *speed)
{
    const struct speeds **processing = arena_array(&arena, 1, sizeof *processing);
    processing[0] = speed;
    return (struct geo_cluster){slots, 0, unreachable, 1e12, 1e12, processing};
}

struct geo_task task(double size, const size_t inputs[], size_t n)
{
    size_t *copied = arena_array(&arena, n, sizeof *copied);
    if (n > 0)
        memcpy(copied, inputs, n * sizeof *copied);
    return (struct geo_task){.size_bytes = size, .inputs = copied, .n_inputs = n};
}

struct geo_job job(double unprocessed, const struct geo_task tasks[], size_t n)
{
    struct geo_task *copied = arena_array(&arena, n, sizeof *copied);
    memcpy(copied, tasks, n * sizeof *copied);
    return (struct geo_job){.unprocessed_bytes = unprocessed, .tasks = copied, .n_tasks = n};
}

static const struct speeds *draw_speeds(struct rng *rng)
{
    struct speed_point points[4];
    struct speeds *made = arena_alloc(&arena, sizeof *made);
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        points[i] = (struct speed_point){rng_lognormal(rng, 100, 0.8), rng_uniform(rng) + 0.05};
        sum += points[i].probability;
    }
    for (size_t i = 0; i < 4; i++)
        points[i].probability /= sum;
    speeds_make(points, 4, made);
    return made;
}

void draw_problem(struct rng *rng, struct drawn *d)
{
    size_t n = 2 + (size_t)(6 * rng_uniform(rng));
    size_t n_jobs = 1 + (size_t)(5 * rng_uniform(rng));
    size_t n_links = 0;
    for (size_t m = 0; m < n; m++) {
        d->clusters[m] =
            cluster((int64_t)(12 * rng_uniform(rng)), rng_uniform(rng) * 0.3, draw_speeds(rng));
        d->clusters[m].busy_slots = (int64_t)((double)d->clusters[m].slots * rng_uniform(rng) / 2);
        d->clusters[m].ingress_bytes_per_s = 400 * rng_uniform(rng);
        d->clusters[m].egress_bytes_per_s = 400 * rng_uniform(rng);
        for (size_t k = 0; k < n; k++)
            if (k != m)
                d->links[n_links++] = (struct geo_link){k, m, draw_speeds(rng)};
    }
    for (size_t j = 0; j < n_jobs; j++) {
        struct geo_task tasks[MOST];
        size_t n_tasks = 1 + (size_t)(10 * rng_uniform(rng));
        for (size_t t = 0; t < n_tasks; t++) {
            size_t inputs[2];
            size_t n_inputs = (size_t)(3 * rng_uniform(rng));
            inputs[0] = (size_t)((double)n * rng_uniform(rng));
            inputs[1] = (inputs[0] + 1) % n;
            tasks[t] = task(1000 * rng_uniform(rng) + 1, inputs, n_inputs);
        }
        d->jobs[j] = job(1e4 * rng_uniform(rng), tasks, n_tasks);
    }
    d->problem = (struct geo_problem){d->clusters, n, d->links, n_links, 1, d->jobs, n_jobs, 1};
}

void draw_running(struct rng *rng, struct drawn *d)
{
    for (size_t j = 0; j < d->problem.n_jobs; j++) {
        struct geo_task *tasks = arena_array(&arena, d->jobs[j].n_tasks, sizeof *tasks);
        memcpy(tasks, d->jobs[j].tasks, d->jobs[j].n_tasks * sizeof *tasks);
        d->jobs[j].tasks = tasks;
        d->jobs[j].stage_tasks = d->jobs[j].n_tasks + 20;
        d->jobs[j].done_tasks = (size_t)(21 * rng_uniform(rng));
        d->jobs[j].median_duration_s = 10 * rng_uniform(rng);
        for (size_t t = 0; t < d->jobs[j].n_tasks; t++) {
            tasks[t].waited_s = 6 * rng_uniform(rng);
            size_t m = (size_t)((double)d->problem.n_clusters * rng_uniform(rng));
            if (rng_uniform(rng) < 0.5 || d->clusters[m].busy_slots == d->clusters[m].slots)
                continue;
            struct geo_running *copy = arena_alloc(&arena, sizeof *copy);
            *copy = (struct geo_running){
                m, rng_uniform(rng) < 0.2 ? (double)NAN : rng_lognormal(rng, 10, 1),
                rng_uniform(rng) < 0.2 ? (double)NAN : tasks[t].size_bytes * rng_uniform(rng)};
            d->clusters[m].busy_slots++;
            tasks[t].copies = copy;
            tasks[t].n_copies = 1;
        }
    }
}
