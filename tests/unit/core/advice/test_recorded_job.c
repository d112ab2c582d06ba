/* Jobs of recorded runs, by hand and of random chains of stages. */
#include "core/advice/recorded_job.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../history/sample_runs.h"
#include "core/sim/variates.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(recorded_job, .init = set_up, .fini = tear_down, .timeout = 60);

enum { STAGES_MOST = 5, TASKS_MOST = 40 };

struct chain {
    struct run run;
    struct run_stage stages[STAGES_MOST];
    int64_t parents[STAGES_MOST];
    double durations_s[STAGES_MOST][TASKS_MOST];
};

/* How long a stage takes on so many cores, its tasks in order. */
static double stage_wall_s(const double durations_s[], size_t n, size_t cores)
{
    const struct edf_stage stage = {.tasks = n, .task_durations_s = durations_s};
    const struct edf_job job = {.deadline_s = 1, .stages = &stage, .n_stages = 1};
    struct edf_outcome outcome;
    cr_assert_eq(edf_schedule(&job, 1, cores, &arena, &outcome, NULL, NULL, NULL), PV_OK);
    return outcome.execution_s;
}

/* Stage s has tasks[s] tasks of task_s[s] and begins gaps_s[s] after the one before it; the last gap is
 * behind the last stage. */
static void make_chain(struct chain *chain,
                       size_t n,
                       const size_t tasks[],
                       const double gaps_s[],
                       int64_t executors,
                       int64_t cores_per_executor)
{
    double now_s = 0.0;
    for (size_t s = 0; s < n; s++) {
        struct run_stage *stage = &chain->stages[s];
        chain->parents[s] = (int64_t)s - 1;
        *stage = stage_of_tasks((int64_t)s, chain->durations_s[s], tasks[s]);
        stage->started_s = now_s + gaps_s[s];
        stage->duration_s =
            stage_wall_s(chain->durations_s[s], tasks[s], (size_t)(executors * cores_per_executor));
        stage->parents = &chain->parents[s];
        stage->n_parents = s > 0;
        now_s = stage->started_s + stage->duration_s;
    }
    chain->run = run_of_stages(chain->stages, n, 16, executors, cores_per_executor,
                               now_s + gaps_s[n], gaps_s[0]);
}

/* 6 s of start-up, 12 tasks of 4 s, 3 s of the driver, 4 tasks of 5 s, 2 s of the driver. */
static void make_plain(struct chain *chain, int64_t executors)
{
    const size_t tasks[] = {12, 4};
    const double gaps_s[] = {6, 3, 2};
    for (size_t t = 0; t < 12; t++)
        chain->durations_s[0][t] = 4;
    for (size_t t = 0; t < 4; t++)
        chain->durations_s[1][t] = 5;
    make_chain(chain, 2, tasks, gaps_s, executors, 4);
}

static struct recorded_job_question ask(const struct run runs[], size_t n, int64_t executors)
{
    return (struct recorded_job_question){.runs = runs,
                                          .n_runs = n,
                                          .target = {16, executors, 4},
                                          .predicted_duration_s = (double)NAN,
                                          .overhead_s = (double)NAN};
}

static struct recorded_job make(const struct recorded_job_question *question)
{
    struct recorded_job made;
    struct pv_error err = {0};
    cr_assert_eq(recorded_job_make(question, &arena, &made, &err), PV_OK, "%s", err.detail);
    return made;
}

static double alone_s(const struct recorded_job *made, size_t cores)
{
    struct edf_outcome outcome;
    cr_assert_eq(edf_schedule(&made->job, 1, cores, &arena, &outcome, NULL, NULL, NULL), PV_OK);
    return outcome.execution_s;
}

