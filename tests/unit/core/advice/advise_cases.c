#include "advise_cases.h"

#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "core/history/run.h"

struct curve_point points[POINTS];
struct curve curve;
struct arena arena;

double law(int64_t m)
{
    return m == 5 ? 34.0 : 10.0 + 90.0 / (double)m;
}

void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    curve = (struct curve){.points = points,
                           .n_points = POINTS,
                           .problem_size = 64,
                           .cores_per_executor = 4,
                           .single_s = law(1),
                           .freedom = 8.0,
                           .runs = 6,
                           .loo_mape_percent = 2.0,
                           .least_size = 64,
                           .most_size = 64,
                           .least_cores = 4,
                           .most_cores = 48,
                           .distinct_cores = 4};
    for (int64_t m = 1; m <= POINTS; m++)
        points[m - 1] = (struct curve_point){.executors = m, .duration_s = law(m), .spread = 0.02};
}

void tear_down(void)
{
    arena_fini(&arena);
}

struct advise_goal question(enum advise_objective objective, double deadline_s)
{
    return (struct advise_goal){.objective = objective,
                                .deadline_s = deadline_s,
                                .confidence = 0.95,
                                .min_executors = 1,
                                .max_executors = 10,
                                .last_executors = RUN_UNKNOWN,
                                .billing = {.per_hour = (double)NAN},
                                .max_cost = (double)NAN};
}

struct advice ask(const struct advise_goal *asked)
{
    struct advice advice;
    struct pv_error err = {0};
    cr_assert_eq(advise(&curve, asked, &arena, &advice, &err), PV_OK, "%s", err.detail);
    return advice;
}

bool has(const struct findings *notes, const char *code)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strcmp(notes->items[i].code, code) == 0)
            return true;
    return false;
}

const struct finding *find(const struct findings *notes, const char *code)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strcmp(notes->items[i].code, code) == 0)
            return &notes->items[i];
    return NULL;
}

double evidence(const struct findings *notes, const char *code, const char *name)
{
    const struct finding *note = find(notes, code);
    cr_assert_not_null(note, "%s", code);
    for (size_t i = 0; i < note->n_evidence; i++)
        if (strcmp(note->evidence[i].name, name) == 0)
            return note->evidence[i].value;
    cr_assert_fail("%s has no %s", code, name);
    return (double)NAN;
}

const char *message(const struct findings *notes, const char *code)
{
    const struct finding *note = find(notes, code);
    cr_assert_not_null(note, "%s", code);
    return note->message;
}
