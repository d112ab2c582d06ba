/*
 * Small examples of J. Wang's dissertation (UMass Boston 2017) and the numbers of its batches, as
 * golden/fresh_omo_esplash.json has them: who holds which slots at each step of the example for
 * fairness (section 3.3.2.1), waves of maps (figures 4.5 and 4.6), tables 3.1, 3.4, 4.3 and 4.4.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fresh_sets.h"
#include "omo_sets.h"

enum { SKIPPED = 77, EXAMPLE_JOBS = 3, STEPS = 5, TASKS_MAX = 64 };

static int faults;
static int compared;
static struct arena arena;

static void expect(const char *what, double got, double wanted)
{
    compared++;
    if (got == wanted)
        return;
    faults++;
    printf("# %s: %g, not %g\n", what, got, wanted);
}

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* --- fairness, step by step --- */

static const char *const example_names[EXAMPLE_JOBS] = {"J1", "J2", "J3"};

/* Slots that a job holds in the second from a step on. */
static size_t
held_at(const struct slots_spans *spans, size_t job, enum slots_kind kind, size_t step)
{
    size_t held = 0;
    double at_s = (double)step + 0.5;
    for (size_t i = 0; i < spans->n; i++) {
        const struct slots_span *span = &spans->items[i];
        if (span->job == job && span->kind == kind && span->given_s < at_s && span->end_s > at_s)
            held += span->count;
    }
    return held;
}

/* At step 3 a fourth slot is left to three jobs that hold as many: it goes to J3 there, and here to the
 * first that arrived, so that J1 and J3 differ by one slot at the two last steps. */
static void follow_steps(json_t *example, const struct slots_spans *spans)
{
    json_t *by_step = json_object_get(example, "slots_by_step");
    for (size_t j = 0; j < EXAMPLE_JOBS; j++) {
        json_t *steps = json_object_get(by_step, example_names[j]);
        size_t sum = 0;
        for (size_t t = 0; t < STEPS; t++) {
            json_t *step = json_array_get(steps, t);
            bool maps = strcmp(json_string_value(json_array_get(step, 1)), "M") == 0;
            size_t held = held_at(spans, j, maps ? SLOTS_MAP : SLOTS_REDUCE, t);
            expect(example_names[j], (double)held_at(spans, j, maps ? SLOTS_REDUCE : SLOTS_MAP, t),
                   0);
            double shift = t < 3 || j == 1 ? 0 : (t == 3) == (j == 0) ? 1 : -1;
            expect(example_names[j], (double)held,
                   json_number_value(json_array_get(step, 0)) + shift);
            sum += held;
        }
        expect(example_names[j], (double)sum,
               number(json_object_get(example, "slots_occupied"), example_names[j]));
    }
}

static void follow_fairness(json_t *example)
{
    static const struct slots_terms fair = {.policy = &slots_policy_fair};
    const struct slots_cluster cluster = {
        .slots = {(size_t)number(example, "map_slots"), (size_t)number(example, "reduce_slots")},
        .slow_start = 1};
    struct slots_tasks tasks[EXAMPLE_JOBS][SLOTS_KINDS];
    struct slots_job jobs[EXAMPLE_JOBS];
    struct slots_job_times times[EXAMPLE_JOBS];
    struct slots_spans spans;
    const struct slots_observer observer = {.spans = &spans};
    double task_s = number(example, "task_s");
    double makespan_s = 0;
    for (size_t j = 0; j < EXAMPLE_JOBS; j++) {
        json_t *job = json_object_get(json_object_get(example, "jobs"), example_names[j]);
        tasks[j][SLOTS_MAP] = (struct slots_tasks){task_s, (size_t)number(job, "maps")};
        tasks[j][SLOTS_REDUCE] = (struct slots_tasks){task_s, (size_t)number(job, "reduces")};
        jobs[j] = (struct slots_job){
            .task_lists = {{&tasks[j][SLOTS_MAP], 1}, {&tasks[j][SLOTS_REDUCE], 1}},
            .predicted_size_s = (double)NAN};
    }
    if (!slots_spans_init(&spans, TASKS_MAX, &arena) ||
        slots_simulate_observed(&cluster, jobs, EXAMPLE_JOBS, &fair, NULL, &observer, &arena, times,
                                NULL) != PV_OK)
        abort();
    follow_steps(example, &spans);
    for (size_t j = 0; j < EXAMPLE_JOBS; j++)
        makespan_s = fmax(makespan_s, times[j].finish_s);
    expect("makespan of the example for fairness", makespan_s, number(example, "fair_makespan_s"));
}