Test(recorded_job, start_up_and_driver_are_delays)
{
    struct chain chain;
    make_plain(&chain, 2);
    const struct recorded_job_question question = ask(&chain.run, 1, 2);
    const struct recorded_job made = make(&question);
    cr_assert_eq(made.job.n_stages, 3);
    const struct edf_stage *stages = made.job.stages;
    cr_expect_float_eq(stages[0].delay_s, 6, 1e-9);
    cr_expect_float_eq(stages[1].delay_s, 3, 1e-9);
    cr_expect_eq(stages[2].tasks, 0);
    cr_expect_float_eq(stages[2].delay_s, 2, 1e-9);
    cr_expect(stages[2].n_parents == 1 && stages[2].parents[0] == 1 && stages[2].id == 2);
    cr_expect(made.overhead == JOB_OVERHEAD_REPLAY && made.run == &chain.run);
    cr_expect(!made.not_replayed);
    cr_expect_float_eq(made.fixed_s, 11, 1e-9);
    cr_expect_float_eq(made.job.overhead_per_task_s, 0, 1e-9);
    cr_expect_float_eq(alone_s(&made, 8), 24, 1e-9);
    cr_expect_leq(alone_s(&made, 8), 24, "what the run took is a deadline that it meets");
    cr_expect_float_eq(alone_s(&made, 4), 11 + 12 + 5, 1e-9, "three rounds on half of the cores");
}

/* Any number of stages, gaps, tasks and cores: alone on its own cores the job takes what the run took. */
Test(recorded_job, a_run_on_its_own_cores_takes_what_it_took)
{
    const uint64_t key = 1;
    struct rng rng = variate_stream(7, &key, 1);
    for (size_t round = 0; round < 500; round++) {
        struct chain chain;
        size_t tasks[STAGES_MOST];
        double gaps_s[STAGES_MOST + 1];
        const size_t n = 1 + variate_index(&rng, STAGES_MOST);
        const int64_t executors = 1 + (int64_t)variate_index(&rng, 4);
        double fixed_s = 0.0;
        for (size_t s = 0; s <= n; s++) {
            gaps_s[s] = variate_index(&rng, 3) == 0 ? 0.0 : 10 * rng_uniform(&rng);
            fixed_s += gaps_s[s];
        }
        for (size_t s = 0; s < n; s++) {
            tasks[s] = 1 + variate_index(&rng, TASKS_MOST);
            for (size_t t = 0; t < tasks[s]; t++)
                chain.durations_s[s][t] = 0.1 + 9 * rng_uniform(&rng);
        }
        make_chain(&chain, n, tasks, gaps_s, executors, 4);
        const struct recorded_job_question question = ask(&chain.run, 1, executors);
        const struct recorded_job made = make(&question);
        const double took_s = alone_s(&made, (size_t)executors * 4);
        cr_assert_float_eq(took_s, chain.run.duration_s, 1e-6 * chain.run.duration_s,
                           "round %zu: %g s instead of %g s", round, took_s, chain.run.duration_s);
        cr_assert_float_eq(made.fixed_s, fixed_s, 1e-6 + 1e-6 * fixed_s, "round %zu", round);
        arena_clear(&arena);
    }
}

Test(recorded_job, the_run_nearest_in_size_and_cores)
{
    static struct chain chains[3];
    struct run runs[3];
    make_plain(&chains[0], 16);
    make_plain(&chains[1], 2);
    make_plain(&chains[2], 2);
    for (size_t i = 0; i < 3; i++)
        runs[i] = chains[i].run;
    runs[2].problem_size = 32;
    struct recorded_job_question question = ask(runs, 3, 2);
    cr_expect_eq(make(&question).run, &runs[1]);
    question.target.executors = 12;
    cr_expect_eq(make(&question).run, &runs[0]);
    question.target.executors = 2;
    question.target.problem_size = 30;
    cr_expect_eq(make(&question).run, &runs[2]);
}

Test(recorded_job, a_predicted_duration_stretches_all_of_it)
{
    struct chain chain;
    make_plain(&chain, 2);
    struct recorded_job_question question = ask(&chain.run, 1, 2);
    question.predicted_duration_s = 48;
    const struct recorded_job made = make(&question);
    cr_expect_float_eq(alone_s(&made, 8), 48, 1e-9);
    cr_expect_float_eq(made.fixed_s, 22, 1e-9);
    cr_expect_float_eq(made.job.stages[0].delay_s, 12, 1e-9);
}

