#include "core/deadline/stage_plan.h"

#include <criterion/criterion.h>
#include <math.h>

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(stage_plan, .init = setup, .fini = teardown);

static struct stage_plan_terms terms_of(double deadline_s)
{
    return (struct stage_plan_terms){.deadline_s = deadline_s,
                                     .alpha = STAGE_PLAN_ALPHA,
                                     .beta = STAGE_WEIGHT_BETA,
                                     .overscale = STAGE_PLAN_OVERSCALE,
                                     .core_quantum = STAGE_PLAN_CORE_QUANTUM,
                                     .executors = 4,
                                     .cores_per_executor = 16};
}

static struct stage_plan_stage stage_of(int64_t id, double duration_s)
{
    return (struct stage_plan_stage){.id = id,
                                     .duration_s = duration_s,
                                     .input_records = NAN,
                                     .nominal_rate_per_s = NAN,
                                     .pinned_cores = NAN,
                                     .pinned_deadline_s = NAN};
}

static struct stage_plan
make(const struct stage_plan_terms *terms, const struct stage_plan_stage stages[], size_t n)
{
    struct stage_plan plan;
    cr_assert_eq(stage_plan_make(terms, stages, n, &arena, &plan, NULL), PV_OK);
    return plan;
}

static void expect_near(double got, double want, const char *what)
{
    cr_expect(fabs(got - want) <= 1e-9 * fmax(1, fabs(want)), "%s: %.17g, not %.17g", what, got,
              want);
}

static double end_of(const struct stage_plan *plan)
{
    const struct stage_plan_step *last = &plan->steps[plan->n_steps - 1];
    return last->start_s + last->deadline_s;
}

/* By hand: weights 0.5 x 3 + 0.5 x 180/100, 0.5 x 2 + 0.5 x 80/60 and 1; alpha D = 66. */
Test(stage_plan, a_chain_of_three_worked_by_hand)
{
    struct stage_plan_terms terms = terms_of(66);
    terms.alpha = 1;
    terms.beta = 0.5;
    const struct stage_plan_stage stages[] = {stage_of(0, 100), stage_of(1, 60), stage_of(2, 20)};
    struct stage_plan plan = make(&terms, stages, 3);
    cr_assert_eq(plan.n_steps, 3);
    expect_near(plan.steps[0].weight, 2.4, "weight 0");
    expect_near(plan.steps[0].deadline_s, 27.5, "deadline 0");
    expect_near(plan.steps[1].weight, 5.0 / 3, "weight 1");
    expect_near(plan.steps[1].start_s, 27.5, "start 1");
    expect_near(plan.steps[1].deadline_s, 23.1, "deadline 1");
    expect_near(plan.steps[2].deadline_s, 15.4, "deadline 2");
    /* 100/27.5 = 3.6, 60/23.1 = 2.6, 20/15.4 = 1.3 */
    cr_expect_eq(plan.steps[0].estimated_cores, 4);
    cr_expect_eq(plan.steps[0].max_allocable_cores, 8);
    cr_expect_eq(plan.steps[0].initial_cores_per_executor, 1);
    cr_expect_eq(plan.steps[1].estimated_cores, 3);
    cr_expect_eq(plan.steps[1].initial_cores_per_executor, 0.75);
    cr_expect_eq(plan.steps[2].estimated_cores, 2);
    cr_expect_eq(plan.steps[2].initial_cores_per_executor, 0.5);
    cr_expect(plan.feasible);
}

Test(stage_plan, records_at_their_rate_count_before_the_task_time)
{
    struct stage_plan_terms terms = terms_of(100);
    terms.alpha = 1;
    struct stage_plan_stage stage = stage_of(7, 100);
    cr_expect_eq(make(&terms, &stage, 1).steps[0].estimated_cores, 1);
    stage.input_records = 3000000;
    cr_expect_eq(make(&terms, &stage, 1).steps[0].estimated_cores, 1, "the rate is not known");
    stage.nominal_rate_per_s = 10000;
    cr_expect_eq(make(&terms, &stage, 1).steps[0].estimated_cores, 3);
    stage.nominal_rate_per_s = 0;
    cr_expect_eq(make(&terms, &stage, 1).steps[0].estimated_cores, 1, "nor is a rate of 0 one");
    stage.nominal_rate_per_s = 10000;
    stage.input_records = 0;
    cr_expect_eq(make(&terms, &stage, 1).steps[0].estimated_cores, 1, "the records are not known");
}

