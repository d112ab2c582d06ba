/*
 * Figures that others computed for the stage heuristic and for contention (S. Ripamonti, xSpark,
 * thesis, Politecnico di Milano 2017, sections 2.1.2 and 3.6).
 *
 * - Every weight in the profiles that xSpark's authors published, bit for bit: made by their tool
 *   with beta 0.5 from whole milliseconds (papers/README.md, erratum 3). Stages that did not run
 *   have no duration and no weight.
 * - golden/xspark_stage_weights.json, likewise.
 * - golden/xspark_contention.json: tables 3.2 to 3.6, with the errata; printed to four decimals.
 */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/deadline/contention.h"
#include "core/deadline/stage_plan.h"

enum { SKIPPED = 77, STAGES_MAX = 64, APPLICATIONS_MAX = 8 };

static int faults;

static void expect(bool holds, const char *where, const char *what, double got, double want)
{
    if (holds)
        return;
    faults++;
    printf("# %s: %s is %.17g, not %.17g\n", where, what, got, want);
}

static json_t *load(const char *directory, const char *file)
{
    const char *root = getenv("PROVISOR_SHARED");
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s/%s", root != NULL ? root : SHARED_DEFAULT, directory,
                   file);
    return json_load_file(path, JSON_DECODE_INT_AS_REAL, NULL);
}

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* --- weights --- */

/* The weights that a plan gives the stages of these durations, by position; skipped ones have 0. */
static void weigh(const double durations[], size_t n, double beta, double weights[])
{
    struct stage_plan_stage stages[STAGES_MAX];
    const struct stage_plan_terms terms = {.deadline_s = 1e6,
                                           .alpha = 1,
                                           .beta = beta,
                                           .overscale = 2,
                                           .core_quantum = 0.05,
                                           .executors = 4,
                                           .cores_per_executor = 16};
    struct arena arena;
    struct stage_plan plan;
    arena_init(&arena, 0);
    for (size_t i = 0; i < n; i++) {
        stages[i] = (struct stage_plan_stage){.id = (int64_t)i,
                                              .duration_s = durations[i],
                                              .skipped = durations[i] <= 0,
                                              .pinned_cores = (double)NAN,
                                              .pinned_deadline_s = (double)NAN};
        weights[i] = 0;
    }
    if (stage_plan_make(&terms, stages, n, &arena, &plan, NULL) != PV_OK)
        abort();
    for (size_t i = 0; i < plan.n_steps; i++)
        weights[plan.steps[i].id] = plan.steps[i].weight;
    arena_fini(&arena);
}

/* How many stages of the profile were compared. */
static size_t check_profile(const char *file)
{
    json_t *profile = load("data/xspark-profiles", file);
    double durations[STAGES_MAX];
    double weights[STAGES_MAX];
    char key[16];
    size_t n = json_object_size(profile);
    size_t compared = 0;
    if (n == 0 || n > STAGES_MAX) {
        expect(false, file, "number of stages", (double)n, STAGES_MAX);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(key, sizeof key, "%zu", i);
        json_t *stage = json_object_get(profile, key);
        bool skipped = json_is_true(json_object_get(stage, "skipped"));
        durations[i] = skipped ? 0 : number(stage, "duration");
    }
    weigh(durations, n, 0.5, weights);
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(key, sizeof key, "%zu", i);
        double want = number(json_object_get(profile, key), "weight");
        if (durations[i] <= 0)
            continue;
        expect(weights[i] == want, file, key, weights[i], want);
        compared++;
    }
    json_decref(profile);
    return compared;
}

static size_t check_profiles(void)
{
    const char *root = getenv("PROVISOR_SHARED");
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/data/xspark-profiles",
                   root != NULL ? root : SHARED_DEFAULT);
    DIR *directory = opendir(path);
    size_t compared = 0;
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot != NULL && strcmp(dot, ".json") == 0)
            compared += check_profile(entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    return compared;
}

