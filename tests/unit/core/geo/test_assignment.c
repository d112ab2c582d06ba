#include "core/geo/assignment.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { TASKS = 6, CLUSTERS = 4 };

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(assignment, .init = setup, .fini = teardown);

struct drawn {
    struct assignment of;
    double rows[TASKS][CLUSTERS];
    const double *row[TASKS];
    double base[TASKS];
    double weight[TASKS];
    int64_t room[CLUSTERS];
};

/* whole: small integers, so that costs tie. */
static void draw(struct rng *rng, struct drawn *d, bool whole)
{
    size_t n = 1 + (size_t)(TASKS * rng_uniform(rng));
    size_t clusters = 1 + (size_t)(CLUSTERS * rng_uniform(rng));
    for (size_t i = 0; i < n; i++) {
        d->row[i] = d->rows[i];
        d->base[i] = whole ? 0 : rng_uniform(rng);
        d->weight[i] = whole ? 1 : 0.5 + rng_uniform(rng);
        for (size_t m = 0; m < clusters; m++) {
            double cost = 4 * rng_uniform(rng);
            d->rows[i][m] = rng_uniform(rng) < 0.15 ? HUGE_VAL : whole ? floor(cost) : cost;
        }
    }
    for (size_t m = 0; m < clusters; m++)
        d->room[m] = (int64_t)(4 * rng_uniform(rng));
    d->of = (struct assignment){n, clusters, d->row, d->base, d->weight, d->room};
}

static double cost(const struct drawn *d, size_t task, size_t cluster)
{
    return d->base[task] + d->weight[task] * d->rows[task][cluster];
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Costs of the tasks that are placed, in falling order. */
static size_t list_costs(const struct drawn *d, const size_t place[], double costs[])
{
    size_t n = 0;
    for (size_t i = 0; i < d->of.n_tasks; i++)
        if (place[i] != ASSIGNMENT_NONE)
            costs[n++] = cost(d, i, place[i]);
    qsort(costs, n, sizeof *costs, falling);
    return n;
}

/* The least costs of the same tasks, by going through every placement of them. */
static void enumerate(const struct drawn *d, const size_t placed[], double best[], size_t n)
{
    double costs[TASKS];
    size_t place[TASKS] = {0};
    for (size_t i = 0; i < n; i++)
        best[i] = HUGE_VAL;
    for (;;) {
        int64_t left[CLUSTERS];
        memcpy(left, d->room, sizeof left);
        bool possible = true;
        size_t choice[TASKS];
        for (size_t i = 0; i < d->of.n_tasks; i++) {
            choice[i] = placed[i] == ASSIGNMENT_NONE ? ASSIGNMENT_NONE : place[i];
            if (choice[i] != ASSIGNMENT_NONE)
                possible &= left[place[i]]-- > 0 && isfinite(cost(d, i, place[i]));
        }
        if (possible) {
            (void)list_costs(d, choice, costs);
            size_t k = 0;
            while (k < n && costs[k] == best[k])
                k++;
            if (k < n && costs[k] < best[k])
                memcpy(best, costs, n * sizeof *best);
        }
        size_t i = 0;
        while (i < d->of.n_tasks && ++place[i] == d->of.n_clusters)
            place[i++] = 0;
        if (i == d->of.n_tasks)
            return;
    }
}

static void check_room(const struct drawn *d, const size_t place[])
{
    int64_t left[CLUSTERS];
    memcpy(left, d->room, sizeof left);
    for (size_t i = 0; i < d->of.n_tasks; i++)
        if (place[i] != ASSIGNMENT_NONE)
            cr_assert(left[place[i]]-- > 0 && isfinite(cost(d, i, place[i])));
    for (size_t i = 0; i < d->of.n_tasks; i++)
        for (size_t m = 0; place[i] == ASSIGNMENT_NONE && m < d->of.n_clusters; m++)
            cr_assert(left[m] == 0 || isinf(d->rows[i][m]), "it would have had room");
}

/* 40 takes the near place first and gives it up to 100: 20 is worse than 8. */
Test(assignment, the_greatest_cost_is_brought_down_first)
{
    const double near_far[] = {0, 0.2};
    const double *const rows[] = {near_far, near_far};
    const struct assignment of = {
        2, 2, rows, (double[]){0, 0}, (double[]){40, 100}, (int64_t[]){1, 1}};
    size_t place[2];
    cr_assert_eq(assignment_solve(&of, &arena, place), PV_OK);
    cr_expect_eq(place[0], 1);
    cr_expect_eq(place[1], 0);
}

/* The first two hold the only cluster of the third, and can both go elsewhere: one of them must. */
Test(assignment, tasks_make_room_for_one_that_has_no_other_place)
{
    const double any[] = {1, 2};
    const double only[] = {3, HUGE_VAL};
    const double *const rows[] = {any, any, only, only};
    const struct assignment of = {
        4, 2, rows, (double[]){0, 0, 0, 0}, (double[]){1, 1, 1, 1}, (int64_t[]){2, 1}};
    size_t place[4];
    cr_assert_eq(assignment_solve(&of, &arena, place), PV_OK);
    cr_expect_eq(place[0] + place[1], 1, "one in each");
    cr_expect_eq(place[2], 0);
    cr_expect_eq(place[3], ASSIGNMENT_NONE, "the last of the list finds no room");
}

Test(assignment, costs_are_the_least_in_falling_order)
{
    struct rng rng = rng_make(31, 0);
    for (size_t k = 0; k < 1500; k++) {
        struct drawn d;
        size_t place[TASKS];
        double costs[TASKS];
        double best[TASKS];
        draw(&rng, &d, false);
        cr_assert_eq(assignment_solve(&d.of, &arena, place), PV_OK);
        check_room(&d, place);
        size_t n = list_costs(&d, place, costs);
        enumerate(&d, place, best, n);
        for (size_t i = 0; i < n; i++)
            cr_assert_eq(costs[i], best[i], "case %zu, cost %zu: %g, not %g", k, i, costs[i],
                         best[i]);
    }
}

/* Also among equal costs the greatest is the least possible. */
Test(assignment, ties_do_not_raise_the_greatest_cost)
{
    struct rng rng = rng_make(32, 0);
    for (size_t k = 0; k < 1500; k++) {
        struct drawn d;
        size_t place[TASKS];
        double costs[TASKS];
        double best[TASKS];
        draw(&rng, &d, true);
        cr_assert_eq(assignment_solve(&d.of, &arena, place), PV_OK);
        check_room(&d, place);
        size_t n = list_costs(&d, place, costs);
        enumerate(&d, place, best, n);
        cr_assert(n == 0 || costs[0] == best[0], "case %zu", k);
    }
}