/* (0.1 + 0.2)/0.1 is 3.0000000000000004. */
Test(stage_plan, an_estimate_that_is_whole_but_for_rounding_is_not_raised)
{
    struct stage_plan_terms terms = terms_of(0.1);
    terms.alpha = 1;
    struct stage_plan_stage stage = stage_of(0, 0.1 + 0.2);
    cr_assert_gt(stage.duration_s / terms.deadline_s, 3, "nothing to be forgiven here");
    cr_expect_eq(make(&terms, &stage, 1).steps[0].estimated_cores, 3);
}

/* 1e-12 cores count as none where a ceil is taken (docs/design.md, "Words and units"), but none
 * would never end.
 */
Test(stage_plan, the_least_work_takes_a_core)
{
    struct stage_plan_terms terms = terms_of(1000);
    struct stage_plan_stage stage = stage_of(0, 1e-9);
    cr_expect_eq(make(&terms, &stage, 1).steps[0].estimated_cores, 1);
    stage.pinned_cores = 1e-12;
    cr_expect_eq(make(&terms, &stage, 1).steps[0].initial_cores_per_executor, 0.05);
}

Test(stage_plan, initial_cores_are_multiples_of_the_quantum_in_short_form)
{
    struct stage_plan_terms terms = terms_of(100);
    terms.alpha = 1;
    terms.executors = 20;
    /* 17 cores over 20 executors: 0.85, where 17 x 0.05 is 0.8500000000000001. */
    struct stage_plan_stage stage = stage_of(0, 1700);
    cr_expect_eq(make(&terms, &stage, 1).steps[0].initial_cores_per_executor, 0.85);
    /* A quantum that does not divide a core: 17/20 over 0.3 is 2.8 quanta. */
    terms.core_quantum = 0.3;
    expect_near(make(&terms, &stage, 1).steps[0].initial_cores_per_executor, 0.9, "0.3");
}

Test(stage_plan, more_cores_than_there_are_is_infeasible_and_takes_all)
{
    struct stage_plan_terms terms = terms_of(100);
    terms.alpha = 1;
    struct stage_plan_stage stage = stage_of(0, 6400);
    struct stage_plan plan = make(&terms, &stage, 1);
    cr_expect(plan.feasible);
    cr_expect_eq(plan.steps[0].estimated_cores, 64);
    stage.duration_s = 6401;
    plan = make(&terms, &stage, 1);
    cr_expect_not(plan.feasible);
    cr_expect_eq(plan.steps[0].estimated_cores, 65);
    cr_expect_eq(plan.steps[0].max_allocable_cores, 64);
    cr_expect_eq(plan.steps[0].initial_cores_per_executor, 8);
}

Test(stage_plan, skipped_stages_take_no_part)
{
    struct stage_plan_terms terms = terms_of(60);
    struct stage_plan_stage stages[] = {stage_of(0, NAN), stage_of(1, 50), stage_of(4, NAN),
                                        stage_of(5, 70)};
    stages[0].skipped = stages[2].skipped = true;
    const struct stage_plan_stage alone[] = {stage_of(1, 50), stage_of(5, 70)};
    struct stage_plan plan = make(&terms, stages, 4);
    struct stage_plan want = make(&terms, alone, 2);
    cr_assert_eq(plan.n_steps, 2);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(plan.steps[i].id, want.steps[i].id);
        cr_expect_eq(plan.steps[i].weight, want.steps[i].weight);
        cr_expect_eq(plan.steps[i].deadline_s, want.steps[i].deadline_s);
    }
}

/* (1 - 0.33) 27 / 27 is a little less than 1 - 0.33; a weight below 1 would take more than is left.
 */
Test(stage_plan, the_last_stage_weighs_exactly_one)
{
    struct stage_plan_terms terms = terms_of(60);
    for (int seconds = 1; seconds <= 1000; seconds++) {
        struct stage_plan_stage stage = stage_of(0, seconds);
        terms.beta = (double)(seconds % 101) / 101;
        cr_expect_eq(make(&terms, &stage, 1).steps[0].weight, 1);
        terms.beta = STAGE_WEIGHT_BETA;
        cr_expect_eq(make(&terms, &stage, 1).steps[0].weight, 1, "%d s", seconds);
    }
}

