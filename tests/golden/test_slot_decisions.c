/* Decisions on a free slot (FRESH at run time, OMO) against figures that others computed:
 * golden/vectors/slot-decisions. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduling/comparison/fairness.h"
#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo_candidates.h"
#include "vectors.h"

static struct vectors_figures figures;

static size_t count_of(json_t *object, const char *key)
{
    return (size_t)vectors_number(object, key, 0);
}

static const char *name_of(json_t *request, size_t job)
{
    json_t *jobs = json_object_get(request, "jobs");
    return json_string_value(json_object_get(json_array_get(jobs, job), "name"));
}

static void expect_action(const char *file,
                          json_t *request,
                          json_t *want,
                          size_t job,
                          enum slots_kind kind,
                          const char *rule)
{
    static const char *const kinds[] = {"map", "reduce"};
    json_t *action = json_object_get(want, "action");
    vectors_expect_word(&figures, file, action, "slot", job != SLOTS_NOBODY ? kinds[kind] : "none");
    vectors_expect_word(&figures, file, action, "job",
                        job != SLOTS_NOBODY ? name_of(request, job) : NULL);
    vectors_expect_word(&figures, file, action, "rule", rule);
}

/* --- kind "fresh" --- */

static struct fresh_job take_fresh_job(json_t *job)
{
    const char *phase = json_string_value(json_object_get(job, "phase"));
    return (struct fresh_job){
        .phase = strcmp(phase, "map") == 0       ? FRESH_MAP
                 : strcmp(phase, "pending") == 0 ? FRESH_PENDING
                                                 : FRESH_REDUCE,
        .started_s = vectors_number(job, "started_s", (double)NAN),
        .maps = count_of(job, "maps"),
        .maps_finished = count_of(job, "maps_finished"),
        .maps_running = count_of(job, "maps_running"),
        .map_task_s = vectors_number(job, "map_task_s", 0),
        .reduces = count_of(job, "reduces"),
        .reduces_finished = count_of(job, "reduces_finished"),
        .reduces_running = count_of(job, "reduces_running"),
        .reduce_task_s = vectors_number(job, "reduce_task_s", 0),
        .task_time_s = vectors_number(job, "task_time_s", (double)NAN),
    };
}

static void expect_fresh_figures(const char *file,
                                 json_t *request,
                                 json_t *want,
                                 const struct fresh_slots *slots,
                                 const struct fresh_tally *tally,
                                 const struct fresh_figures *got)
{
    vectors_expect(&figures, file, want, "total_slots", (double)slots->total_slots);
    vectors_expect(&figures, file, want, "remaining_map_work_s", tally->map_work_s);
    vectors_expect(&figures, file, want, "remaining_reduce_work_s", tally->reduce_work_s);
    vectors_expect(&figures, file, want, "current_ratio", got->current_ratio);
    vectors_expect_word(&figures, file, want, "first_to_end",
                        got->first_to_end != SLOTS_NOBODY ? name_of(request, got->first_to_end)
                                                          : NULL);
    vectors_expect(&figures, file, want, "progress", got->progress);
    vectors_expect(&figures, file, want, "next_map_work_s", got->next_map_work_s);
    vectors_expect(&figures, file, want, "next_reduce_work_s", got->next_reduce_work_s);
    vectors_expect(&figures, file, want, "expected_ratio", got->expected_ratio);
    vectors_expect(&figures, file, want, "reduce_slots_released", got->reduce_slots_released);
    vectors_expect(&figures, file, want, "predicted_map_slots", got->predicted_map_slots);
    vectors_expect(&figures, file, want, "deviation", got->deviation);
    vectors_expect(&figures, file, want, "expected_map_slots", got->expected_map_slots);
    figures.compared++;
    figures.differ += json_is_true(json_object_get(want, "sudden_change")) != got->sudden_change;
}

static void run_fresh(const char *file, json_t *request, json_t *want)
{
    static const char *const rules[] = {"expected_slots", "other_kind", "idle"};
    double now_s = vectors_number(request, "now_s", (double)NAN);
    size_t map_slots = count_of(request, "map_slots");
    size_t others = map_slots + count_of(request, "reduce_slots");
    json_t *next = json_object_get(request, "next_job");
    json_t *wanted = json_object_get(want, "jobs");
    struct fresh_tally tally = fresh_tally_begin(now_s);
    struct fairness fairness = {.n = 0};
    struct fresh_figures found;
    size_t i;
    json_t *given;
    const struct fresh_terms terms = {
        .concurrency = count_of(request, "concurrency"),
        .tau1 = vectors_number(request, "tau1", 0.8),
        .tau2 = vectors_number(request, "tau2", 0.6),
    };
    const struct fresh_slots slots = {
        .map_slots = map_slots,
        .total_slots = (size_t)vectors_number(request, "total_slots", (double)others + 1),
        .reduce_interval_s = vectors_number(request, "reduce_interval_s", (double)NAN),
        .next_map_work_s = vectors_number(next, "maps", 0) * vectors_number(next, "map_task_s", 0),
    };
    json_array_foreach(json_object_get(request, "jobs"), i, given)
    {
        struct fresh_job job = take_fresh_job(given);
        json_t *reply = json_array_get(wanted, i);
        double consumption = fresh_consumption(&job, now_s);
        fresh_tally_add(&tally, i, &job);
        fairness_add(&fairness, consumption);
        vectors_expect(&figures, file, reply, "consumption", consumption);
        vectors_expect(&figures, file, reply, "remaining_map_work_s",
                       job.phase == FRESH_MAP ? fresh_map_work_s(&job) : 0);
        vectors_expect(&figures, file, reply, "remaining_reduce_work_s", fresh_reduce_work_s(&job));
    }
    struct fresh_action action = fresh_decide(&terms, &slots, &tally, &found);
    expect_action(file, request, want, action.job, action.kind, rules[action.rule]);
    vectors_expect(&figures, file, want, "fairness", fairness_index(&fairness));
    expect_fresh_figures(file, request, json_object_get(want, "figures"), &slots, &tally, &found);
}

