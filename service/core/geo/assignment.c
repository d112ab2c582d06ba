#include "core/geo/assignment.h"

#include <math.h>
#include <stdbool.h>

#include "base/vector.h"

#define NONE SIZE_MAX

/* Looks at a pair of clusters, or of a task and a cluster, that are spent on searches. Counted and
 * not timed, so that a problem has the same answer on every machine. */
static const double WORK_LEAST = 5e7;
static const double WORK_PER_PAIR = 16;

/* The cheapest of a cluster's tasks to move to each other cluster. */
struct exits {
    double *cost;
    size_t *task;
    bool stale;
};

struct entry {
    double cost;
    size_t task;
};

struct solving {
    const struct assignment *of;
    struct arena *arena;
    size_t *place;
    int64_t *capacity;
    size_t *first; /* of each cluster: a task that may be moved */
    size_t *next;  /* of each task */
    size_t *before;
    struct exits *exits;
    size_t *seen; /* of each cluster: the search that reached it last */
    size_t *from; /* cluster it was reached from; NONE: from the task that looks for a place */
    size_t *via;  /* task that would move there */
    size_t *queue;
    bool *closed; /* of each cluster: no one in it can be moved to where there is capacity */
    bool *fixed;  /* of each task */
    size_t search;
    double work; /* left */
    struct entry *heap;
    size_t n_heap;
    size_t heap_capacity;
    bool out_of_memory;
};

static double assignment_cost_of(const struct solving *s, size_t task, size_t cluster)
{
    return s->of->base[task] + s->of->weight[task] * s->of->row[task][cluster];
}

/* --- who is where --- */

static void assignment_leave(struct solving *s, size_t task)
{
    size_t cluster = s->place[task];
    if (s->before[task] != NONE)
        s->next[s->before[task]] = s->next[task];
    else
        s->first[cluster] = s->next[task];
    if (s->next[task] != NONE)
        s->before[s->next[task]] = s->before[task];
    if (s->exits[cluster].cost != NULL)
        s->exits[cluster].stale = true;
}

static void enter(struct solving *s, size_t task, size_t cluster)
{
    struct exits *exits = &s->exits[cluster];
    s->place[task] = cluster;
    s->before[task] = NONE;
    s->next[task] = s->first[cluster];
    if (s->first[cluster] != NONE)
        s->before[s->first[cluster]] = task;
    s->first[cluster] = task;
    if (exits->cost != NULL)
        exits->stale = true;
}

/* NULL when memory is exhausted. */
static const struct exits *find_exits(struct solving *s, size_t cluster)
{
    struct exits *exits = &s->exits[cluster];
    size_t n = s->of->n_clusters;
    if (exits->cost == NULL) {
        exits->cost = arena_array(s->arena, n, sizeof *exits->cost);
        exits->task = arena_array(s->arena, n, sizeof *exits->task);
        exits->stale = true;
        if (exits->cost == NULL || exits->task == NULL)
            return NULL;
    }
    if (!exits->stale)
        return exits;
    for (size_t m = 0; m < n; m++)
        exits->cost[m] = HUGE_VAL;
    for (size_t i = s->first[cluster]; i != NONE; i = s->next[i]) {
        s->work -= (double)n;
        for (size_t m = 0; m < n; m++) {
            double cost = assignment_cost_of(s, i, m);
            if (cost < exits->cost[m]) {
                exits->cost[m] = cost;
                exits->task[m] = i;
            }
        }
    }
    exits->stale = false;
    return exits;
}

/* --- the most expensive first --- */