/* (24 - 68/8)/(16/8) = 7.75 s a task, and no delays. A given overhead leaves the delays. */
Test(recorded_job, overheads_on_request)
{
    struct chain chain;
    make_plain(&chain, 2);
    struct recorded_job_question question = ask(&chain.run, 1, 2);
    question.idle_time = true;
    struct recorded_job made = make(&question);
    cr_expect(made.overhead == JOB_OVERHEAD_IDLE_TIME && made.fixed_s == 0 && !made.not_replayed);
    cr_expect(made.job.overhead_per_task_s == 7.75 && made.job.n_stages == 2);
    cr_expect_float_eq(alone_s(&made, 8), 2 * 11.75 + 12.75, 1e-9);
    question.idle_time = false;
    question.overhead_s = 1;
    made = make(&question);
    cr_expect(made.overhead == JOB_OVERHEAD_GIVEN && made.job.overhead_per_task_s == 1);
    cr_expect_float_eq(alone_s(&made, 8), 24 + 3, 1e-9, "three rounds of tasks, each 1 s longer");
}

/* A size that is unknown and not asked for is the run's own; without a duration there is no replay. */
Test(recorded_job, what_a_run_does_not_say)
{
    struct chain chain;
    make_plain(&chain, 2);
    struct recorded_job_question question = ask(&chain.run, 1, 2);
    chain.run.problem_size = question.target.problem_size = (double)NAN;
    struct recorded_job made = make(&question);
    cr_expect(made.overhead == JOB_OVERHEAD_REPLAY);
    cr_expect_float_eq(alone_s(&made, 8), 24, 1e-9);
    chain.run.duration_s = (double)NAN;
    made = make(&question);
    cr_expect(made.overhead == JOB_OVERHEAD_IDLE_TIME && made.not_replayed);
    chain.stages[1].task_durations_s = NULL;
    chain.stages[1].task_duration_s = chain.stages[1].task_time_s = (double)NAN;
    struct pv_error err = {0};
    cr_expect_eq(recorded_job_make(&question, &arena, &made, &err), PV_E_TOO_FEW);
    cr_expect_str_eq(err.detail, "the task times of stage 1 are not known");
}

Test(recorded_job, jobs_that_no_replay_stands_for_are_named)
{
    struct recorded_job jobs[] = {{.overhead = JOB_OVERHEAD_REPLAY},
                                  {.overhead = JOB_OVERHEAD_NONE, .block_executors = 4},
                                  {.overhead = JOB_OVERHEAD_IDLE_TIME, .not_replayed = true},
                                  {.overhead = JOB_OVERHEAD_NONE, .block_executors = 1}};
    const struct strview names[] = {strview_of("A"), strview_of("B"), strview_of("C"),
                                    strview_of("D")};
    struct findings warnings = {.arena = &arena};
    cr_assert_eq(recorded_job_block(16, 120, &arena, &jobs[1].job, NULL), PV_OK);
    cr_assert_eq(recorded_job_block(4, 60, &arena, &jobs[3].job, NULL), PV_OK);
    cr_expect(alone_s(&jobs[1], 16) == 120 && alone_s(&jobs[1], 8) == 240);
    recorded_jobs_warn(names, jobs, 1, &warnings);
    cr_expect_eq(warnings.n, 0);
    recorded_jobs_warn(names, jobs, 4, &warnings);
    cr_assert_eq(warnings.n, 2);
    cr_expect_str_eq(
        warnings.items[0].message,
        "2 jobs, such as B, are scheduled as a block of the predicted duration, because the "
        "recorded runs have no stages with task times: B takes 2 min on 4 executors.");
    cr_expect_eq(finding_value(&warnings.items[0], "count"), 2);
    cr_expect_str_eq(
        warnings.items[1].message,
        "The runs of 1 job, such as C, cannot be replayed: the overhead of the tasks is "
        "all idle core time of the run, which is too much where stages leave cores "
        "idle.");
}