Test(stage_plan, the_stages_fill_alpha_times_the_deadline_whatever_their_sizes)
{
    for (size_t n = 1; n <= 40; n++) {
        struct stage_plan_stage stages[40];
        struct stage_plan_terms terms = terms_of(10 + (double)n);
        terms.beta = (double)(n % 5) / 4;
        for (size_t i = 0; i < n; i++)
            stages[i] = stage_of((int64_t)i, 1 + fmod(977.0 * (double)(i * n + 1), 331));
        struct stage_plan plan = make(&terms, stages, n);
        expect_near(end_of(&plan), terms.alpha * terms.deadline_s, "end");
        cr_expect_eq(plan.steps[n - 1].weight, 1);
    }
}

/* Twice the work and twice the time: twice every deadline, the same cores. */
Test(stage_plan, scaling_all_times_scales_the_deadlines_and_leaves_the_cores)
{
    const double seconds[] = {120, 31, 7, 260, 19};
    struct stage_plan_stage stages[5];
    struct stage_plan_stage scaled[5];
    for (size_t i = 0; i < 5; i++) {
        stages[i] = stage_of((int64_t)i, seconds[i]);
        scaled[i] = stage_of((int64_t)i, seconds[i] * 1024);
    }
    struct stage_plan_terms terms = terms_of(90);
    struct stage_plan plan = make(&terms, stages, 5);
    terms.deadline_s *= 1024;
    struct stage_plan larger = make(&terms, scaled, 5);
    for (size_t i = 0; i < 5; i++) {
        cr_expect_eq(larger.steps[i].weight, plan.steps[i].weight);
        cr_expect_eq(larger.steps[i].deadline_s, plan.steps[i].deadline_s * 1024);
        cr_expect_eq(larger.steps[i].estimated_cores, plan.steps[i].estimated_cores);
    }
}

Test(stage_plan, a_pinned_deadline_counts_as_spent)
{
    struct stage_plan_terms terms = terms_of(100);
    terms.alpha = 1;
    struct stage_plan_stage stages[] = {stage_of(0, 50), stage_of(1, 50), stage_of(2, 50)};
    struct stage_plan free_plan = make(&terms, stages, 3);
    stages[1].pinned_deadline_s = 10;
    struct stage_plan plan = make(&terms, stages, 3);
    cr_expect_eq(plan.steps[0].deadline_s, free_plan.steps[0].deadline_s, "comes before the pin");
    cr_expect_eq(plan.steps[1].deadline_s, 10);
    cr_expect_eq(plan.steps[1].estimated_cores, 5);
    cr_expect_eq(plan.steps[1].weight, free_plan.steps[1].weight);
    expect_near(plan.steps[2].start_s, plan.steps[0].deadline_s + 10, "start");
    expect_near(end_of(&plan), 100, "end");
    cr_expect(plan.feasible);
}

Test(stage_plan, a_pin_that_leaves_no_time_makes_it_infeasible)
{
    struct stage_plan_terms terms = terms_of(100);
    struct stage_plan_stage stages[] = {stage_of(0, 50), stage_of(1, 50)};
    stages[0].pinned_deadline_s = 95;
    struct stage_plan plan = make(&terms, stages, 2);
    cr_expect_not(plan.feasible);
    cr_expect_eq(plan.steps[1].deadline_s, 0);
    cr_expect(isinf(plan.steps[1].estimated_cores));
    cr_expect_eq(plan.steps[1].max_allocable_cores, 64);
    cr_expect_eq(plan.steps[1].initial_cores_per_executor, 8);
}

/* The last stage may use what alpha holds back, but not more. */
Test(stage_plan, pinned_deadlines_may_reach_the_deadline_and_not_beyond)
{
    struct stage_plan_terms terms = terms_of(100);
    struct stage_plan_stage stages[] = {stage_of(0, 50), stage_of(1, 50)};
    stages[0].pinned_deadline_s = 40;
    stages[1].pinned_deadline_s = 60;
    cr_expect(make(&terms, stages, 2).feasible);
    stages[1].pinned_deadline_s = 61;
    cr_expect_not(make(&terms, stages, 2).feasible);
}

