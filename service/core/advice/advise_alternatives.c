#include <math.h>
#include <stdlib.h>

#include "core/advice/advise_internal.h"

/* Faster first; equally fast: fewer executors first, which never cost more. */
static int faster_first(const void *left, const void *right)
{
    const struct curve_point *a = *(const struct curve_point *const *)left;
    const struct curve_point *b = *(const struct curve_point *const *)right;
    if (a->duration_s != b->duration_s)
        return a->duration_s < b->duration_s ? -1 : 1;
    return (a->executors > b->executors) - (a->executors < b->executors);
}

/* Allowed points that no other beats in both time and cost, fastest first. Returns how many. */
static size_t find_front(const struct view *view, const struct curve_point *front[])
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < view->curve->n_points; i++)
        if (advise_is_allowed(view->goal, &view->curve->points[i]))
            front[n++] = &view->curve->points[i];
    qsort(front, n, sizeof *front, faster_first);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 ||
            advise_unit_s(view->goal, front[i]) < advise_unit_s(view->goal, front[kept - 1]))
            front[kept++] = front[i];
    return kept;
}

/* Times on a scale on which steps near `reference_s` are wide: a point at twice the time is as far
 * from it as four at ten times. */
static double place_of(const struct curve_point *point, double reference_s)
{
    const double denseness = 4.0;
    return asinh(denseness * log(point->duration_s / reference_s));
}

/*
 * Keep `room` of n entries, fastest first: both ends, and again and again the one that cuts the
 * widest gap best in two. Those kept move to the front, in order. room >= 2.
 */
static size_t thin_front(const struct curve_point *front[],
                         size_t n,
                         size_t room,
                         double reference_s,
                         bool kept[],
                         double places[])
{
    if (n <= room)
        return n;
    for (size_t i = 0; i < n; i++) {
        kept[i] = i == 0 || i == n - 1;
        places[i] = place_of(front[i], reference_s);
    }
    for (size_t count = 2; count < room; count++) {
        size_t best = 0, before = 0;
        double widest = -1.0;
        for (size_t after = 1; after < n; after++) {
            if (!kept[after])
                continue;
            for (size_t i = before + 1; i < after; i++) {
                double cut = fmin(places[i] - places[before], places[after] - places[i]);
                if (cut > widest) {
                    widest = cut;
                    best = i;
                }
            }
            before = after;
        }
        kept[best] = true;
    }
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (kept[i])
            front[left++] = front[i];
    return left;
}

static size_t
add_if_absent(const struct curve_point *front[], size_t n, const struct curve_point *point)
{
    for (size_t i = 0; i < n; i++)
        if (front[i] == point)
            return n;
    if (point != NULL)
        front[n++] = point;
    return n;
}

enum pv_code advise_list_alternatives(const struct view *view,
                                      const struct curve_point *recommended,
                                      struct arena *arena,
                                      struct advice *advice,
                                      struct pv_error *err)
{
    size_t n_points = view->curve->n_points;
    const struct curve_point **front =
        arena_array(arena, n_points + 2, sizeof(const struct curve_point *));
    bool *kept = arena_array(arena, n_points, sizeof *kept);
    double *places = arena_array(arena, n_points, sizeof *places);
    struct advise_choice *chosen = arena_array(arena, ADVISE_ALTERNATIVES_MAX, sizeof *chosen);
    if (front == NULL || kept == NULL || places == NULL || chosen == NULL)
        return pv_no_memory(err);
    size_t n = thin_front(front, find_front(view, front), ADVISE_ALTERNATIVES_MAX - 2,
                          recommended->duration_s, kept, places);
    n = add_if_absent(front, n, recommended);
    n = add_if_absent(front, n, advise_point_below(view->curve, view->goal, recommended));
    qsort(front, n, sizeof *front, faster_first);
    for (size_t i = 0; i < n; i++)
        chosen[i] = advise_describe(view, front[i]);
    advice->alternatives = chosen;
    advice->n_alternatives = n;
    return PV_OK;
}
