/* Decisions on copies of slow tasks (eSplash, LATE) against figures that others computed:
 * golden/vectors/speculation-decisions. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduling/speculation/esplash.h"
#include "core/scheduling/speculation/late.h"
#include "vectors.h"

enum { TYPES_MAX = 16 };

static struct vectors_figures figures;

/* A cluster, with the names that it has in the vector. */
struct given {
    struct speculation_cluster cluster;
    json_t *nodes;
    const char *types[TYPES_MAX];
};

static void *take(struct arena *arena, size_t n, size_t size)
{
    void *items = arena_calloc(arena, n, size);
    if (items == NULL)
        abort();
    return items;
}

static size_t type_of(struct given *given, json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "type"));
    for (size_t t = 0; t < given->cluster.n_types; t++) {
        if (strcmp(given->types[t], name) == 0)
            return t;
    }
    if (given->cluster.n_types == TYPES_MAX)
        abort();
    given->types[given->cluster.n_types] = name;
    return given->cluster.n_types++;
}

static struct speculation_task take_task(struct given *given, json_t *task)
{
    const char *copy = json_string_value(json_object_get(task, "copy"));
    return (struct speculation_task){
        .type = type_of(given, task),
        .elapsed_s = vectors_number(task, "elapsed_s", (double)NAN),
        .progress = vectors_number(task, "progress", (double)NAN),
        .progress_rate_per_s = vectors_number(task, "progress_rate_per_s", (double)NAN),
        .copy = copy == NULL || strcmp(copy, "none") == 0 ? SPECULATION_NO_COPY
                : strcmp(copy, "waiting") == 0            ? SPECULATION_COPY_WAITS
                                                          : SPECULATION_COPY_RUNS,
        .is_copy = json_is_true(json_object_get(task, "is_copy")),
    };
}

static struct speculation_node take_node(struct given *given, json_t *node, struct arena *arena)
{
    json_t *finished = json_object_get(node, "finished");
    json_t *running = json_object_get(node, "running");
    size_t n_finished = json_array_size(finished);
    size_t n_running = json_array_size(running);
    struct speculation_finished *rows = take(arena, n_finished, sizeof *rows);
    struct speculation_task *tasks = take(arena, n_running, sizeof *tasks);
    for (size_t i = 0; i < n_finished; i++) {
        json_t *row = json_array_get(finished, i);
        rows[i] = (struct speculation_finished){
            type_of(given, row), (size_t)vectors_number(row, "tasks", 0),
            vectors_number(row, "mean_s", (double)NAN), vectors_number(row, "deviation_s", 0)};
    }
    for (size_t i = 0; i < n_running; i++)
        tasks[i] = take_task(given, json_array_get(running, i));
    return (struct speculation_node){
        .containers = (size_t)vectors_number(node, "containers", 0),
        .free_containers = (size_t)vectors_number(node, "free_containers", 0),
        .finished = rows,
        .n_finished = n_finished,
        .running = tasks,
        .n_running = n_running,
    };
}

static void take_cluster(struct given *given, json_t *request, struct arena *arena)
{
    size_t i;
    json_t *node;
    *given = (struct given){.nodes = json_object_get(request, "nodes")};
    size_t n = json_array_size(given->nodes);
    struct speculation_node *nodes = take(arena, n, sizeof *nodes);
    json_array_foreach(given->nodes, i, node) nodes[i] = take_node(given, node, arena);
    given->cluster.nodes = nodes;
    given->cluster.n_nodes = n;
}

static const char *name_of(const struct given *given, size_t node)
{
    if (node == SPECULATION_NONE)
        return NULL;
    return json_string_value(json_object_get(json_array_get(given->nodes, node), "name"));
}

static const char *id_of(const struct given *given, struct speculation_place place)
{
    json_t *running = json_object_get(json_array_get(given->nodes, place.node), "running");
    return json_string_value(json_object_get(json_array_get(running, place.task), "id"));
}

static void expect_count(const char *file, const char *what, size_t got, size_t want)
{
    figures.compared++;
    if (got == want)
        return;
    figures.differ++;
    printf("# %s: %zu %s, not %zu\n", file, got, what, want);
}

static double number_or_null(size_t number)
{
    return number > 0 ? (double)number : (double)NAN;
}

/* --- kind "esplash" --- */

