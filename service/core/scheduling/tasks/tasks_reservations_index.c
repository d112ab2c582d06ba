#include "core/scheduling/tasks/tasks_reservations_index.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/rounding.h"
#include "core/sim/pairing_heap.h"

/* In a list the sibling is the next one, and back the one before. */
struct index_node {
    struct pairing_link link;
    uint32_t order; /* how many arrived at the worker before */
};

struct index_worker {
    uint32_t untouched; /* heap */
    uint32_t lists[2];  /* INDEX_BEGUN, INDEX_SPENT: the first place */
    uint32_t arrived;
    bool covered;
};

/* Figures of which none is equal to one of another class, from the least to the most. */
struct index_work_class {
    double least_s;
    double most_s;
};

struct job_work {
    double work_s;
    uint32_t job;
};

void reservations_index_init(struct reservations_index *index,
                             const struct line_pool *pool,
                             const double remaining_s[])
{
    *index = (struct reservations_index){.pool = pool, .remaining_s = remaining_s};
}

double reservations_index_nodes_memory(double places)
{
    return fmin(places, (double)LINE_END) * sizeof(struct index_node);
}

double reservations_index_memory(uint32_t workers, uint32_t jobs)
{
    return (double)workers * sizeof(struct index_worker) +
           (double)jobs *
               (sizeof(uint32_t) + sizeof(struct index_work_class) + sizeof(struct job_work));
}

/* --- classes --- */

static int compare_work(const void *a, const void *b)
{
    const struct job_work *x = a;
    const struct job_work *y = b;
    int order = compare_double(x->work_s, y->work_s);
    return order != 0 ? order : (x->job > y->job) - (x->job < y->job);
}

static uint32_t sort_untouched(const struct reservations_index *index,
                               const bool begun[],
                               uint32_t jobs,
                               struct job_work works[])
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < jobs; j++)
        if (!begun[j] && index->remaining_s[j] > 0)
            works[n++] = (struct job_work){index->remaining_s[j], j};
    qsort(works, n, sizeof *works, compare_work);
    return n;
}

static void classify(struct reservations_index *index, const struct job_work works[], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double work_s = works[i].work_s;
        if (i == 0 || !rounding_equal(work_s, works[i - 1].work_s))
            index->classes[index->n_classes++].least_s = work_s;
        struct index_work_class *class = &index->classes[index->n_classes - 1];
        class->most_s = work_s;
        index->class_of[works[i].job] = index->n_classes - 1;
    }
}

bool reservations_index_make(struct reservations_index *index,
                             const bool begun[],
                             uint32_t jobs,
                             uint32_t workers)
{
    struct arena *arena = index->pool->arena;
    index->refused = true;
    index->class_of = arena_array(arena, jobs, sizeof *index->class_of);
    index->classes = arena_array(arena, jobs, sizeof *index->classes);
    index->workers = arena_calloc(arena, workers, sizeof *index->workers);
    struct job_work *works = arena_array(arena, jobs, sizeof *works);
    if (index->class_of == NULL || index->classes == NULL || index->workers == NULL ||
        works == NULL)
        return false;
    classify(index, works, sort_untouched(index, begun, jobs, works));
    index->nodes = arena_array(arena, index->pool->most, sizeof *index->nodes);
    index->refused = index->nodes == NULL;
    return !index->refused;
}

/* --- workers and places --- */

bool reservations_index_covers(const struct reservations_index *index, uint32_t worker)
{
    return index->nodes != NULL && index->workers[worker].covered;
}

void reservations_index_cover(struct reservations_index *index, uint32_t worker)
{
    index->workers[worker] = (struct index_worker){
        .untouched = PAIRING_HEAP_EMPTY, .lists = {LINE_END, LINE_END}, .covered = true};
}

void reservations_index_uncover(struct reservations_index *index, uint32_t worker)
{
    index->workers[worker].covered = false;
}

void reservations_index_arrive(struct reservations_index *index, uint32_t worker, uint32_t place)
{
    index->nodes[place].order = index->workers[worker].arrived++;
}

uint32_t reservations_index_order(const struct reservations_index *index, uint32_t place)
{
    return index->nodes[place].order;
}

static uint32_t job_at(const struct reservations_index *index, uint32_t place)
{
    return line_place_at(index->pool, place)->job;
}

static bool goes_before(const void *context, uint32_t a, uint32_t b)
{
    const struct reservations_index *index = context;
    uint32_t class_a = index->class_of[job_at(index, a)];
    uint32_t class_b = index->class_of[job_at(index, b)];
    return class_a != class_b ? class_a < class_b : index->nodes[a].order < index->nodes[b].order;
}

