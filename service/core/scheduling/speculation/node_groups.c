#include "core/scheduling/speculation/node_groups.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/rounding.h"

/*
 * The result of Alg. 5.2.1 does not depend on the order of its mergers: two groups that have to
 * merge at some time still have to when either has grown. So it can be found without them. Put nodes
 * in ascending order of every dimension. A cut is a place where the nodes before it are the same ones
 * in all these orders, and are below those behind it in all dimensions: nothing ever merges across a
 * cut. Nodes between two neighbouring cuts are a block. A group of several nodes neither crosses nor
 * overlaps another group, so it ends at cuts: it is a block. So a block in which two nodes cross is
 * one group, and in any other one every node is a group.
 */
struct ranked {
    double value;
    size_t node;
};

struct orders {
    const struct performance_vectors *vectors;
    struct ranked *ranked; /* dimension after dimension, each in ascending order */
    bool *cut;             /* by place in the orders, 0 to n */
};

static int order_by_value(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    int order = compare_double(x->value, y->value);
    return order != 0 ? order : compare_size(x->node, y->node);
}

static bool above(double a, double b)
{
    return a > b && !rounding_equal(a, b);
}

static void sort_dimensions(const struct orders *orders)
{
    size_t n = orders->vectors->n;
    for (size_t d = 0; d < orders->vectors->dimensions; d++) {
        struct ranked *ranked = &orders->ranked[d * n];
        for (size_t i = 0; i < n; i++)
            ranked[i] = (struct ranked){orders->vectors->values[d * n + i], i};
        qsort(ranked, n, sizeof *ranked, order_by_value);
    }
}

/* place_of: by node, its place in the order of the first dimension; filled here. */
static void find_cuts(const struct orders *orders, size_t place_of[])
{
    size_t n = orders->vectors->n;
    for (size_t i = 0; i < n; i++)
        place_of[orders->ranked[i].node] = i;
    for (size_t i = 0; i <= n; i++)
        orders->cut[i] = true;
    for (size_t d = 0; d < orders->vectors->dimensions; d++) {
        const struct ranked *ranked = &orders->ranked[d * n];
        size_t last = 0; /* place in the first dimension of the last of the nodes so far */
        for (size_t i = 1; i < n; i++) {
            size_t place = place_of[ranked[i - 1].node];
            last = place > last ? place : last;
            if (last != i - 1 || !above(ranked[i].value, ranked[i - 1].value))
                orders->cut[i] = false;
        }
    }
}

/* Whether of the nodes at places begin to end - 1 one is above another in dimension a and below it
 * in dimension b. */
static bool cross_in(const struct orders *orders, size_t a, size_t b, size_t begin, size_t end)
{
    size_t n = orders->vectors->n;
    const struct ranked *ranked = &orders->ranked[a * n];
    const double *other = &orders->vectors->values[b * n];
    double least = HUGE_VAL; /* in dimension b, of those from `first` on */
    size_t first = end;      /* the first one above that at i - 1 */
    for (size_t i = end; i > begin; i--) {
        for (; above(ranked[first - 1].value, ranked[i - 1].value); first--)
            least = fmin(least, other[ranked[first - 1].node]);
        if (above(other[ranked[i - 1].node], least))
            return true;
    }
    return false;
}

static bool any_cross(const struct orders *orders, size_t begin, size_t end)
{
    for (size_t a = 0; a + 1 < orders->vectors->dimensions; a++) {
        for (size_t b = a + 1; b < orders->vectors->dimensions; b++) {
            if (cross_in(orders, a, b, begin, end))
                return true;
        }
    }
    return false;
}

/* Every node gets one that represents its group. */
static void merge_blocks(const struct orders *orders, size_t representative[])
{
    size_t n = orders->vectors->n;
    for (size_t begin = 0, end = 0; begin < n; begin = end) {
        for (end = begin + 1; !orders->cut[end]; end++)
            ;
        bool merged = end - begin > 1 && any_cross(orders, begin, end);
        for (size_t i = begin; i < end; i++)
            representative[orders->ranked[i].node] = orders->ranked[merged ? begin : i].node;
    }
}

/* Numbers in order of the groups' first nodes instead. number_of: by representative. */
static size_t number_groups(size_t group[], size_t n, size_t number_of[])
{
    size_t n_groups = 0;
    for (size_t i = 0; i < n; i++)
        number_of[i] = n;
    for (size_t i = 0; i < n; i++) {
        size_t *number = &number_of[group[i]];
        if (*number == n)
            *number = n_groups++;
        group[i] = *number;
    }
    return n_groups;
}

enum pv_code node_groups_find(const struct performance_vectors *vectors,
                              struct arena *scratch,
                              size_t group[],
                              size_t *n_groups,
                              struct pv_error *err)
{
    size_t n = vectors->n;
    struct arena_mark mark = arena_mark(scratch);
    struct orders orders = {.vectors = vectors};
    size_t *by_node = arena_array(scratch, n, sizeof *by_node);
    orders.ranked = arena_array(scratch, n, vectors->dimensions * sizeof *orders.ranked);
    orders.cut = arena_array(scratch, n + 1, sizeof *orders.cut);
    if (by_node == NULL || orders.ranked == NULL || orders.cut == NULL)
        return pv_no_memory(err);
    sort_dimensions(&orders);
    find_cuts(&orders, by_node);
    merge_blocks(&orders, group);
    *n_groups = number_groups(group, n, by_node);
    arena_rewind(scratch, mark);
    return PV_OK;
}
