/* Which nodes were slow: studies of every stage of every run, put together node by node. */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/vector.h"
#include "core/stragglers/stragglers_internal.h"

static const double LEVEL = 0.95;

bool straggler_has_nodes(const struct run_stage *stage)
{
    return !stage->skipped && stage->n_tasks > 0 && stage->task_durations_s != NULL &&
           stage->task_nodes != NULL && stage->n_task_sketch == 0;
}

/* --- numbering: nodes of one name are one; without a name they are those of the last run only --- */

struct named {
    struct strview name;
    size_t run;
    size_t place;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;
    int order = compare_strview(x->name, y->name);
    if (order == 0)
        order = compare_size(x->run, y->run);
    return order != 0 ? order : compare_size(x->place, y->place);
}

/* Numbers of the nodes, run by run and place by place. */
struct numbers {
    size_t **of;
    size_t n; /* nodes in all */
};

static size_t count_places(const struct search *search)
{
    size_t places = 0;
    for (size_t r = 0; r < search->n; r++)
        places += search->runs[r].n_nodes;
    return places;
}

/* Nodes with a name, sorted by it; the others get their numbers at once. */
static size_t collect_names(const struct search *search, struct numbers *numbers, struct named *all)
{
    size_t n = 0;
    for (size_t r = 0; r < search->n; r++)
        for (size_t k = 0; k < search->runs[r].n_nodes; k++) {
            struct strview name = search->runs[r].nodes[k].name;
            numbers->of[r][k] = SIZE_MAX;
            if (name.at != NULL)
                all[n++] = (struct named){name, r, k};
            else if (r == 0)
                numbers->of[r][k] = numbers->n++;
        }
    if (n > 0)
        qsort(all, n, sizeof *all, compare_named);
    return n;
}

static bool number_nodes(const struct search *search, struct numbers *numbers)
{
    size_t places = count_places(search);
    struct named *all = arena_array(search->scratch, places, sizeof *all);
    numbers->of = arena_array(search->scratch, search->n, sizeof *numbers->of);
    size_t *room = arena_array(search->scratch, places, sizeof *room);
    if (all == NULL || numbers->of == NULL || room == NULL)
        return false;
    for (size_t r = 0; r < search->n; r++) {
        numbers->of[r] = room;
        room += search->runs[r].n_nodes;
    }
    size_t n = collect_names(search, numbers, all);
    for (size_t i = 0; i < n; i++) {
        bool same = i > 0 && compare_strview(all[i].name, all[i - 1].name) == 0;
        numbers->n += !same;
        numbers->of[all[i].run][all[i].place] = numbers->n - 1;
    }
    return true;
}

static bool name_nodes(const struct search *search, const struct numbers *numbers)
{
    struct straggler_node *nodes = arena_calloc(search->arena, numbers->n, sizeof *nodes);
    if (nodes == NULL)
        return false;
    for (size_t i = 0; i < numbers->n; i++)
        nodes[i].place = SIZE_MAX;
    for (size_t r = search->n; r-- > 0;)
        for (size_t k = 0; k < search->runs[r].n_nodes; k++) {
            size_t number = numbers->of[r][k];
            if (number == SIZE_MAX)
                continue;
            nodes[number].name = search->runs[r].nodes[k].name;
            nodes[number].place = r == 0 ? k : SIZE_MAX;
        }
    search->found->nodes = nodes;
    search->found->n_nodes = numbers->n;
    return true;
}

/* --- studies --- */

struct studies {
    struct node_study *items;
    size_t n;
    size_t capacity;
};

static enum pv_code study_stage(const struct search *search,
                                size_t run,
                                const struct run_stage *stage,
                                const size_t node_of[],
                                struct studies *studies,
                                struct pv_error *err)
{
    size_t nodes = search->runs[run].n_nodes;
    size_t most = (size_t)stage->n_tasks < nodes ? (size_t)stage->n_tasks : nodes;
    struct stage_times times;
    size_t n;
    if (!vector_reserve(search->arena, studies->items, studies->capacity, studies->n + most))
        return pv_no_memory(err);
    struct arena_mark mark = arena_mark(search->scratch);
    PV_TRY(stage_times_make(stage, search->scratch, search->scratch, &times, err));
    PV_TRY(node_speed_study(stage, &times, node_of, search->scratch, studies->items + studies->n,
                            &n, err));
    arena_rewind(search->scratch, mark);
    for (size_t i = 0; i < n; i++)
        studies->items[studies->n++].run = run;
    return PV_OK;
}