static inline struct pairing_items items_of(const struct reservations_index *index)
{
    return (struct pairing_items){index->nodes, sizeof *index->nodes, goes_before, index};
}

void reservations_index_put(struct reservations_index *index,
                            uint32_t worker,
                            uint32_t place,
                            enum index_part part)
{
    struct index_worker *there = &index->workers[worker];
    if (part == INDEX_UNTOUCHED) {
        const struct pairing_items items = items_of(index);
        there->untouched = pairing_heap_add(&items, there->untouched, place);
        return;
    }
    uint32_t *first = &there->lists[part - INDEX_BEGUN];
    index->nodes[place].link = (struct pairing_link){.sibling = *first, .back = LINE_END};
    if (*first != LINE_END)
        index->nodes[*first].link.back = place;
    *first = place;
}

void reservations_index_take_out(struct reservations_index *index,
                                 uint32_t worker,
                                 uint32_t place,
                                 enum index_part part)
{
    struct index_worker *there = &index->workers[worker];
    if (part == INDEX_UNTOUCHED) {
        const struct pairing_items items = items_of(index);
        there->untouched = pairing_heap_remove(&items, there->untouched, place);
        return;
    }
    const struct pairing_link *link = &index->nodes[place].link;
    if (link->back == LINE_END)
        there->lists[part - INDEX_BEGUN] = link->sibling;
    else
        index->nodes[link->back].link.sibling = link->sibling;
    if (link->sibling != LINE_END)
        index->nodes[link->sibling].link.back = link->back;
}

uint32_t reservations_index_spent(const struct reservations_index *index, uint32_t worker)
{
    return index->workers[worker].lists[INDEX_SPENT - INDEX_BEGUN];
}

/* --- the least --- */

/* Of a list's places. */
#define FOR_EACH_BEGUN(index, there, at)                                                           \
    for (uint32_t at = (there)->lists[0]; at != LINE_END; at = (index)->nodes[at].link.sibling)

/* Those that are equal to the least: whether the heap's first is among them, the first to arrive,
 * and the most of their work. */
struct equals {
    double least_s;
    double most_s;
    uint32_t first;
};

static struct equals find_equals(struct reservations_index *index,
                                 const struct index_worker *there,
                                 const struct index_work_class *class)
{
    struct equals equals = {HUGE_VAL, 0, LINE_END};
    if (class != NULL)
        equals.least_s = class->least_s;
    FOR_EACH_BEGUN(index, there, at)
    equals.least_s = fmin(equals.least_s, index->remaining_s[job_at(index, at)]);
    if (class != NULL && rounding_equal(class->least_s, equals.least_s)) {
        equals.first = there->untouched;
        equals.most_s = class->most_s;
    }
    FOR_EACH_BEGUN(index, there, at)
    {
        double work_s = index->remaining_s[job_at(index, at)];
        index->looked_at++;
        if (!rounding_equal(work_s, equals.least_s))
            continue;
        equals.most_s = fmax(equals.most_s, work_s);
        if (equals.first == LINE_END || index->nodes[at].order < index->nodes[equals.first].order)
            equals.first = at;
    }
    return equals;
}

/* Equal to one that is equal to the least, but not to the least. */
static bool is_between(const struct equals *equals, double work_s)
{
    return rounding_equal(work_s, equals->most_s) && !rounding_equal(work_s, equals->least_s);
}

/* Whether all of a class are, or none is, and so on. */
static bool are_ambiguous(const struct reservations_index *index,
                          const struct index_worker *there,
                          const struct index_work_class *class,
                          const struct equals *equals)
{
    FOR_EACH_BEGUN(index, there, at)
    if (is_between(equals, index->remaining_s[job_at(index, at)]))
        return true;
    if (class == NULL)
        return false;
    bool last = class + 1 == index->classes + index->n_classes;
    return is_between(equals, class->least_s) || is_between(equals, class->most_s) ||
           (!last && is_between(equals, class[1].least_s));
}

uint32_t reservations_index_least(struct reservations_index *index, uint32_t worker)
{
    const struct index_worker *there = &index->workers[worker];
    const struct index_work_class *class =
        there->untouched != PAIRING_HEAP_EMPTY
            ? &index->classes[index->class_of[job_at(index, there->untouched)]]
            : NULL;
    struct equals equals = find_equals(index, there, class);
    return are_ambiguous(index, there, class, &equals) ? INDEX_AMBIGUOUS : equals.first;
}