Test(recorded_job, warnings_of_the_runs_of_all_jobs_are_one)
{
    struct recorded_job jobs[3] = {{.overhead = JOB_OVERHEAD_REPLAY},
                                   {.overhead = JOB_OVERHEAD_REPLAY}};
    const struct strview names[] = {strview_of("A"), strview_of("B"), strview_of("C")};
    const uint32_t lost = run_warning_bit(strview_of("lost_events"));
    struct findings warnings = {.arena = &arena};
    warned_runs_add(&jobs[0].warned, 0, "run-1");
    recorded_jobs_warn(names, jobs, 3, &warnings);
    cr_expect_eq(warnings.n, 0);
    warned_runs_add(&jobs[0].warned, lost, "run-2");
    warned_runs_add(&jobs[1].warned, lost, "run-3");
    recorded_jobs_warn(names, jobs, 3, &warnings);
    cr_assert_eq(warnings.n, 1);
    cr_expect_str_eq(warnings.items[0].code, "runs_with_warnings");
    cr_expect_eq(finding_value(&warnings.items[0], "runs"), 3);
    cr_expect_eq(finding_value(&warnings.items[0], "lost_events"), 2);
}

/* Tasks that hold 4 of the 8 cores of an executor: 2 at once. Two such jobs need twice the cores to take
 * the time that one takes alone. */
Test(recorded_job, tasks_hold_the_cores_that_they_take)
{
    struct run_label cpus = {strview_of("spark.task.cpus"), strview_of("4")};
    static double durations_s[] = {10, 10, 10, 10, 10, 10, 10, 10};
    struct run_stage stage = stage_of_tasks(0, durations_s, 8);
    stage.started_s = 0;
    stage.duration_s = 40;
    struct run run = run_of_stages(&stage, 1, 16, 1, 8, 40, 0);
    run.spark_properties = &cpus;
    run.n_spark_properties = 1;
    const struct recorded_job_question question = {.runs = &run,
                                                   .n_runs = 1,
                                                   .target = {16, 1, 8},
                                                   .predicted_duration_s = (double)NAN,
                                                   .overhead_s = (double)NAN};
    const struct recorded_job made = make(&question);
    cr_assert_eq(made.job.stages[0].tasks, 32);
    struct edf_job jobs[] = {made.job, made.job};
    struct edf_outcome outcomes[2];
    cr_assert_eq(edf_schedule(jobs, 1, 8, &arena, outcomes, NULL, NULL, NULL), PV_OK);
    cr_assert_float_eq(outcomes[0].execution_s, 40.0, 1e-9);
    cr_assert_eq(edf_schedule(jobs, 2, 8, &arena, outcomes, NULL, NULL, NULL), PV_OK);
    cr_assert_float_eq(fmax(outcomes[0].execution_s, outcomes[1].execution_s), 80.0, 1e-9);
    cr_assert_eq(edf_schedule(jobs, 2, 16, &arena, outcomes, NULL, NULL, NULL), PV_OK);
    cr_assert_float_eq(outcomes[1].execution_s, 40.0, 1e-9);
}

/* 21 tasks for a size of 21: one for each unit of the size, so that a size far beyond has too many, and as
 * many as the cores that each of them holds. */
Test(recorded_job, too_many_tasks_are_refused)
{
    struct run_resources gpus = {0, 2, 4, RUN_UNKNOWN, 1, {"gpu", 3}, 1, 1.0};
    struct run_stage stage = {.id = 0, .n_tasks = 21, .task_time_s = 210, .duration_s = 30};
    struct run run = run_of_stages(&stage, 1, 21, 2, 4, 40, 0);
    struct recorded_job_question question = {.runs = &run,
                                             .n_runs = 1,
                                             .target = {1e12, 2, 4},
                                             .predicted_duration_s = (double)NAN,
                                             .overhead_s = (double)NAN};
    struct recorded_job made;
    struct pv_error err = {0};
    cr_assert_eq(recorded_job_make(&question, &arena, &made, &err), PV_E_LIMIT);
    cr_assert_not_null(strstr(err.detail, "1000000000000 tasks"), "%s", err.detail);
    question.target.problem_size = 42;
    cr_assert_eq(recorded_job_make(&question, &arena, &made, &err), PV_OK, "%s", err.detail);
    cr_assert_eq(made.job.stages[0].tasks, 42);
    /* A task holds all cores of an executor. */
    run.resources = &gpus;
    run.n_resources = 1;
    run.duration_s = 120;
    stage.duration_s = 110;
    question.target.cores_per_executor = 1000000;
    cr_assert_eq(recorded_job_make(&question, &arena, &made, &err), PV_E_LIMIT);
}