Test(stage_plan, pinned_cores_replace_the_estimate)
{
    struct stage_plan_terms terms = terms_of(100);
    struct stage_plan_stage stages[] = {stage_of(0, 50), stage_of(1, 50)};
    struct stage_plan free_plan = make(&terms, stages, 2);
    stages[0].pinned_cores = 6.5;
    struct stage_plan plan = make(&terms, stages, 2);
    cr_expect_eq(plan.steps[0].estimated_cores, 6.5);
    cr_expect_eq(plan.steps[0].max_allocable_cores, 13);
    cr_expect_eq(plan.steps[0].initial_cores_per_executor, 1.65, "6.5/4 in quanta of 0.05");
    cr_expect_eq(plan.steps[0].deadline_s, free_plan.steps[0].deadline_s);
    cr_expect_eq(plan.steps[1].estimated_cores, free_plan.steps[1].estimated_cores);
    stages[0].pinned_cores = 65;
    cr_expect_not(make(&terms, stages, 2).feasible);
}

/* --- stages of a run --- */

Test(stage_plan, a_recorded_run_gives_task_times_not_wall_clock)
{
    struct run_stage recorded[] = {
        {.id = 3, .task_time_s = 80, .duration_s = 11, .input_records = 5, .nominal_rate_per_s = 2},
        {.id = 4, .task_time_s = NAN, .skipped = true},
        {.id = 6, .task_time_s = 0, .duration_s = 1}};
    const struct run run = {.stages = recorded, .n_stages = 3, .has_stages = true};
    struct stage_plan_stage *stages;
    double ending_s;
    cr_assert_eq(stage_plan_take_run(&run, &arena, &stages, &ending_s, NULL), PV_OK);
    cr_expect(stages[0].id == 3 && stages[0].duration_s == 80 && !stages[0].skipped);
    cr_expect(stages[0].input_records == 5 && stages[0].nominal_rate_per_s == 2);
    cr_expect(isnan(stages[0].pinned_cores) && isnan(stages[0].pinned_deadline_s));
    cr_expect(stages[1].skipped);
    cr_expect(stages[2].skipped, "it took no time");
    cr_expect_eq(stages[0].cores_per_slot, 1);
}

/* Tasks that hold two cores each leave half as many slots as there are cores. */
Test(stage_plan, a_recorded_run_gives_the_cores_of_a_slot)
{
    static struct run_label two[] = {{.key = {"spark.task.cpus", 15}, .value = {"2", 1}}};
    struct run_stage recorded[] = {{.id = 3, .task_time_s = 80, .duration_s = 11}};
    struct run run = {.stages = recorded,
                      .n_stages = 1,
                      .has_stages = true,
                      .executors = 3,
                      .cores_per_executor = 4};
    struct stage_plan_stage *stages;
    double ending_s;
    cr_assert_eq(stage_plan_take_run(&run, &arena, &stages, &ending_s, NULL), PV_OK);
    cr_expect_eq(stages[0].cores_per_slot, 1);
    run.spark_properties = two;
    run.n_spark_properties = 1;
    cr_assert_eq(stage_plan_take_run(&run, &arena, &stages, &ending_s, NULL), PV_OK);
    cr_expect_eq(stages[0].cores_per_slot, 2);
}

Test(stage_plan, a_run_whose_task_times_are_unknown_is_refused)
{
    struct run_stage recorded[] = {{.id = 3, .task_time_s = 80}, {.id = 4, .task_time_s = NAN}};
    struct run run = {.stages = recorded, .n_stages = 2, .has_stages = true};
    struct stage_plan_stage *stages = NULL;
    struct pv_error err = {0};
    double ending_s;
    cr_expect_eq(stage_plan_take_run(&run, &arena, &stages, &ending_s, &err), PV_E_TOO_FEW);
    cr_expect_str_eq(err.detail, "the task time of stage 4 is not known");
    recorded[0].task_time_s = 0;
    recorded[1].skipped = true;
    cr_expect_eq(stage_plan_take_run(&run, &arena, &stages, &ending_s, NULL), PV_E_TOO_FEW);
    cr_expect_null(stages);
}

