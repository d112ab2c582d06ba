/*
 * The worked example of the Pigeon paper (golden/pigeon_theory.json, "example"), event by event: who
 * is sent to which group, in which order, and when jobs end, in groups and with one master. B and C
 * are placed as there, where draws could fall otherwise.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_simulation.h"
#include "vectors.h"

enum { JOBS = 3, TASKS = 8, GROUPS = 2 };

static int faults;
static int compared;

static const double of_a[] = {20, 1, 1, 10, 10, 10};
static const double of_b_and_c[] = {2};

/* What each group was sent, in order. */
struct sent {
    char names[GROUPS][TASKS][3];
    size_t n[GROUPS];
    bool by_worker; /* two in each group */
};

static void note(void *context, const struct tasks_start *start)
{
    struct sent *sent = context;
    uint32_t group = sent->by_worker ? start->place / 2 : start->place;
    char *name = sent->names[group][sent->n[group]++];
    name[0] = (char)('A' + (int)start->job);
    /* Jobs of one task go by their letter there. */
    name[1] = start->job == 0 ? (char)('1' + (int)start->task) : '\0';
}

static void expect_groups(json_t *groups, const struct sent *sent)
{
    for (size_t g = 0; g < GROUPS; g++) {
        json_t *names = json_array_get(groups, g);
        size_t i;
        json_t *name;
        if (json_array_size(names) != sent->n[g])
            faults++;
        json_array_foreach(names, i, name)
        {
            compared++;
            if (i < sent->n[g] && strcmp(json_string_value(name), sent->names[g][i]) == 0)
                continue;
            faults++;
            printf("# group %zu, task %zu: %s, not %s\n", g, i, sent->names[g][i],
                   json_string_value(name));
        }
    }
}

static void expect_completions(json_t *system, const struct tasks_result *result)
{
    static const char *const names[JOBS] = {"A", "B", "C"};
    json_t *completions = json_object_get(system, "completion_s");
    for (size_t j = 0; j < JOBS; j++) {
        double wanted = json_number_value(json_object_get(completions, names[j]));
        compared++;
        if (result->finish_s[j] == wanted)
            continue;
        faults++;
        printf("# %s is complete at %g, not %g\n", names[j], result->finish_s[j], wanted);
    }
}

static void follow(json_t *system, const struct tasks_terms *terms)
{
    static const uint32_t placement[GROUPS] = {0, 1};
    static const struct trial trial = {1, 0};
    const struct tasks_job jobs[JOBS] = {
        {.durations_s = of_a, .tasks = 6},
        {.durations_s = of_b_and_c, .tasks = 1, .placement = &placement[0]},
        {.durations_s = of_b_and_c, .tasks = 1, .placement = &placement[1]}};
    struct tasks_model model = {.workers = 4, .jobs = jobs, .n_jobs = JOBS};
    struct sent sent = {.by_worker = terms->layout != NULL};
    const struct tasks_observer observer = {.started = note, .context = &sent};
    struct tasks_result result;
    struct arena arena;
    arena_init(&arena, 0);
    if (tasks_model_complete(&model, &arena, NULL) != PV_OK ||
        tasks_simulate_observed(&model, terms, &trial, 0, NULL, &observer, &arena, &arena, &result,
                                NULL) != PV_OK)
        abort();
    expect_completions(system, &result);
    if (json_object_get(system, "groups") != NULL)
        expect_groups(json_object_get(system, "groups"), &sent);
    arena_fini(&arena);
}

int main(void)
{
    static const struct pigeon_layout nothing = {0};
    char path[1024];
    const char *root = getenv("PROVISOR_SHARED");
    (void)snprintf(path, sizeof path, "%s/golden/pigeon_theory.json",
                   root != NULL ? root : SHARED_DEFAULT);
    json_t *golden = json_load_file(path, 0, NULL);
    if (golden == NULL) {
        printf("# skipped: no %s (set PROVISOR_SHARED)\n", path);
        return SKIPPED;
    }
    json_t *example = json_object_get(golden, "example");
    struct tasks_terms terms = tasks_terms_default(TASKS_CENTRALISED);
    terms.reserved_share = 0;
    follow(json_object_get(example, "centralised"), &terms);
    terms = tasks_terms_default(TASKS_PIGEON);
    terms.reserved_share = 0;
    terms.groups = GROUPS;
    follow(json_object_get(example, "pigeon"), &terms);
    terms.layout = &nothing;
    follow(json_object_get(example, "pigeon"), &terms);
    json_decref(golden);
    printf("# %d figures, %d differ\n", compared, faults);
    return faults == 0 && compared == 3 * JOBS + 2 * TASKS ? 0 : 1;
}