static void check_golden_weights(json_t *golden)
{
    json_t *list = json_object_get(golden, "stage_durations_ms");
    json_t *expected = json_object_get(golden, "expected_weights");
    size_t n = json_array_size(list);
    double durations[STAGES_MAX];
    double weights[STAGES_MAX];
    if (n == 0 || n > STAGES_MAX || n != json_array_size(expected)) {
        expect(false, "golden", "number of stages", (double)n, 3);
        return;
    }
    for (size_t i = 0; i < n; i++)
        durations[i] = json_number_value(json_array_get(list, i));
    weigh(durations, n, number(golden, "beta"), weights);
    for (size_t i = 0; i < n; i++) {
        double want = json_number_value(json_array_get(expected, i));
        expect(weights[i] == want, "golden", "weight", weights[i], want);
    }
}

/* --- contention --- */

static size_t
read_applications(json_t *golden, struct contention_application out[], const char *names[])
{
    json_t *list = json_object_get(golden, "applications");
    json_t *rates = json_object_get(golden, "speed_nominal_rates");
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n && i < APPLICATIONS_MAX; i++) {
        json_t *item = json_array_get(list, i);
        names[i] = json_string_value(json_object_get(item, "name"));
        out[i] = (struct contention_application){.requested_cores = number(item, "requested_cores"),
                                                 .time_to_complete_s =
                                                     number(item, "time_to_complete_s"),
                                                 .remaining_tasks = 16, /* "at least 16" */
                                                 .nominal_rate = number(rates, names[i])};
    }
    return n <= APPLICATIONS_MAX ? n : 0;
}

static void check_strategy(json_t *golden, const struct contention_strategy *strategy)
{
    struct contention_application applications[APPLICATIONS_MAX];
    struct contention_share shares[APPLICATIONS_MAX];
    const char *names[APPLICATIONS_MAX];
    struct contention_outcome outcome;
    const struct contention_terms terms = {number(golden, "gamma"), number(golden, "max_cores"),
                                           number(golden, "average_nominal_rate")};
    size_t n = read_applications(golden, applications, names);
    json_t *expected = json_object_get(golden, "expected");
    json_t *cores = json_object_get(expected, strategy->name);
    char key[64];
    (void)snprintf(key, sizeof key, "%s_weights", strategy->name);
    json_t *weights = json_object_get(expected, key);
    struct arena arena;
    arena_init(&arena, 0);
    if (contention_resolve(strategy, &terms, applications, n, &arena, shares, &outcome, NULL) !=
        PV_OK)
        abort();
    arena_fini(&arena);
    expect(n > 0 && json_object_size(cores) == n, strategy->name, "number of applications",
           (double)json_object_size(cores), (double)n);
    for (size_t i = 0; i < n; i++) {
        double want = number(cores, names[i]);
        expect(fabs(shares[i].cores - want) <= 0.5001e-4, strategy->name, names[i], shares[i].cores,
               want);
        want = weights == NULL ? (double)NAN : number(weights, names[i]);
        expect(weights == NULL ? isnan(shares[i].weight)
                               : fabs(shares[i].weight - want) <= 0.5001e-4,
               key, names[i], shares[i].weight, want);
    }
}

int main(void)
{
    json_t *weights = load("golden", "xspark_stage_weights.json");
    json_t *contention = load("golden", "xspark_contention.json");
    if (weights == NULL || contention == NULL) {
        printf("skipped: no shared golden data (set PROVISOR_SHARED)\n");
        json_decref(weights);
        json_decref(contention);
        return SKIPPED;
    }
    check_golden_weights(weights);
    size_t compared = check_profiles();
    /* summary.tsv: stages with a duration, over all files */
    expect(compared == 57, "profiles", "number of weights", (double)compared, 57);
    for (size_t i = 0; i < CONTENTION_STRATEGIES; i++)
        check_strategy(contention, &contention_strategies[i]);
    json_decref(weights);
    json_decref(contention);
    printf("%zu published weights, %d strategies, %d faults\n", compared, CONTENTION_STRATEGIES,
           faults);
    return faults == 0 ? 0 : 1;
}
