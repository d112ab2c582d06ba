#include "core/scheduling/slots/fresh_plan.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scheduling/slots/fresh_check.h"
#include "core/sim/variates.h"

enum { JOBS = 5, SLOTS = 12 };

static const struct fresh_work MIXED[JOBS] = {
    {90, 20, 0, 0}, {30, 80, 0, 0}, {25, 25, 0, 0}, {40, 0, 0, 0}, {30, 100, 0, 0}};

static struct fresh_plan_terms terms_of(const struct fresh_work jobs[], size_t n)
{
    return (struct fresh_plan_terms){
        .jobs = jobs, .n = n, .slots = SLOTS, .concurrency = 2, .profile_error = (double)NAN};
}

static struct arena arena;

static struct fresh_plan plan_of(const struct fresh_plan_terms *terms)
{
    struct fresh_plan plan;
    cr_assert_eq(fresh_plan_make(terms, &arena, &plan, NULL), PV_OK);
    return plan;
}

static void begin(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

/* --- Johnson's order --- */

Test(fresh_plan,
     johnsons_order_has_short_maps_first_and_short_reduces_last,
     .init = begin,
     .fini = end)
{
    static const size_t want[] = {1, 4, 2, 0, 3}; /* job 2, of 25 and 25, is late */
    size_t order[JOBS];
    cr_assert_eq(fresh_johnson(MIXED, JOBS, &arena, order, NULL), PV_OK);
    for (size_t i = 0; i < JOBS; i++)
        cr_expect_eq(order[i], want[i], "%zu is job %zu", i, order[i]);
}

/* --- the least makespan over all orders --- */

static double makespan_in_order(const struct fresh_work jobs[], const size_t order[], size_t n)
{
    struct fresh_work batch_jobs[JOBS];
    double makespan_s[SLOTS];
    const struct fresh_batch batch = {batch_jobs, n, SLOTS, 1};
    for (size_t i = 0; i < n; i++)
        batch_jobs[i] = jobs[order[i]];
    cr_assert_eq(fresh_static_makespans(&batch, &arena, makespan_s, NULL), PV_OK);
    return makespan_s[SLOTS / 2 - 1];
}

static double least_over_orders(const struct fresh_work jobs[], size_t order[], size_t fixed)
{
    double least_s = HUGE_VAL;
    if (fixed == JOBS)
        return makespan_in_order(jobs, order, JOBS);
    for (size_t i = fixed; i < JOBS; i++) {
        size_t swapped = order[fixed];
        order[fixed] = order[i];
        order[i] = swapped;
        least_s = fmin(least_s, least_over_orders(jobs, order, fixed + 1));
        order[i] = order[fixed];
        order[fixed] = swapped;
    }
    return least_s;
}

/* With as many map slots as reduce slots and one job at a time in each phase, two machines in a
 * row: then no order is better. */
Test(fresh_plan, no_order_is_better_than_johnsons_for_one_job_at_a_time, .init = begin, .fini = end)
{
    const uint64_t purpose[] = {31};
    struct rng rng = variate_stream(21, purpose, 1);
    for (size_t c = 0; c < 50; c++) {
        struct fresh_work jobs[JOBS];
        size_t order[JOBS];
        size_t all[JOBS];
        for (size_t i = 0; i < JOBS; i++) {
            jobs[i] = (struct fresh_work){variate_uniform(&rng, 1, 50),
                                          variate_uniform(&rng, 1, 50), 0, 0};
            all[i] = i;
        }
        cr_assert_eq(fresh_johnson(jobs, JOBS, &arena, order, NULL), PV_OK);
        cr_assert_float_eq(makespan_in_order(jobs, order, JOBS), least_over_orders(jobs, all, 0),
                           1e-9);
    }
}

Test(fresh_plan, times_belong_to_jobs_of_the_request_in_any_order, .init = begin, .fini = end)
{
    struct fresh_plan_terms terms = terms_of(MIXED, JOBS);
    struct fresh_work sorted[JOBS];
    terms.johnson = true;
    struct fresh_plan plan = plan_of(&terms);
    for (size_t i = 0; i < JOBS; i++)
        sorted[i] = MIXED[plan.order[i]];
    struct fresh_plan_terms as_given = terms_of(sorted, JOBS);
    struct fresh_plan same = plan_of(&as_given);
    cr_expect_eq(plan.best.makespan_s, same.best.makespan_s);
    for (size_t i = 0; i < JOBS; i++)
        cr_expect_eq(plan.times[plan.order[i]].finish_s, same.times[i].finish_s);
}

/* --- what belongs to the plan --- */

Test(fresh_plan,
     the_best_split_is_the_shortest_and_its_times_end_with_it,
     .init = begin,
     .fini = end)
{
    struct fresh_plan_terms terms = terms_of(MIXED, JOBS);
    struct fresh_plan plan = plan_of(&terms);
    double last_s = 0;
    cr_assert_eq(plan.n_splits, SLOTS - 1);
    for (size_t i = 0; i < plan.n_splits; i++)
        cr_expect_geq(plan.makespan_s[i], plan.best.makespan_s);
    for (size_t i = 0; i < JOBS; i++)
        last_s = fmax(last_s, plan.times[i].finish_s);
    cr_expect_eq(last_s, plan.best.makespan_s);
    cr_expect_eq(plan.best.map_slots + plan.best.reduce_slots, SLOTS);
    cr_expect(isnan(plan.times[3].reduce_start_s));
}

Test(fresh_plan, nodes_have_equal_slots_or_there_is_no_such_split, .init = begin, .fini = end)
{
    struct fresh_plan_terms terms = terms_of(MIXED, JOBS);
    terms.nodes = 3;
    struct fresh_plan plan = plan_of(&terms);
    cr_expect_eq(plan.per_node.map_slots + plan.per_node.reduce_slots, SLOTS / 3);
    cr_expect_eq(plan.per_node.makespan_s, plan.makespan_s[3 * plan.per_node.map_slots - 1]);
    terms.nodes = SLOTS;
    cr_expect_eq(plan_of(&terms).per_node.map_slots, 0);
    cr_expect(isnan(plan_of(&terms).per_node.makespan_s));
}

Test(fresh_plan, a_sweep_finds_what_a_plan_for_each_concurrency_finds, .init = begin, .fini = end)
{
    static const size_t sweep[] = {1, 4, 2};
    struct fresh_plan_terms terms = terms_of(MIXED, JOBS);
    terms.sweep = sweep;
    terms.n_sweep = 3;
    struct fresh_plan plan = plan_of(&terms);
    terms.n_sweep = 0;
    cr_assert_eq(plan.n_sweep, 3);
    for (size_t i = 0; i < 3; i++) {
        terms.concurrency = sweep[i];
        struct fresh_plan alone = plan_of(&terms);
        cr_expect_eq(plan.sweep[i].concurrency, sweep[i]);
        cr_expect_eq(plan.sweep[i].best.map_slots, alone.best.map_slots);
        cr_expect_eq(plan.sweep[i].best.makespan_s, alone.best.makespan_s);
        cr_expect_eq(plan.sweep[i].fairness, alone.fairness);
    }
}

/* A single job: with e = 0.5 the slots should stand as the roots of 1.5 x 400 and 0.5 x 100. */
Test(fresh_plan, sensitivity_shows_what_wrong_profiles_cost, .init = begin, .fini = end)
{
    static const struct fresh_work job = {400, 100, 0, 0};
    struct fresh_plan_terms terms = terms_of(&job, 1);
    terms.profile_error = 0.5;
    struct fresh_plan plan = plan_of(&terms);
    cr_assert_eq(plan.best.map_slots, 8);
    cr_expect_eq(plan.sensitivity[0].map_factor, 1.5);
    cr_expect_eq(plan.sensitivity[0].reduce_factor, 0.5);
    cr_expect_eq(plan.sensitivity[0].best_map_slots, 9);
    cr_expect_float_eq(plan.sensitivity[0].best_makespan_s, 600.0 / 9 + 50.0 / 3, 1e-9);
    cr_expect_float_eq(plan.sensitivity[0].makespan_s, 600.0 / 8 + 50.0 / 4, 1e-9);
    cr_expect_float_eq(plan.sensitivity[0].regret_percent, 100 * (87.5 / (250.0 / 3) - 1), 1e-9);
    cr_expect_eq(plan.sensitivity[1].map_factor, 0.5);
    cr_expect_eq(plan.sensitivity[1].best_map_slots, 6);
    cr_expect_geq(plan.sensitivity[1].regret_percent, 0);
    terms.profile_error = 0;
    cr_expect_eq(plan_of(&terms).sensitivity[0].regret_percent, 0);
}

Test(fresh_plan, fairness_is_between_one_job_of_many_and_all, .init = begin, .fini = end)
{
    const uint64_t purpose[] = {32};
    struct rng rng = variate_stream(21, purpose, 1);
    for (size_t c = 0; c < 500; c++) {
        struct fresh_work jobs[JOBS];
        size_t n = 1 + variate_index(&rng, JOBS);
        for (size_t i = 0; i < n; i++)
            jobs[i] = (struct fresh_work){variate_bounded_pareto(&rng, 1, 1e4, 0.5),
                                          variate_bounded_pareto(&rng, 1, 1e4, 0.5), 0, 0};
        struct fresh_plan_terms terms = terms_of(jobs, n);
        terms.concurrency = 1 + variate_index(&rng, 4);
        double fairness = plan_of(&terms).fairness;
        cr_assert_geq(fairness, 1 / (double)n - 1e-12);
        cr_assert_leq(fairness, 1 + 1e-12);
    }
}

Test(fresh_plan, no_memory_is_an_error_wherever_it_ends)
{
    static const size_t sweep[] = {1, 2};
    enum pv_code code = PV_E_MEMORY;
    struct fresh_plan plan;
    const struct fresh_work jobs[] = {fresh_work_of(9, 10, 2, 10), fresh_work_of(3, 10, 8, 10)};
    struct fresh_plan_terms terms = terms_of(jobs, 2);
    size_t failures = 0;
    terms.johnson = true;
    terms.sweep = sweep;
    terms.n_sweep = 2;
    terms.profile_error = 0.1;
    for (size_t limit = 64; code == PV_E_MEMORY && limit < 1 << 20; limit += 64, failures++) {
        struct arena scarce;
        arena_init(&scarce, limit);
        code = fresh_plan_make(&terms, &scarce, &plan, NULL);
        arena_fini(&scarce);
    }
    cr_expect_eq(code, PV_OK);
    cr_expect_gt(failures, 1);
}

/* --- splits are simulated before one is recommended --- */

/* Two reduces of ten minutes do not end in 75 s, however many slots they have. */
Test(fresh_plan, two_reduces_use_two_slots, .init = begin, .fini = end)
{
    const struct fresh_work job = fresh_work_of(10, 6, 2, 600);
    struct fresh_plan_terms terms = terms_of(&job, 1);
    terms.slots = 24;
    terms.concurrency = 1;
    struct fresh_plan plan = plan_of(&terms);
    cr_expect(plan.is_simulated);
    cr_expect_geq(plan.best.map_slots, 10);
    cr_expect_geq(plan.best.reduce_slots, 2);
    cr_expect_eq(plan.best.makespan_s, 606);
    cr_expect_eq(plan.times[0].map_end_s, 6);
    cr_expect_eq(plan.times[0].reduce_start_s, 6);
    cr_expect_eq(plan.times[0].finish_s, 606);
    cr_expect_eq(plan.fairness, 1);
    for (size_t i = 0; i < plan.n_splits; i++) {
        size_t maps = i + 1, reduces = 24 - maps;
        double waves = ceil(10.0 / (double)maps) * 6 + ceil(2.0 / (double)reduces) * 600;
        cr_expect_eq(plan.makespan_s[i], waves, "%zu: %g", maps, plan.makespan_s[i]);
    }
}

/* Figure 3.3 of the dissertation: Fair on 4 map and 4 reduce slots takes 5 units, which is the least
 * of all divisions; the fluid model prefers 3 and 5. */
Test(fresh_plan, the_example_of_the_text_has_its_best_division, .init = begin, .fini = end)
{
    static const double simulated_s[] = {13, 7, 6, 5, 7, 9, 17};
    const struct fresh_work jobs[] = {fresh_work_of(2, 1, 9, 1), fresh_work_of(3, 1, 4, 1),
                                      fresh_work_of(7, 1, 3, 1)};
    struct fresh_plan_terms terms = terms_of(jobs, 3);
    terms.slots = 8;
    terms.concurrency = 3;
    terms.nodes = 2;
    struct fresh_plan plan = plan_of(&terms);
    cr_expect_eq(plan.best.map_slots, 4);
    cr_expect_eq(plan.best.makespan_s, 5);
    cr_expect_eq(plan.best_simulated.map_slots, 4);
    cr_expect_eq(plan.per_node.map_slots, 2);
    cr_expect_eq(plan.per_node.makespan_s, 5);
    for (size_t i = 0; i < 7; i++)
        cr_expect_eq(plan.simulated_s[i], simulated_s[i], "%zu: %g", i + 1, plan.simulated_s[i]);
}

/* Random batches: no setting with Fair is more than a tenth shorter than what is recommended, and no
 * makespan is one that tasks of one slot each do not allow. */
Test(fresh_plan, no_setting_with_fair_is_much_better, .init = begin, .fini = end)
{
    const uint64_t purpose[] = {33};
    struct rng rng = variate_stream(22, purpose, 1);
    for (size_t c = 0; c < 400; c++) {
        struct fresh_work jobs[JOBS];
        double task_s[JOBS], works_s = 0, path_s = 0, last_s = 0, makespan_s;
        struct fresh_job_times times[JOBS];
        size_t n = 1 + variate_index(&rng, JOBS);
        double most = variate_bounded_pareto(&rng, 3, 300, 0.5);
        for (size_t i = 0; i < n; i++) {
            double map_s = variate_uniform(&rng, 1, 60), reduce_s = variate_uniform(&rng, 1, 60);
            double reduces = floor(variate_uniform(&rng, 0, most));
            jobs[i] =
                fresh_work_of(1 + floor(variate_uniform(&rng, 0, most)), map_s, reduces, reduce_s);
            task_s[i] = map_s + (reduces > 0 ? reduce_s : 0);
            works_s += jobs[i].map_s + jobs[i].reduce_s;
            path_s = fmax(path_s, task_s[i]);
        }
        struct fresh_plan_terms terms = terms_of(jobs, n);
        terms.slots = 2 + variate_index(&rng, 40);
        terms.concurrency = 1 + variate_index(&rng, 4);
        struct fresh_plan plan = plan_of(&terms);
        const struct fresh_batch batch = {jobs, n, terms.slots, terms.concurrency};
        for (size_t i = 0; i < plan.n_splits; i++) {
            cr_assert_eq(fresh_simulate(&batch, i + 1, &arena, times, &makespan_s, NULL), PV_OK);
            cr_expect_eq(plan.simulated_s[i], makespan_s);
            cr_expect_leq(plan.best.simulated_s, 1.1 * makespan_s, "batch %zu", c);
            cr_expect_geq(plan.best_simulated.makespan_s, plan.best.simulated_s / 1.1);
            cr_expect_geq(plan.makespan_s[i] * 1.01, path_s, "batch %zu, split %zu", c, i + 1);
        }
        for (size_t i = 0; i < n; i++)
            last_s = fmax(last_s, plan.times[i].finish_s);
        cr_expect_eq(last_s, plan.best.makespan_s);
        cr_expect_geq(plan.best.makespan_s * (1 + 1e-9), works_s / (double)terms.slots);
        cr_expect_leq(plan.best.simulated_s, 1.25 * plan.best.makespan_s);
        if (!plan.is_simulated)
            cr_expect_eq(
                plan.best.makespan_s,
                plan.makespan_s[fresh_static_least(plan.makespan_s, plan.n_splits, 1) - 1]);
        else
            cr_expect_eq(plan.best.makespan_s, plan.best.simulated_s);
    }
}

/* Of many tasks only some divisions are simulated, of more none: then the model's makespans hold, and
 * are possible ones. */
Test(fresh_plan, large_batches_are_simulated_in_part, .init = begin, .fini = end)
{
    struct fresh_work job = fresh_work_of(200000, 1, 2, 600);
    struct fresh_plan_terms terms = terms_of(&job, 1);
    terms.slots = 200;
    struct fresh_plan plan = plan_of(&terms);
    size_t simulated = 0;
    for (size_t i = 0; i < plan.n_splits; i++)
        simulated += isfinite(plan.simulated_s[i]) ? 1 : 0;
    cr_expect_geq(simulated, 8);
    cr_expect_leq(simulated, 24);
    cr_expect_lt(plan.best.makespan_s, 1.02 * (200000.0 / 198 + 600));
    cr_expect_gt(plan.best.makespan_s, 0.999 * (200000.0 / 198 + 600));
    job = fresh_work_of(2000000, 1, 2, 600);
    plan = plan_of(&terms);
    cr_expect(!plan.is_simulated);
    cr_expect(isnan(plan.best.simulated_s));
    cr_expect_eq(plan.best_simulated.map_slots, 0);
    cr_expect_eq(plan.best.map_slots, 198);
    cr_expect_float_eq(plan.best.makespan_s, 2000000.0 / 198 + 600, 0.01 * 600);
}