/* --- waves --- */

/* On three map slots and a reduce slot, tasks of a second. */
static void follow_waves(size_t maps, double maps_s, double finish_s)
{
    static const struct slots_terms fifo = {.policy = &slots_policy_fifo};
    static const struct slots_cluster cluster = {.slots = {3, 1}, .slow_start = 0.05};
    const struct slots_tasks map = {1, maps};
    const struct slots_tasks reduce = {1, 1};
    const struct slots_job job = {.task_lists = {{&map, 1}, {&reduce, 1}},
                                  .predicted_size_s = (double)NAN};
    struct slots_job_times times;
    if (slots_simulate(&cluster, &job, 1, &fifo, NULL, &arena, &times, NULL) != PV_OK)
        abort();
    expect("end of the waves", times.map_end_s, maps_s);
    expect("end of a job of waves", times.finish_s, finish_s);
}

/* --- numbers of tasks, and what was published of slow start --- */

static void follow_fresh_set(json_t *published, const struct fresh_set *set)
{
    static const char *const names[FRESH_BENCHMARKS] = {"classification",    "invertedindex",
                                                        "wordcount",         "grep",
                                                        "histogram_ratings", "histogram_movies"};
    expect(set->name, (double)json_array_size(published), (double)set->n);
    for (size_t i = 0; i < set->n; i++) {
        json_t *row = json_array_get(published, i);
        const struct fresh_row *ours = &fresh_rows[set->rows[i]];
        expect(set->name,
               strcmp(json_string_value(json_array_get(row, 0)), names[ours->benchmark]) == 0, 1);
        expect(set->name, (double)ours->maps, json_number_value(json_array_get(row, 1)));
        expect(set->name, (double)ours->reduces, json_number_value(json_array_get(row, 2)));
    }
}

static void follow_omo_benchmarks(json_t *published)
{
    static const char *const names[OMO_BENCHMARKS] = {
        "terasort", "seqcount", "wordcount", "invertedindex", "histmovies", "classification"};
    for (size_t b = 0; b < OMO_BENCHMARKS; b++) {
        json_t *row = json_array_get(published, 2 * b);
        expect(names[b], strcmp(json_string_value(json_object_get(row, "app")), names[b]) == 0, 1);
        expect(names[b], omo_shuffle_gb[b], number(row, "shuffle_gb"));
        expect(names[b], OMO_MAPS, number(row, "maps"));
        expect(names[b], OMO_REDUCES, number(row, "reduces"));
    }
}

static void follow_slow_starts(json_t *published)
{
    static const char *const names[OMO_CURVES] = {"dynamic_one_job_s", "dynamic_three_jobs_s"};
    for (size_t s = 0; s < OMO_STARTS; s++) {
        expect("slow start", omo_starts[s],
               json_number_value(json_array_get(json_object_get(published, "slowstart"), s)));
        for (size_t c = 0; c < OMO_CURVES; c++)
            expect(names[c], omo_published_s[c][s],
                   json_number_value(json_array_get(json_object_get(published, names[c]), s)));
    }
}

int main(void)
{
    char path[1024];
    const char *root = getenv("PROVISOR_SHARED");
    (void)snprintf(path, sizeof path, "%s/golden/fresh_omo_esplash.json",
                   root != NULL ? root : SHARED_DEFAULT);
    json_t *golden = json_load_file(path, 0, NULL);
    if (golden == NULL) {
        printf("# skipped: no %s (set PROVISOR_SHARED)\n", path);
        return SKIPPED;
    }
    arena_init(&arena, 0);
    follow_fairness(json_object_get(golden, "fresh_fairness_example"));
    follow_waves(12, 4, 5);
    follow_waves(13, 5, 6);
    json_t *sets = json_object_get(golden, "fresh_sets");
    follow_fresh_set(json_object_get(sets, "A"), &fresh_sets[FRESH_A]);
    follow_fresh_set(json_object_get(sets, "B"), &fresh_sets[FRESH_B]);
    follow_omo_benchmarks(json_object_get(golden, "omo_benchmarks"));
    follow_slow_starts(json_object_get(golden, "omo_terasort_slowstart"));
    arena_fini(&arena);
    json_decref(golden);
    printf("# %d figures, %d differ\n", compared, faults);
    return faults == 0 ? 0 : 1;
}