/* Submitted at 12, 12, 40 and 61 s: 12 s of start-up, then stages 0 and 1 to 30 s, 10 s of the driver,
 * stage 2 to 60 s, which 3 follows by 1 s, to 80 s of 84. Of 0.95 x 100 s, 12 + 10 + 1 + 4 are spent. */
Test(stage_plan, start_up_and_driver_of_a_run_are_time_already_spent)
{
    struct run_stage recorded[] = {{.id = 0, .task_time_s = 40, .started_s = 12, .duration_s = 18},
                                   {.id = 1, .task_time_s = 10, .started_s = 12, .duration_s = 5},
                                   {.id = 2, .task_time_s = 30, .started_s = 40, .duration_s = 20},
                                   {.id = 3, .task_time_s = 20, .started_s = 61, .duration_s = 19}};
    struct run run = {.stages = recorded, .n_stages = 4, .has_stages = true, .duration_s = 84};
    struct stage_plan_terms terms = terms_of(100);
    struct stage_plan_stage *stages;
    double total_s = 0;
    terms.alpha = 0.95;
    cr_assert_eq(stage_plan_take_run(&run, &arena, &stages, &terms.ending_s, NULL), PV_OK);
    cr_expect(stages[0].driver_s == 12 && stages[1].driver_s == 0 && stages[2].driver_s == 10);
    cr_expect(stages[3].driver_s == 1 && terms.ending_s == 4);
    struct stage_plan plan = make(&terms, stages, 4);
    for (size_t i = 0; i < plan.n_steps; i++)
        total_s += plan.steps[i].deadline_s;
    cr_expect(plan.fixed_s == 27 && plan.feasible);
    cr_expect_float_eq(total_s, 95 - 27, 1e-9);
    cr_expect_float_eq(plan.end_s, 95, 1e-9);
    cr_expect_eq(plan.steps[0].start_s, 12);
    for (size_t i = 1; i < plan.n_steps; i++)
        cr_expect_float_eq(
            plan.steps[i].start_s,
            plan.steps[i - 1].start_s + plan.steps[i - 1].deadline_s + stages[i].driver_s, 1e-9);
    terms.deadline_s = 28; /* 0.95 of that is less than 27 s */
    plan = make(&terms, stages, 4);
    cr_expect(!plan.feasible && plan.steps[0].deadline_s == 0 && plan.fixed_s == 27);
    recorded[2].started_s = (double)NAN;
    run.initialization_s = 11;
    cr_assert_eq(stage_plan_take_run(&run, &arena, &stages, &terms.ending_s, NULL), PV_OK);
    cr_expect(stages[0].driver_s == 11 && stages[2].driver_s == 0 && terms.ending_s == 0);
}

Test(stage_plan, running_out_of_memory_is_an_error)
{
    struct stage_plan_terms terms = terms_of(60);
    static struct stage_plan_stage stages[200];
    for (size_t i = 0; i < 200; i++)
        stages[i] = stage_of((int64_t)i, 1);
    struct arena small;
    arena_init(&small, 1024);
    struct stage_plan plan = {.n_steps = 77};
    cr_expect_eq(stage_plan_make(&terms, stages, 200, &small, &plan, NULL), PV_E_MEMORY);
    cr_expect_eq(plan.n_steps, 77);
    arena_fini(&small);
}

/* A task that holds 4 cores: the cores of its stage are as many times the tasks at once. */
Test(stage_plan, a_slot_holds_the_cores_that_its_task_leaves_to_no_other)
{
    struct stage_plan_terms terms = terms_of(1000);
    struct stage_plan_stage stage = stage_of(0, 8000);
    struct stage_plan_step single, wide;
    stage_plan_step_make(&terms, &stage, 1, 0, &single);
    stage.cores_per_slot = 4;
    stage_plan_step_make(&terms, &stage, 1, 0, &wide);
    cr_assert_float_eq(single.estimated_cores, 9, 1e-9); /* 8000 s in 950 s */
    cr_assert_float_eq(wide.estimated_cores, 36, 1e-9);
    cr_assert_float_eq(wide.max_allocable_cores, 64, 1e-9, "all there are");
    stage.pinned_cores = 5;
    stage_plan_step_make(&terms, &stage, 1, 0, &wide);
    cr_assert_float_eq(wide.estimated_cores, 5, 1e-9, "as pinned");
}
