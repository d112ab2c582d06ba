#include "core/geosim/workload.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/geosim/topology.h"

static struct arena arena;
static struct geosim_world world;
static const struct geosim_montage_figures *const figures[] = {&geosim_montage_2mass};

static void setup(void)
{
    struct pv_error err;
    pv_error_clear(&err);
    arena_init(&arena, 0);
    cr_assert_eq(geosim_world_draw(&geosim_world_defaults, 1, &arena, &world, &err), PV_OK);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(geosim_workload, .init = setup, .fini = teardown);

static const struct geosim_workload_parameters USUAL = {.n_workflows = 500,
                                                        .medium_share = 0.5,
                                                        .scaling = {1, 1},
                                                        .sizes = geosim_size_classes,
                                                        .n_sizes = GEOSIM_SIZE_CLASSES,
                                                        .figures = figures,
                                                        .n_figures = 1,
                                                        .n_operations = MONTAGE_STEPS};

static struct geosim_workload
draw(const struct geosim_workload_parameters *terms, double rate, uint64_t seed)
{
    struct geosim_workload workload;
    struct pv_error err;
    pv_error_clear(&err);
    cr_assert_eq(geosim_workload_draw(terms, &world, rate, seed, &arena, &workload, &err), PV_OK);
    return workload;
}

static struct geosim_task *draw_montage(size_t n, struct rng *rng)
{
    static const size_t everywhere[] = {7};
    const struct geosim_stores stores = {everywhere, 1};
    const struct geosim_scaling scaling = {1, 1};
    struct geosim_task *tasks =
        geosim_montage_draw(n, &geosim_montage_2mass, 0, &scaling, &stores, rng, &arena);
    cr_assert_not_null(tasks);
    return tasks;
}

static void expect_sound(const struct geosim_task tasks[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cr_assert_gt(tasks[i].work_s, 0);
        cr_assert_gt(tasks[i].input_bytes, 0);
        cr_assert_geq(tasks[i].output_bytes, 0);
        cr_assert_leq(tasks[i].n_feeding, tasks[i].n_parents);
        for (size_t k = 0; k < tasks[i].n_parents; k++) {
            cr_assert_lt(tasks[i].parents[k], i);
            for (size_t j = 0; j < k; j++)
                cr_assert_neq(tasks[i].parents[j], tasks[i].parents[k]);
        }
    }
}

/* Of every size there is a workflow of exactly so many tasks: parents before children, each task
 * but the projections fed by one before it, and every result but the last one used. */
Test(geosim_workload, montage_has_the_tasks_wanted)
{
    struct rng rng = rng_make(1, 1);
    for (size_t n = 1; n <= 400; n++) {
        struct arena_mark mark = arena_mark(&arena);
        struct geosim_task *tasks = draw_montage(n, &rng);
        bool *used = arena_calloc(&arena, n, sizeof *used);
        expect_sound(tasks, n);
        for (size_t i = 0; i < n; i++) {
            cr_assert_eq(tasks[i].operation == MONTAGE_PROJECT, tasks[i].n_sources == 1);
            cr_assert_eq(tasks[i].n_parents == 0, tasks[i].n_sources == 1, "%zu of %zu", i, n);
            for (size_t k = 0; k < tasks[i].n_parents; k++)
                used[tasks[i].parents[k]] = true;
        }
        for (size_t i = 0; i + 1 < n; i++)
            cr_assert(used[i] || tasks[i].operation == MONTAGE_VIEWER, "%zu of %zu", i, n);
        arena_rewind(&arena, mark);
    }
}

/* 58 tasks are exactly the recorded workflow of 58: three bands of four images and all six
 * comparisons, and a picture of all. */
Test(geosim_workload, montage_has_the_recorded_shape)
{
    static const size_t recorded[MONTAGE_STEPS] = {12, 18, 3, 3, 12, 3, 3, 4};
    size_t seen[MONTAGE_STEPS] = {0};
    struct rng rng = rng_make(1, 1);
    const struct geosim_task *tasks = draw_montage(58, &rng);
    size_t dependencies = 0;
    for (size_t i = 0; i < 58; i++) {
        seen[tasks[i].operation]++;
        dependencies += tasks[i].n_parents;
    }
    cr_assert_arr_eq(seen, recorded, sizeof recorded);
    cr_assert_eq(dependencies, 114);
    cr_assert_eq(geosim_mosaic_overlaps(16), 42);
}

/* The means of many tasks are those measured, and what is read is what was written. */
Test(geosim_workload, montage_draws_around_the_figures)
{
    struct rng rng = rng_make(2, 1);
    double work = 0;
    double bytes = 0;
    size_t n = 0;
    for (int round = 0; round < 20; round++) {
        const struct geosim_task *tasks = draw_montage(400, &rng);
        for (size_t i = 0; i < 400; i++) {
            if (tasks[i].operation == MONTAGE_DIFF_FIT) {
                work += tasks[i].work_s;
                n++;
            }
            if (tasks[i].operation == MONTAGE_BACKGROUND) {
                cr_assert_eq(tasks[i].n_parents, 2);
                cr_assert_eq(tasks[i].n_feeding, 1);
                bytes = tasks[tasks[i].parents[0]].output_bytes;
                cr_assert_float_eq(tasks[i].input_bytes, bytes, 0.02 * bytes);
            }
        }
    }
    const struct geosim_law *law = &geosim_montage_2mass.steps[MONTAGE_DIFF_FIT].work_s;
    cr_assert_float_eq(work / (double)n, law->base, 4 * law->base * law->rsd / sqrt((double)n));
}

/* Scaled worlds are the same ones with larger numbers. */
Test(geosim_workload, scaling_is_plain)
{
    struct geosim_workload_parameters scaled = USUAL;
    scaled.n_workflows = 20;
    struct geosim_workload plain = draw(&scaled, 1, 1);
    scaled.scaling = (struct geosim_scaling){3, 5};
    struct geosim_workload large = draw(&scaled, 1, 1);
    for (size_t w = 0; w < plain.n_workflows; w++)
        for (size_t t = 0; t < plain.workflows[w].n_tasks; t++) {
            const struct geosim_task *a = &plain.workflows[w].tasks[t];
            const struct geosim_task *b = &large.workflows[w].tasks[t];
            cr_assert_float_eq(b->work_s, 3 * a->work_s, 1e-9 * b->work_s + 2e-3);
            cr_assert_float_eq(b->input_bytes, 5 * a->input_bytes, 1e-9 * b->input_bytes);
            cr_assert_float_eq(b->output_bytes, 5 * a->output_bytes, 1e-9 * b->output_bytes);
        }
}

/* Sizes by class, arrivals at the rate, raw input in small and some medium clusters only. */
Test(geosim_workload, sizes_arrivals_and_places_are_as_asked)
{
    struct geosim_workload_parameters terms = USUAL;
    terms.n_workflows = 2000;
    struct geosim_workload workload = draw(&terms, 0.1, 7);
    size_t small = 0;
    size_t large = 0;
    bool holds[100] = {false};
    for (size_t w = 0; w < workload.n_workflows; w++) {
        const struct geosim_workflow *workflow = &workload.workflows[w];
        small += workflow->n_tasks <= 150;
        large += workflow->n_tasks > 500;
        cr_assert_leq(workflow->n_tasks, 1000);
        cr_assert(w == 0 || workflow->arrives_s >= workload.workflows[w - 1].arrives_s);
        for (size_t t = 0; t < workflow->n_tasks; t++)
            for (size_t k = 0; k < workflow->tasks[t].n_sources; k++)
                holds[workflow->tasks[t].sources[k]] = true;
    }
    /* Four standard deviations of a share of 2,000, of a sum of 2,000 gaps. */
    cr_assert_float_eq((double)small / 2000, 0.89, 0.028);
    cr_assert_float_eq((double)large / 2000, 0.03, 0.015);
    cr_assert_float_eq(workload.workflows[1999].arrives_s, 20000, 1800);
    size_t places[GEOSIM_SCALES] = {0};
    for (size_t i = 0; i < 100; i++)
        places[world.clusters[i].scale] += holds[i];
    cr_assert_eq(places[GEOSIM_LARGE], 0);
    cr_assert_eq(places[GEOSIM_MEDIUM], 10);
    cr_assert_eq(places[GEOSIM_SMALL], 75);
}

static bool same(const struct geosim_workload *a, const struct geosim_workload *b)
{
    for (size_t w = 0; w < a->n_workflows; w++) {
        if (a->workflows[w].n_tasks != b->workflows[w].n_tasks)
            return false;
        for (size_t t = 0; t < a->workflows[w].n_tasks; t++)
            if (a->workflows[w].tasks[t].work_s != b->workflows[w].tasks[t].work_s ||
                a->workflows[w].tasks[t].input_bytes != b->workflows[w].tasks[t].input_bytes)
                return false;
    }
    return true;
}

/* A seed has one workload; another rate stretches it, fewer workflows are its first ones. */
Test(geosim_workload, a_seed_has_one_workload)
{
    struct geosim_workload first = draw(&USUAL, 0.1, 5);
    struct geosim_workload again = draw(&USUAL, 0.1, 5);
    struct geosim_workload slower = draw(&USUAL, 0.05, 5);
    struct geosim_workload other = draw(&USUAL, 0.1, 6);
    struct geosim_workload_parameters fewer = USUAL;
    fewer.n_workflows = 10;
    struct geosim_workload head = draw(&fewer, 0.1, 5);
    cr_assert(same(&first, &again));
    cr_assert(same(&first, &slower));
    cr_assert(!same(&first, &other));
    cr_assert(same(&head, &first));
    for (size_t w = 0; w < first.n_workflows; w++) {
        cr_assert_eq(first.workflows[w].arrives_s, again.workflows[w].arrives_s);
        cr_assert_float_eq(slower.workflows[w].arrives_s, 2 * first.workflows[w].arrives_s,
                           1e-9 * slower.workflows[w].arrives_s);
    }
}

/* Recorded executions come as they were: a table of a few bytes feeds nobody, a file read by two
 * tasks lies in one place, a task that read nothing keeps its time. */
Test(geosim_workload, recordings_are_replayed)
{
    static const size_t both[] = {0, 1};
    static const double bytes[] = {1000, 5};
    static const size_t image[] = {0};
    static const double files[] = {300};
    static const struct geosim_recorded_task tasks[] = {{0, 2, 1000, NULL, NULL, 0, image, 1},
                                                        {1, 0, 5, NULL, NULL, 0, NULL, 0},
                                                        {2, 4, 8, both, bytes, 2, image, 1}};
    const struct geosim_recording recording = {{"r", 1}, tasks, 3, files, 1};
    struct geosim_workload_parameters terms = {.n_workflows = 50,
                                               .medium_share = 0.5,
                                               .scaling = {2, 10},
                                               .recordings = &recording,
                                               .n_recordings = 1,
                                               .n_operations = 3};
    struct geosim_workload workload = draw(&terms, 1, 1);
    size_t moved = 0;
    for (size_t w = 0; w < 50; w++) {
        const struct geosim_task *got = workload.workflows[w].tasks;
        expect_sound(got, 3);
        cr_assert_eq(got[0].work_s, 4);
        cr_assert_eq(got[0].input_bytes, 3000);
        cr_assert_eq(got[0].output_bytes, 10000);
        cr_assert_eq(got[1].input_bytes, 1);
        cr_assert_eq(got[1].work_s, GEOSIM_WORK_LEAST_S);
        cr_assert_eq(got[2].input_bytes, 13050);
        cr_assert_eq(got[2].n_feeding, 1);
        cr_assert_eq(got[2].parents[0], 0);
        cr_assert_eq(got[2].sources[0], got[0].sources[0]);
        moved += got[0].sources[0] != workload.workflows[0].tasks[0].sources[0];
    }
    cr_assert_gt(moved, 25);
}