static enum pv_code study_runs(const struct search *search,
                               const struct numbers *numbers,
                               struct studies *studies,
                               struct pv_error *err)
{
    for (size_t r = 0; r < search->n; r++)
        for (size_t i = 0; i < search->runs[r].n_stages; i++) {
            const struct run_stage *stage = &search->runs[r].stages[i];
            if (straggler_has_nodes(stage))
                PV_TRY(study_stage(search, r, stage, numbers->of[r], studies, err));
        }
    return PV_OK;
}

/* --- verdicts --- */

static bool is_slow(const struct node_speed *speed)
{
    return speed->low > 1 && speed->factor >= STRAGGLER_FACTOR;
}

/* In how many runs the node was slow, from studies sorted by run, newest first. */
static void count_runs(const struct search *search,
                       const struct node_study *const of[],
                       size_t n,
                       const struct stage_spread *spread,
                       struct straggler_node *node)
{
    bool unbroken = true;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i; next < n && of[next]->run == of[i]->run;)
            next++;
        struct node_speed speed = node_speed_combine(of + i, next - i, spread, LEVEL);
        bool slow = is_slow(&speed);
        node->runs++;
        node->slow_runs += slow;
        unbroken = unbroken && slow;
        if (unbroken)
            node->since_us = search->runs[of[i]->run].started_us;
    }
}

static void judge_node(const struct search *search,
                       const struct node_study *const of[],
                       size_t n,
                       const struct stage_spread *spread,
                       struct straggler_node *node)
{
    /* One interval in twenty is wrong: of many nodes some would be called slow for nothing. */
    double level = 1 - (1 - LEVEL) / (double)search->found->n_nodes;
    node->speed = node_speed_combine(of, n, spread, level);
    node->since_us = RUN_NO_INSTANT;
    count_runs(search, of, n, spread, node);
    bool clear = node->speed.low > 1 || node->speed.high <= STRAGGLER_UNCLEAR;
    node->verdict = is_slow(&node->speed) ? STRAGGLER_SLOW
                    : n > 0 && clear      ? STRAGGLER_NORMAL
                                          : STRAGGLER_TOO_FEW;
}

static int compare_studies(const void *a, const void *b)
{
    const struct node_study *x = *(const struct node_study *const *)a;
    const struct node_study *y = *(const struct node_study *const *)b;
    int order = compare_size(x->node, y->node);
    if (order == 0)
        order = compare_size(x->run, y->run);
    return order != 0 ? order : (x > y) - (x < y);
}

static bool judge_all(const struct search *search, const struct studies *studies)
{
    const struct node_study **sorted = arena_array(search->scratch, studies->n, sizeof *sorted);
    double *room = arena_array(search->scratch, studies->n, sizeof *room);
    if (sorted == NULL || room == NULL)
        return false;
    for (size_t i = 0; i < studies->n; i++)
        sorted[i] = &studies->items[i];
    if (studies->n > 0)
        qsort(sorted, studies->n, sizeof *sorted, compare_studies);
    const struct stage_spread spread = node_speed_spread(sorted, studies->n, room);
    size_t at = 0;
    for (size_t k = 0; k < search->found->n_nodes; k++) {
        size_t begin = at;
        while (at < studies->n && sorted[at]->node == k)
            at++;
        judge_node(search, sorted + begin, at - begin, &spread, &search->found->nodes[k]);
    }
    return true;
}

enum pv_code straggler_judge_nodes(const struct search *search, struct pv_error *err)
{
    struct arena_mark mark = arena_mark(search->scratch);
    struct numbers numbers = {.n = 0};
    struct studies studies = {.n = 0};
    if (!number_nodes(search, &numbers) || !name_nodes(search, &numbers))
        return pv_no_memory(err);
    PV_TRY(study_runs(search, &numbers, &studies, err));
    if (!judge_all(search, &studies))
        return pv_no_memory(err);
    arena_rewind(search->scratch, mark);
    return PV_OK;
}

double *straggler_factors(const struct search *search)
{
    size_t n = search->runs->n_nodes;
    double *factors = arena_array(search->arena, n, sizeof *factors);
    for (size_t k = 0; factors != NULL && k < n; k++)
        factors[k] = 1;
    for (size_t i = 0; factors != NULL && i < search->found->n_nodes; i++) {
        const struct straggler_node *node = &search->found->nodes[i];
        bool certain = node->speed.low > 1 || node->speed.high < 1;
        if (node->place != SIZE_MAX && certain)
            factors[node->place] = node->speed.factor;
    }
    return factors;
}
