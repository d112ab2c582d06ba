#include "core/geo/plan_make.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "geo_cases.h"

/* What holds of every algorithm's plans. */

TestSuite(planner, .init = cases_setup, .fini = cases_teardown);

/* Terms that let each algorithm do all it can do. */
static struct geo_parameters generous(const struct geo_planner *planner)
{
    struct geo_parameters parameters = geo_parameters_default(planner);
    (void)geo_parameters_set(&parameters, "period_s", 0.5);
    (void)geo_parameters_set(&parameters, "budget", 0.5);
    (void)geo_parameters_set(&parameters, "utilization_max", 1);
    return parameters;
}

static void expect_within_clusters(const struct geo_problem *problem, const struct geo_plan *plan)
{
    for (size_t m = 0; m < problem->n_clusters; m++) {
        const struct geo_cluster *c = &problem->clusters[m];
        int64_t freed = 0;
        for (size_t i = 0; i < plan->n_cancellations; i++)
            freed += plan->cancellations[i].cluster == m;
        cr_assert(plan->use[m].slots <= c->slots - c->busy_slots + freed);
        if (plan->n_cancellations > 0)
            continue; /* gates, too, are given back */
        cr_assert(plan->use[m].ingress_bytes_per_s <= c->ingress_bytes_per_s * (1 + 1e-9) + 1e-9);
        cr_assert(plan->use[m].egress_bytes_per_s <= c->egress_bytes_per_s * (1 + 1e-9) + 1e-9);
    }
}

/* Told of once: with its copies, or with the reason why it has none. */
static void expect_every_task(const struct geo_problem *problem, const struct geo_plan *plan)
{
    unsigned char seen[MOST][MOST] = {{0}};
    for (size_t i = 0; i < plan->n_tasks; i++)
        seen[plan->tasks[i].job][plan->tasks[i].task]++;
    for (size_t i = 0; i < plan->n_waiting; i++) {
        seen[plan->waiting[i].job][plan->waiting[i].task]++;
        cr_assert(plan->waiting[i].reason < GEO_REASONS);
        cr_assert(plan->waiting[i].reason != GEO_NOT_ADMITTED, "all jobs are admitted here");
        cr_assert(plan->waiting[i].reason != GEO_RATE_BELOW_FLOOR);
    }
    for (size_t j = 0; j < problem->n_jobs; j++)
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++)
            cr_assert_eq(seen[j][t], 1);
}

/* At most one of a task in a cluster, first copies before others, figures that fit together. */
static void expect_copies(const struct geo_problem *problem, const struct geo_plan *plan)
{
    for (size_t i = 0; i < plan->n_tasks; i++) {
        const struct geo_plan_task *t = &plan->tasks[i];
        double size = problem->jobs[t->job].tasks[t->task].size_bytes;
        for (size_t a = 0; a < t->n_clusters; a++)
            for (size_t b = 0; b < a; b++)
                cr_assert(t->clusters[a] != t->clusters[b]);
        cr_assert_float_eq(t->duration_s * t->rate_bytes_per_s, size, 1e-9 * size);
        cr_assert(t->exemption_probability >= 0 && t->exemption_probability <= 1);
    }
    for (size_t i = 0; i < plan->n_copies; i++) {
        const struct geo_plan_copy *c = &plan->copies[i];
        cr_assert(c->rate_bytes_per_s > 0);
        cr_assert_eq(isnan(c->saved_s), c->round == 1);
        cr_assert(isnan(c->saved_s) || c->saved_s >= 0);
    }
    for (size_t i = 0; i < plan->n_cancellations; i++) {
        const struct geo_plan_cancellation *s = &plan->cancellations[i];
        const struct geo_task *t = &problem->jobs[s->job].tasks[s->task];
        cr_assert(t->n_copies == 1 && t->copies[0].cluster == s->cluster, "it runs there");
    }
}