static void find_levels(const struct given *given,
                        json_t *request,
                        struct arena *arena,
                        struct node_levels *levels)
{
    size_t n = given->cluster.n_nodes;
    size_t count = (size_t)vectors_number(request, "level_count", NODE_LEVELS_AUTO);
    if (json_object_get(json_array_get(given->nodes, 0), "level") == NULL) {
        if (node_levels_find(&given->cluster, count, arena, levels, NULL) != PV_OK)
            abort();
        return;
    }
    size_t *level = take(arena, n, sizeof *level);
    for (size_t i = 0; i < n; i++)
        level[i] = (size_t)vectors_number(json_array_get(given->nodes, i), "level", 0);
    *levels = node_levels_given(level, n);
}

static void expect_groups(const char *file,
                          json_t *want,
                          const struct given *given,
                          const struct node_levels *levels)
{
    json_t *groups = json_object_get(want, "groups");
    size_t named = 0;
    if (levels->group == NULL) {
        expect_count(file, "groups", 0, json_array_size(groups));
        return;
    }
    expect_count(file, "groups", levels->n_groups, json_array_size(groups));
    for (size_t i = 0; i < given->cluster.n_nodes; i++) {
        json_t *group = json_array_get(groups, levels->group[i]);
        for (size_t m = 0; m < json_array_size(group); m++)
            named += strcmp(json_string_value(json_array_get(group, m)), name_of(given, i)) == 0;
    }
    expect_count(file, "nodes in their groups", named, given->cluster.n_nodes);
}

static void expect_nodes(const char *file,
                         json_t *want,
                         const struct node_levels *levels,
                         const struct esplash_decision *got)
{
    json_t *node;
    size_t i;
    vectors_expect(&figures, file, want, "highest_level", (double)levels->highest);
    vectors_expect(&figures, file, want, "silhouette", levels->silhouette);
    json_array_foreach(json_object_get(want, "nodes"), i, node)
    {
        vectors_expect(&figures, file, node, "level", (double)levels->level[i]);
        vectors_expect(&figures, file, node, "straggler_value", got->nodes[i].straggler_value);
        expect_count(file, "straggler", got->nodes[i].straggler,
                     json_is_true(json_object_get(node, "straggler")));
    }
}

static void expect_table(const char *file,
                         json_t *want,
                         const struct given *given,
                         const struct esplash_decision *got)
{
    json_t *table = json_object_get(want, "table");
    expect_count(file, "rows", got->n_table, json_array_size(table));
    for (size_t r = 0; r < got->n_table; r++) {
        json_t *row = json_array_get(table, r);
        vectors_expect(&figures, file, row, "level", (double)got->table[r].level);
        vectors_expect_word(&figures, file, row, "type", given->types[got->table[r].type]);
        vectors_expect(&figures, file, row, "tasks", (double)got->table[r].tasks);
        vectors_expect(&figures, file, row, "mean_s", got->table[r].mean_s);
        vectors_expect(&figures, file, row, "deviation_s", got->table[r].deviation_s);
        vectors_expect(&figures, file, row, "progress_rate_per_s",
                       got->table[r].progress_rate_per_s);
    }
}

static void expect_candidate(const char *file,
                             json_t *want,
                             const struct given *given,
                             const struct esplash_candidate *got)
{
    static const char *const reasons[] = {NULL, "no_statistics", "no_host"};
    json_t *expected = json_object_get(want, "expected_s");
    vectors_expect_word(&figures, file, want, "task", id_of(given, got->place));
    vectors_expect_word(&figures, file, want, "node", name_of(given, got->place.node));
    vectors_expect_word(&figures, file, want, "reason", reasons[got->reason]);
    vectors_expect(&figures, file, want, "min_level", number_or_null(got->min_level));
    vectors_expect(&figures, file, want, "value_s", got->value_s);
    expect_count(file, "levels", got->n_expected, json_array_size(expected));
    for (size_t l = 0; l < got->n_expected; l++) {
        json_t *item = json_pack("{sO}", "expected_s", json_array_get(expected, l));
        vectors_expect(&figures, file, item, "expected_s", got->expected_s[l]);
        json_decref(item);
    }
}

static void expect_candidates(const char *file,
                              json_t *want,
                              const struct given *given,
                              const struct esplash_decision *got)
{
    json_t *candidates = json_object_get(want, "candidates");
    json_t *rechecks = json_object_get(want, "rechecks");
    expect_count(file, "candidates", got->n_candidates, json_array_size(candidates));
    expect_count(file, "rechecks", got->n_rechecks, json_array_size(rechecks));
    for (size_t i = 0; i < got->n_candidates; i++)
        expect_candidate(file, json_array_get(candidates, i), given, &got->candidates[i]);
    for (size_t i = 0; i < got->n_rechecks; i++) {
        json_t *recheck = json_array_get(rechecks, i);
        expect_candidate(file, recheck, given, &got->rechecks[i]);
        expect_count(file, "copies kept", esplash_keeps(&got->rechecks[i]),
                     json_is_true(json_object_get(recheck, "keep")));
    }
}