/* --- kind "omo" --- */

static struct omo_job take_omo_job(json_t *request, json_t *job)
{
    size_t maps = count_of(job, "maps");
    size_t reduces = count_of(job, "reduces");
    double computed_s =
        omo_shuffle_s(vectors_number(job, "map_output_bytes", (double)NAN), maps, reduces,
                      vectors_number(request, "bandwidth_bytes_per_s", (double)NAN));
    return (struct omo_job){
        .maps = maps,
        .maps_finished = count_of(job, "maps_finished"),
        .maps_running = count_of(job, "maps_running"),
        .map_task_s = vectors_number(job, "map_task_s", (double)NAN),
        .reduces = reduces,
        .reduces_finished = count_of(job, "reduces_finished"),
        .reduces_running = count_of(job, "reduces_running"),
        .shuffle_s = vectors_number(job, "shuffle_s", computed_s),
    };
}

static struct omo_rates take_rates(json_t *request)
{
    json_t *previous = json_object_get(request, "previous");
    struct omo_rates rates = {vectors_number(previous, "release_frequency_per_s", (double)NAN),
                              vectors_number(previous, "available_slots", (double)NAN)};
    size_t i;
    json_t *window;
    json_array_foreach(json_object_get(request, "windows"), i, window)
    {
        omo_rates_update(&rates, vectors_number(request, "ema_weight", 0.5),
                         vectors_number(request, "window_s", 10),
                         vectors_number(window, "released", (double)NAN),
                         vectors_number(window, "available_slots", (double)NAN));
    }
    return rates;
}

static void
expect_omo_job(const char *file, json_t *want, const struct omo_job *job, struct omo_figures got)
{
    double shuffle_s = job->reduces > 0 ? job->shuffle_s : (double)NAN;
    vectors_expect(&figures, file, want, "pending_maps", (double)got.pending_maps);
    vectors_expect(&figures, file, want, "occupied_slots", (double)got.occupied_slots);
    vectors_expect(&figures, file, want, "shuffle_s", shuffle_s);
    vectors_expect(&figures, file, want, "gap_s", got.gap_s);
    vectors_expect(&figures, file, want, "starts_at_pending_maps", got.starts_at_pending_maps);
    vectors_expect(&figures, file, want, "fair_s", got.fair_s);
    vectors_expect(&figures, file, want, "batch_s", got.batch_s);
    figures.compared++;
    figures.differ += json_is_true(json_object_get(want, "may_start")) != got.may_start;
}

static void run_omo(const char *file, json_t *request, json_t *want)
{
    static const char *const rules[] = {"consecutive_reduces", "lazy_start", "batch_finish", "fair",
                                        "idle"};
    json_t *jobs = json_object_get(request, "jobs");
    json_t *wanted = json_object_get(want, "jobs");
    const struct omo_rates rates = take_rates(request);
    struct omo_candidates candidates;
    struct arena arena;
    size_t i;
    json_t *given;
    const struct omo_terms terms = {
        .lazy_start = vectors_lists(request, "techniques", "lazy_start", true),
        .batch_finish = vectors_lists(request, "techniques", "batch_finish", true),
        .slow_start = vectors_number(request, "slow_start", 0.05),
    };
    arena_init(&arena, 0);
    if (!omo_candidates_init(&candidates, &terms, json_array_size(jobs), &arena))
        abort();
    omo_candidates_set_rates(&candidates, &rates, json_array_size(jobs));
    json_array_foreach(jobs, i, given)
    {
        struct omo_job job = take_omo_job(request, given);
        expect_omo_job(file, json_array_get(wanted, i), &job,
                       omo_candidates_put(&candidates, i, &job));
    }
    struct omo_action action = omo_candidates_choose(&candidates);
    expect_action(file, request, want, action.job, action.kind, rules[action.rule]);
    vectors_expect(&figures, file, want, "release_frequency_per_s", rates.release_frequency_per_s);
    vectors_expect(&figures, file, want, "available_slots", rates.available_slots);
    vectors_expect(&figures, file, want, "active_jobs", (double)json_array_size(jobs));
    arena_fini(&arena);
}

static bool run_file(const char *file, json_t *vector)
{
    json_t *request = json_object_get(vector, "request");
    json_t *want = json_object_get(vector, "expect");
    bool omo = strcmp(json_string_value(json_object_get(request, "kind")), "omo") == 0;
    (omo ? run_omo : run_fresh)(file, request, want);
    return true;
}

int main(void)
{
    size_t files;
    if (!vectors_each("slot-decisions", SHARED_DEFAULT, JSON_DECODE_INT_AS_REAL, run_file, &files))
        return SKIPPED;
    printf("# %zu requests, %zu figures, %zu differ\n", files, figures.compared, figures.differ);
    return figures.differ == 0 && figures.compared > 300 ? 0 : 1;
}