static size_t go_through(size_t a, uint64_t seed, size_t *more, size_t *stops)
{
    struct rng rng = rng_make(seed, a);
    const struct geo_parameters terms = generous(geo_planners[a]);
    size_t granted = 0;
    for (size_t i = 0; i < 300; i++) {
        struct arena_mark mark = arena_mark(&arena);
        struct drawn *d = arena_calloc(&arena, 1, sizeof *d);
        struct geo_plan plan;
        draw_problem(&rng, d);
        draw_running(&rng, d);
        cr_assert_eq(geo_plan_make(&d->problem, &terms, NULL, NULL, &arena, &plan, NULL), PV_OK);
        expect_within_clusters(&d->problem, &plan);
        expect_every_task(&d->problem, &plan);
        expect_copies(&d->problem, &plan);
        granted += plan.n_copies;
        *stops += plan.n_cancellations;
        for (size_t k = 0; k < plan.n_copies; k++)
            *more += plan.copies[k].round > 1;
        arena_rewind(&arena, mark);
    }
    return granted;
}

/* With the sums that show that the cases are not empty. */
Test(planner, plans_can_be_carried_out)
{
    for (size_t a = 1; a < geo_planners_n; a++) {
        size_t more = 0;
        size_t stops = 0;
        size_t granted = go_through(a, 41, &more, &stops);
        cr_expect(granted > 1000, "%s: %zu copies", geo_planners[a]->name, granted);
        cr_expect_eq(more > 20,
                     geo_planners[a] == &geo_planner_mantri ||
                         geo_planners[a] == &geo_planner_dolly ||
                         geo_planners[a] == &geo_planner_spark,
                     "%s: %zu further copies", geo_planners[a]->name, more);
        cr_expect_eq(stops > 20, geo_planners[a] == &geo_planner_mantri, "%s: %zu stops",
                     geo_planners[a]->name, stops);
    }
}

/* A task waits only where nothing would have taken it: no idle slot is left that has room. */
Test(planner, placers_leave_no_usable_slot)
{
    struct rng rng = rng_make(42, 0);
    for (size_t i = 0; i < 200; i++) {
        struct drawn *d = arena_calloc(&arena, 1, sizeof *d);
        draw_problem(&rng, d);
        for (size_t m = 0; m < d->problem.n_clusters; m++)
            d->clusters[m].ingress_bytes_per_s = d->clusters[m].egress_bytes_per_s = HUGE_VAL;
        for (size_t a = 1; a < geo_planners_n && geo_planners[a] != &geo_planner_spark; a++) {
            const struct geo_parameters terms = geo_parameters_default(geo_planners[a]);
            struct geo_plan plan;
            int64_t idle = 0;
            cr_assert_eq(geo_plan_make(&d->problem, &terms, NULL, NULL, &arena, &plan, NULL),
                         PV_OK);
            for (size_t m = 0; m < d->problem.n_clusters; m++)
                idle += d->clusters[m].slots - d->clusters[m].busy_slots - plan.use[m].slots;
            cr_assert(plan.n_waiting == 0 || idle == 0, "all clusters are possible here");
        }
    }
}

static bool is_same(const struct geo_plan *a, const struct geo_plan *b)
{
    bool same = a->n_copies == b->n_copies && a->n_waiting == b->n_waiting;
    for (size_t k = 0; same && k < a->n_copies; k++)
        same = a->copies[k].job == b->copies[k].job && a->copies[k].task == b->copies[k].task &&
               a->copies[k].cluster == b->copies[k].cluster &&
               a->copies[k].rate_bytes_per_s == b->copies[k].rate_bytes_per_s;
    return same;
}

Test(planner, kept_rates_change_nothing)
{
    struct rng rng = rng_make(43, 0);
    for (size_t i = 0; i < 60; i++) {
        struct drawn *d = arena_calloc(&arena, 1, sizeof *d);
        draw_problem(&rng, d);
        draw_running(&rng, d);
        struct geo_rates *kept = geo_rates_make(&d->problem, &arena);
        for (size_t a = 0; a < geo_planners_n; a++) {
            const struct geo_parameters terms = generous(geo_planners[a]);
            struct geo_plan fresh;
            struct geo_plan again;
            cr_assert_eq(geo_plan_make(&d->problem, &terms, NULL, NULL, &arena, &fresh, NULL),
                         PV_OK);
            cr_assert_eq(geo_plan_make(&d->problem, &terms, kept, NULL, &arena, &again, NULL),
                         PV_OK);
            cr_assert(is_same(&fresh, &again), "%s", geo_planners[a]->name);
        }
    }
}