static void expect_action(const char *file,
                          json_t *want,
                          const struct given *given,
                          const struct esplash_decision *got)
{
    json_t *action = json_object_get(want, "action");
    bool any = got->action.candidate != SPECULATION_NONE;
    const struct esplash_candidate none = {.place = {SPECULATION_NONE, 0}, .value_s = (double)NAN};
    const struct esplash_candidate *chosen = any ? &got->candidates[got->action.candidate] : &none;
    vectors_expect_word(&figures, file, action, "task", any ? id_of(given, chosen->place) : NULL);
    vectors_expect_word(&figures, file, action, "node", name_of(given, chosen->place.node));
    vectors_expect_word(&figures, file, action, "host", name_of(given, got->action.host));
    vectors_expect(&figures, file, action, "min_level", number_or_null(chosen->min_level));
    vectors_expect(&figures, file, action, "value_s", chosen->value_s);
}

static void run_esplash(const char *file, json_t *request, json_t *want, struct arena *arena)
{
    json_t *weights = json_object_get(request, "weights");
    struct given given;
    struct node_levels levels;
    struct esplash_decision decision;
    const struct esplash_terms terms = {
        .threshold = vectors_number(request, "threshold", 3),
        .duration_weight = weights ? json_number_value(json_array_get(weights, 0)) : 1,
        .rate_weight = weights ? json_number_value(json_array_get(weights, 1)) : 1,
        .deviation_floor = vectors_number(request, "deviation_floor", 0.05),
        .ratio_cap = vectors_number(request, "ratio_cap", 10),
    };
    take_cluster(&given, request, arena);
    find_levels(&given, request, arena, &levels);
    if (esplash_decide(&given.cluster, &levels, &terms, arena, &decision, NULL) != PV_OK)
        abort();
    expect_groups(file, want, &given, &levels);
    expect_nodes(file, want, &levels, &decision);
    expect_table(file, want, &given, &decision);
    expect_candidates(file, want, &given, &decision);
    expect_action(file, want, &given, &decision);
}

/* --- kind "late" --- */

static void run_late(const char *file, json_t *request, json_t *want, struct arena *arena)
{
    json_t *candidates = json_object_get(want, "candidates");
    json_t *action = json_object_get(want, "action");
    struct given given;
    struct late_decision got;
    take_cluster(&given, request, arena);
    if (late_decide(&given.cluster, arena, &got, NULL) != PV_OK)
        abort();
    expect_count(file, "candidates", got.n_candidates, json_array_size(candidates));
    for (size_t i = 0; i < got.n_candidates; i++) {
        json_t *candidate = json_array_get(candidates, i);
        const struct late_candidate *found = &got.candidates[i];
        vectors_expect_word(&figures, file, candidate, "task", id_of(&given, found->place));
        vectors_expect_word(&figures, file, candidate, "node", name_of(&given, found->place.node));
        vectors_expect(&figures, file, candidate, "remaining_s", found->remaining_s);
        vectors_expect(&figures, file, candidate, "copy_s", found->copy_s);
        vectors_expect(&figures, file, candidate, "value_s", found->value_s);
    }
    if (got.action == SPECULATION_NONE) {
        vectors_expect_word(&figures, file, action, "task", NULL);
        return;
    }
    const struct late_candidate *chosen = &got.candidates[got.action];
    vectors_expect_word(&figures, file, action, "task", id_of(&given, chosen->place));
    vectors_expect_word(&figures, file, action, "node", name_of(&given, chosen->place.node));
    vectors_expect(&figures, file, action, "value_s", chosen->value_s);
}

static bool run_file(const char *file, json_t *vector)
{
    json_t *request = json_object_get(vector, "request");
    json_t *want = json_object_get(vector, "expect");
    bool late = strcmp(json_string_value(json_object_get(request, "kind")), "late") == 0;
    struct arena arena;
    arena_init(&arena, 0);
    (late ? run_late : run_esplash)(file, request, want, &arena);
    arena_fini(&arena);
    return true;
}

int main(void)
{
    size_t files;
    if (!vectors_each("speculation-decisions", SHARED_DEFAULT, JSON_DECODE_INT_AS_REAL, run_file,
                      &files))
        return SKIPPED;
    printf("# %zu requests, %zu figures, %zu differ\n", files, figures.compared, figures.differ);
    return figures.differ == 0 && figures.compared > 700 ? 0 : 1;
}