static bool push(struct solving *s, size_t task)
{
    if (!vector_reserve(s->arena, s->heap, s->heap_capacity, s->n_heap + 1))
        return false;
    struct entry entry = {assignment_cost_of(s, task, s->place[task]), task};
    size_t at = s->n_heap++;
    for (; at > 0 && s->heap[(at - 1) / 2].cost < entry.cost; at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = entry;
    return true;
}

static struct entry pop(struct solving *s)
{
    struct entry top = s->heap[0];
    struct entry last = s->heap[--s->n_heap];
    size_t at = 0;
    for (size_t child = 1; child < s->n_heap; child = 2 * at + 1) {
        if (child + 1 < s->n_heap && s->heap[child + 1].cost > s->heap[child].cost)
            child++;
        if (s->heap[child].cost <= last.cost)
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    if (s->n_heap > 0)
        s->heap[at] = last;
    return top;
}

/* --- searches --- */

/* Move everyone along the way that ends in the cluster; the task takes the first place. */
static void move_along(struct solving *s, size_t task, size_t cluster)
{
    s->capacity[cluster]--;
    while (s->from[cluster] != NONE) {
        size_t moved = s->via[cluster];
        assignment_leave(s, moved);
        enter(s, moved, cluster);
        s->out_of_memory |= !push(s, moved);
        cluster = s->from[cluster];
    }
    enter(s, task, cluster);
    s->out_of_memory |= !push(s, task);
}

/* The cheapest cluster with capacity below the limit. */
static size_t find_direct(const struct solving *s, size_t task, double limit)
{
    size_t best = NONE;
    for (size_t m = 0; m < s->of->n_clusters; m++) {
        double cost = assignment_cost_of(s, task, m);
        if (s->capacity[m] > 0 && cost < limit) {
            limit = cost;
            best = m;
        }
    }
    return best;
}

/* The full clusters in which the task would stay below the limit begin a search. */
static size_t begin_search(struct solving *s, size_t task, double limit)
{
    size_t n = 0;
    s->search++;
    for (size_t m = 0; m < s->of->n_clusters; m++) {
        if (assignment_cost_of(s, task, m) >= limit || (limit == HUGE_VAL && s->closed[m]))
            continue;
        s->seen[m] = s->search;
        s->from[m] = NONE;
        s->queue[n++] = m;
    }
    return n;
}

/* A place for the task, which has none, in which all that move stay below the limit. */
static bool assignment_find_place(struct solving *s, size_t task, double limit)
{
    size_t clusters = s->of->n_clusters;
    size_t direct = find_direct(s, task, limit);
    s->work -= (double)clusters;
    if (direct != NONE) {
        s->from[direct] = NONE;
        move_along(s, task, direct);
        return true;
    }
    size_t n = s->work > 0 || limit == HUGE_VAL ? begin_search(s, task, limit) : 0;
    for (size_t k = 0; k < n; k++) {
        size_t at = s->queue[k];
        const struct exits *exits = find_exits(s, at);
        s->out_of_memory |= exits == NULL;
        s->work -= (double)clusters;
        for (size_t m = 0; exits != NULL && m < clusters; m++) {
            if (s->seen[m] == s->search || exits->cost[m] >= limit)
                continue;
            s->seen[m] = s->search;
            s->from[m] = at;
            s->via[m] = exits->task[m];
            if (s->capacity[m] > 0) {
                move_along(s, task, m);
                return true;
            }
            s->queue[n++] = m;
        }
    }
    return false;
}

/* A place at any cost. When there is none, none of the clusters reached leads to one ever after. */
static void place_first(struct solving *s, size_t task)
{
    s->place[task] = ASSIGNMENT_NONE;
    if (assignment_find_place(s, task, HUGE_VAL))
        return;
    for (size_t m = 0; m < s->of->n_clusters; m++)
        s->closed[m] = s->closed[m] || s->seen[m] == s->search;
}

/* The most expensive placement again and again, until each is fixed. */
static void improve(struct solving *s)
{
    while (s->n_heap > 0 && !s->out_of_memory) {
        struct entry top = pop(s);
        size_t task = top.task;
        size_t cluster = s->place[task];
        if (s->fixed[task] || assignment_cost_of(s, task, cluster) != top.cost)
            continue; /* it has moved since */
        assignment_leave(s, task);
        s->capacity[cluster]++;
        s->fixed[task] = !assignment_find_place(s, task, top.cost);
        if (s->fixed[task])
            s->capacity[cluster]--; /* it stays, and no longer moves for others */
    }
}

static bool assignment_make(struct solving *s)
{
    size_t tasks = s->of->n_tasks;
    size_t clusters = s->of->n_clusters;
    s->capacity = arena_array(s->arena, clusters, sizeof *s->capacity);
    s->first = arena_array(s->arena, clusters, sizeof *s->first);
    s->next = arena_array(s->arena, tasks, sizeof *s->next);
    s->before = arena_array(s->arena, tasks, sizeof *s->before);
    s->exits = arena_calloc(s->arena, clusters, sizeof *s->exits);
    s->seen = arena_calloc(s->arena, clusters, sizeof *s->seen);
    s->from = arena_array(s->arena, clusters, sizeof *s->from);
    s->via = arena_array(s->arena, clusters, sizeof *s->via);
    s->queue = arena_array(s->arena, clusters, sizeof *s->queue);
    s->closed = arena_calloc(s->arena, clusters, sizeof *s->closed);
    s->fixed = arena_calloc(s->arena, tasks, sizeof *s->fixed);
    if (!s->capacity || !s->first || !s->next || !s->before || !s->exits || !s->seen || !s->from ||
        !s->via || !s->queue || !s->closed || !s->fixed)
        return false;
    for (size_t m = 0; m < clusters; m++) {
        s->capacity[m] = s->of->capacity[m];
        s->first[m] = NONE;
    }
    s->work = WORK_LEAST + WORK_PER_PAIR * (double)tasks * (double)clusters;
    return true;
}

enum pv_code
assignment_solve(const struct assignment *assignment, struct arena *arena, size_t place[])
{
    struct solving s = {.of = assignment, .arena = arena, .place = place};
    if (!assignment_make(&s))
        return PV_E_MEMORY;
    for (size_t i = 0; i < assignment->n_tasks && !s.out_of_memory; i++)
        place_first(&s, i);
    improve(&s);
    return s.out_of_memory ? PV_E_MEMORY : PV_OK;
}