/* Memory that runs out at whatever moment is an error and nothing else. */
Test(planner, memory_may_run_out_anywhere)
{
    struct rng rng = rng_make(44, 0);
    struct drawn *d = arena_calloc(&arena, 1, sizeof *d);
    draw_problem(&rng, d);
    draw_running(&rng, d);
    for (size_t a = 0; a < geo_planners_n; a++) {
        const struct geo_parameters terms = generous(geo_planners[a]);
        enum pv_code code = PV_E_MEMORY;
        for (size_t limit = 1024; code == PV_E_MEMORY; limit += limit / 4) {
            struct arena small;
            struct geo_plan plan;
            struct pv_error err = {0};
            arena_init(&small, limit);
            code = geo_plan_make(&d->problem, &terms, NULL, NULL, &small, &plan, &err);
            cr_assert(code == PV_OK || err.code == PV_E_MEMORY);
            arena_fini(&small);
        }
        cr_expect_eq(code, PV_OK, "%s", geo_planners[a]->name);
    }
}

Test(planner, names_are_those_on_the_wire)
{
    static const char *const names[] = {"pingan", "flutter", "iridium", "mantri", "dolly", "spark"};
    cr_assert_eq(geo_planners_n, sizeof names / sizeof *names);
    for (size_t a = 0; a < geo_planners_n; a++)
        cr_expect_str_eq(geo_planners[a]->name, names[a]);
}

/* --- interrupt --- */

static bool keep_going(void *context)
{
    size_t *left = context;
    return *left > 0 && (*left)-- > 1;
}

enum { WIDE_TASKS = 128, WIDE = 8 };

/* Tasks of as many sorts, of many inputs each: milliseconds of work. */
static struct geo_problem wide_problem(void)
{
    struct geo_cluster *clusters = arena_array(&arena, MOST, sizeof *clusters);
    struct geo_link *links = arena_array(&arena, (size_t)MOST * MOST, sizeof *links);
    struct geo_task *tasks = arena_array(&arena, WIDE_TASKS, sizeof *tasks);
    struct geo_job *jobs = arena_array(&arena, 1, sizeof *jobs);
    size_t n_links = 0;
    cr_assert(clusters && links && tasks && jobs);
    for (size_t m = 0; m < MOST; m++) {
        clusters[m] = cluster(WIDE_TASKS, 0.1, two(10 + (double)m, 0.5, 90));
        for (size_t k = 0; k < MOST; k++)
            if (k != m)
                links[n_links++] = (struct geo_link){m, k, two(20 + (double)k, 0.5, 80)};
    }
    for (size_t t = 0; t < WIDE_TASKS; t++) {
        size_t n = WIDE + t / MOST;
        size_t *inputs = arena_array(&arena, n, sizeof *inputs);
        cr_assert_not_null(inputs);
        for (size_t i = 0; i < n; i++)
            inputs[i] = (t + i) % MOST;
        tasks[t] = task(1000, inputs, n);
    }
    jobs[0] = job(1, tasks, WIDE_TASKS);
    return (struct geo_problem){.clusters = clusters,
                                .n_clusters = MOST,
                                .links = links,
                                .n_links = n_links,
                                .n_operations = 1,
                                .jobs = jobs,
                                .n_jobs = 1,
                                .slot_s = 1};
}

Test(planner, a_plan_is_given_up_when_interrupted)
{
    const struct geo_problem problem = wide_problem();
    for (size_t a = 0; a < geo_planners_n; a++) {
        const struct geo_parameters terms = geo_parameters_default(geo_planners[a]);
        struct geo_rates *rates = geo_rates_make(&problem, &arena);
        struct geo_plan plan;
        struct pv_error err;
        size_t left = 1;
        const struct geo_interrupt interrupt = {keep_going, &left};
        pv_error_clear(&err);
        cr_expect_eq(geo_plan_make(&problem, &terms, rates, &interrupt, &arena, &plan, &err),
                     PV_E_CANCELLED, "%s", geo_planners[a]->name);
        cr_expect_eq(err.code, PV_E_CANCELLED);
        /* What was remembered is good for another plan. */
        left = SIZE_MAX;
        pv_error_clear(&err);
        cr_expect_eq(geo_plan_make(&problem, &terms, rates, &interrupt, &arena, &plan, &err),
                     PV_OK);
        cr_expect_eq(plan.n_tasks, WIDE_TASKS);
    }
}
