#include "tasks_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/sim/variates.h"

enum { JOB_TASKS_MAX = 16 };

void tasks_case_init(struct tasks_case *one, uint32_t workers, double communication_s)
{
    memset(one, 0, sizeof *one);
    arena_init(&one->arena, 0);
    arena_init(&one->scratch, 0);
    one->model = (struct tasks_model){
        .workers = workers, .communication_s = communication_s, .jobs = one->jobs};
}

void tasks_case_fini(struct tasks_case *one)
{
    arena_fini(&one->scratch);
    arena_fini(&one->arena);
}

struct tasks_job *
tasks_case_job(struct tasks_case *one, double arrival_s, const double durations_s[], uint32_t n)
{
    double *copy = arena_array(&one->arena, n, sizeof *copy);
    cr_assert(copy != NULL && one->model.n_jobs < CASE_JOBS_MAX && n <= JOB_TASKS_MAX);
    memcpy(copy, durations_s, n * sizeof *copy);
    struct tasks_job *job = &one->jobs[one->model.n_jobs++];
    *job = (struct tasks_job){.arrival_s = arrival_s, .durations_s = copy, .tasks = n};
    return job;
}

static struct tasks_job *
equal_tasks(struct tasks_case *one, double arrival_s, uint32_t tasks, double duration_s)
{
    double durations_s[JOB_TASKS_MAX];
    for (uint32_t i = 0; i < tasks && i < JOB_TASKS_MAX; i++)
        durations_s[i] = duration_s;
    return tasks_case_job(one, arrival_s, durations_s, tasks);
}

void tasks_case_short(struct tasks_case *one, double arrival_s, uint32_t tasks, double duration_s)
{
    equal_tasks(one, arrival_s, tasks, duration_s)->is_long = false;
}

void tasks_case_long(struct tasks_case *one, double arrival_s, uint32_t tasks, double duration_s)
{
    equal_tasks(one, arrival_s, tasks, duration_s)->is_long = true;
}

void tasks_case_run(struct tasks_case *one, const struct tasks_terms *terms)
{
    const struct trial trial = {1, 0};
    cr_assert_eq(tasks_model_complete(&one->model, &one->arena, NULL), PV_OK);
    cr_assert_eq(tasks_simulate(&one->model, terms, &trial, 0, NULL, &one->arena, &one->scratch,
                                &one->result, NULL),
                 PV_OK);
    cr_assert_eq(
        tasks_outcome_of(&one->model, &one->result, NULL, &one->scratch, &one->outcome, NULL),
        PV_OK);
    cr_assert_leq(one->result.memory, tasks_simulation_memory(&one->model, terms));
    cr_assert_str_eq(tasks_case_fault(&one->model, terms, &one->result), "");
}

double tasks_case_start(const struct tasks_case *one, uint32_t job)
{
    return one->result.start_s[job];
}

double tasks_case_finish(const struct tasks_case *one, uint32_t job)
{
    return one->result.finish_s[job];
}

struct tasks_model tasks_case_random(struct arena *arena,
                                     uint64_t seed,
                                     uint32_t workers,
                                     uint32_t jobs,
                                     uint32_t tasks_max,
                                     double load,
                                     double communication_s)
{
    const struct trial trial = {seed, 0};
    struct rng rng = rng_make(seed, 0);
    struct tasks_job *made = arena_array(arena, jobs, 2 * sizeof *made);
    cr_assert(made != NULL);
    for (uint32_t j = 0; j < jobs; j++) {
        uint32_t n = 1 + (uint32_t)variate_index(&rng, tasks_max);
        double *durations_s = arena_array(arena, n, sizeof *durations_s);
        cr_assert(durations_s != NULL);
        bool is_long = rng_uniform(&rng) < 0.1;
        for (uint32_t i = 0; i < n; i++)
            durations_s[i] = variate_exponential(&rng, is_long ? 0.05 : 2);
        made[j] = (struct tasks_job){.durations_s = durations_s, .tasks = n, .is_long = is_long};
    }
    struct tasks_model model = {
        .workers = workers, .communication_s = communication_s, .jobs = made, .n_jobs = jobs};
    cr_assert_eq(tasks_model_complete(&model, arena, NULL), PV_OK);
    tasks_retime(&model, load, &trial, made + jobs);
    model.jobs = made + jobs;
    return model;
}

bool tasks_case_same(const struct tasks_result *a, const struct tasks_result *b, uint32_t n)
{
    return memcmp(a->start_s, b->start_s, n * sizeof *a->start_s) == 0 &&
           memcmp(a->finish_s, b->finish_s, n * sizeof *a->finish_s) == 0;
}

/* Messages from a job's arrival to the first start of a task. */
static double hops_to_start(const struct tasks_terms *terms, const struct tasks_job *job)
{
    struct tasks_terms sparrow = tasks_terms_default(TASKS_SPARROW);
    struct tasks_terms eagle = tasks_terms_default(TASKS_EAGLE);
    if (terms->policy == sparrow.policy)
        return 3;
    if (terms->policy == eagle.policy)
        return job->is_long ? 1 : 3;
    return 2;
}

const char *tasks_case_fault(const struct tasks_model *model,
                             const struct tasks_terms *terms,
                             const struct tasks_result *result)
{
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        const struct tasks_job *job = &model->jobs[j];
        double earliest_s = job->arrival_s + hops_to_start(terms, job) * model->communication_s;
        double rounding_s = 1e-9 * fmax(1, earliest_s);
        if (!(result->start_s[j] >= earliest_s - rounding_s))
            return "a task starts before it could be known";
        if (!(result->finish_s[j] >=
              earliest_s + model->longest_s[j] + model->communication_s - rounding_s))
            return "a job finishes before its longest task could";
    }
    return "";
}
