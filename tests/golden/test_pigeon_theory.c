/*
 * Pigeon's theory (Z. Li, dissertation, UT Arlington 2019, eqs 4.1 to 4.6) against simulations:
 *
 *     test_pigeon_theory [--quick | --jobs]
 *
 * of one group under the theory's own assumptions, and with --jobs, which takes many minutes, of
 * the cluster that the dissertation simulates (section 4.3). A job is delayed by waiting when its
 * completion, without messages, is longer than its longest task.
 *
 * Repetitions go on until the standard error of the mean waiting time is small enough. --quick: one
 * repetition, and nothing is compared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduling/tasks/pigeon_plan.h"
#include "core/scheduling/tasks/tasks_simulation.h"
#include "core/sim/statistics.h"
#include "core/sim/variates.h"
#include "evidence.h"

static const double TASK_S = 0.1;              /* as in the dissertation */
static const double MESSAGE_S = 0.0005;        /* likewise */
static const double PROBABILITY_WITHIN = 0.01; /* that differences are below, it says */
static const double WAITING_WITHIN = 0.12;
static const double WARM_UP_S = 3; /* 30 task times; a group forgets how it began in 8 at most */
static const double RARE = 0.01;   /* too few wait to measure how long */

enum { MESSAGES = 3, REPETITIONS_MIN = 4, REPETITIONS_MAX = 200 };
enum { CLUSTER = 30000, FANOUT = 100, EQUAL_FANOUT = 50, EQUAL_GROUP = 100 };

static bool quick;

struct experiment {
    enum tasks_policy_id policy;
    uint32_t workers;
    uint32_t group_size;
    uint32_t fanout;
    uint32_t jobs; /* in a repetition */
    double load;
    double communication_s;
    bool equal_durations; /* of the tasks of a job */
};

/* Means over repetitions. */
struct observed {
    struct running_moments unqueued;  /* the share of jobs that no waiting delays */
    struct running_moments waiting_s; /* what waiting delays a job by */
};

/* --- simulation --- */

static struct rng stream_of(const struct experiment *experiment, uint64_t purpose, uint64_t seed)
{
    const uint64_t keys[] = {purpose, experiment->group_size, experiment->fanout};
    return variate_stream(seed, keys, 3);
}

/* Jobs of a Poisson process whose tasks last exponentially long. */
static void draw_jobs(const struct experiment *experiment,
                      uint64_t seed,
                      struct tasks_job jobs[],
                      struct arena *arena)
{
    double fanout = (double)experiment->fanout;
    double jobs_per_s = experiment->load * (double)experiment->workers / (fanout * TASK_S);
    struct rng gaps = stream_of(experiment, 1, seed);
    struct rng durations = stream_of(experiment, 2, seed);
    size_t tasks = (size_t)experiment->jobs * experiment->fanout;
    double *durations_s = evidence_need(arena_array(arena, tasks, sizeof *durations_s));
    double at_s = 0;
    for (uint32_t j = 0; j < experiment->jobs; j++) {
        at_s += variate_exponential(&gaps, jobs_per_s);
        jobs[j] = (struct tasks_job){
            .arrival_s = at_s, .durations_s = durations_s, .tasks = experiment->fanout};
        for (uint32_t i = 0; i < experiment->fanout; i++)
            durations_s[i] = experiment->equal_durations && i > 0
                                 ? durations_s[0]
                                 : variate_exponential(&durations, 1 / TASK_S);
        durations_s += experiment->fanout;
    }
}

static void count_jobs(const struct tasks_model *model,
                       const struct tasks_result *result,
                       struct observed *observed)
{
    struct running_moments unqueued = {0};
    struct running_moments waiting_s = {0};
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        double completion_s = result->finish_s[j] - model->jobs[j].arrival_s;
        double waited_s = completion_s - MESSAGES * model->communication_s - model->longest_s[j];
        if (model->jobs[j].arrival_s < WARM_UP_S)
            continue;
        running_moments_add(&unqueued, waited_s < 1e-9);
        running_moments_add(&waiting_s, fmax(waited_s, 0));
    }
    running_moments_add(&observed->unqueued, unqueued.mean);
    running_moments_add(&observed->waiting_s, waiting_s.mean);
}

static void simulate(const struct experiment *experiment, uint64_t seed, struct observed *observed)
{
    const struct trial trial = {seed, 0};
    struct tasks_terms terms = tasks_terms_default(experiment->policy);
    struct tasks_result result;
    struct arena arena;
    struct arena scratch;
    terms.groups = experiment->workers / experiment->group_size;
    terms.reserved_share = 0;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    struct tasks_job *jobs = evidence_need(arena_array(&arena, experiment->jobs, sizeof *jobs));
    draw_jobs(experiment, seed, jobs, &arena);
    struct tasks_model model = {.workers = experiment->workers,
                                .communication_s = experiment->communication_s,
                                .jobs = jobs,
                                .n_jobs = experiment->jobs};
    if (tasks_model_complete(&model, &arena, NULL) != PV_OK ||
        tasks_simulate(&model, &terms, &trial, 0, NULL, &arena, &scratch, &result, NULL) != PV_OK)
        abort();
    count_jobs(&model, &result, observed);
    arena_fini(&scratch);
    arena_fini(&arena);
}

/* Until the standard error of the waiting time is at most error_s. */
static struct observed observe(const struct experiment *experiment, double error_s)
{
    struct observed observed = {0};
    for (uint64_t seed = 1; seed <= REPETITIONS_MAX; seed++) {
        simulate(experiment, seed, &observed);
        if (quick || (seed >= REPETITIONS_MIN &&
                      running_moments_standard_error(&observed.waiting_s) <= error_s))
            break;
    }
    return observed;
}

/* --- comparison --- */

static struct pigeon_candidate theory_of(const struct experiment *experiment)
{
    const struct pigeon_terms terms = {.workers = experiment->workers,
                                       .load = experiment->load,
                                       .fanout = experiment->fanout,
                                       .task_s = TASK_S,
                                       .equal_durations = experiment->equal_durations,
                                       .target_probability = 1};
    return pigeon_candidate_of(&terms, experiment->group_size);
}

/* Single tasks to one master, no messages: the queue M/M/n that the theory is about. Where waiting is
 * rare, its mean with the messages of a job is compared, as the dissertation does. */
static bool compare_group(uint32_t group_size, double load)
{
    const struct experiment experiment = {.policy = TASKS_PIGEON,
                                          .workers = group_size,
                                          .group_size = group_size,
                                          .fanout = 1,
                                          .jobs = 200000,
                                          .load = load};
    struct pigeon_candidate theory = theory_of(&experiment);
    bool rare = 1 - theory.task_zero_queuing < RARE;
    double within_s = WAITING_WITHIN * (theory.queuing_s + (rare ? MESSAGES * MESSAGE_S : 0));
    struct observed observed = observe(&experiment, within_s / 4);
    double unqueued = observed.unqueued.mean;
    double waiting_s = observed.waiting_s.mean;
    if (!quick)
        printf("| %u | %.0f %% | %.4f | %.4f | %.4f | %.4f | %.4f |\n", group_size, 100 * load,
               theory.task_zero_queuing, unqueued, 1e3 * theory.queuing_s, 1e3 * waiting_s,
               1e3 * running_moments_standard_error(&observed.waiting_s));
    return fabs(unqueued - theory.task_zero_queuing) <=
               PROBABILITY_WITHIN * theory.task_zero_queuing &&
           fabs(waiting_s - theory.queuing_s) <= within_s;
}

static int compare_groups(void)
{
    static const uint32_t sizes[] = {50, 100, 150, 200};
    static const double loads[] = {0.5, 0.6, 0.7, 0.8, 0.9};
    unsigned near = 0;
    if (!quick) {
        evidence_begin("one group");
        printf(
            "| workers | load | do not wait, eq. 4.1 | simulated | wait ms, eq. 4.2 | simulated | "
            "standard error |\n|---|---|---|---|---|---|---|\n");
    }
    for (size_t g = 0; g < sizeof sizes / sizeof *sizes; g++)
        for (size_t l = 0; l < sizeof loads / sizeof *loads; l++)
            near += compare_group(sizes[g], loads[l]);
    if (quick)
        return 0;
    evidence_end();
    evidence_expect(near == 20,
                    "%u of 20: probability within 1 %% of the theory, waiting time within 12 %%",
                    near);
    return evidence_status();
}

/* --- jobs of many tasks --- */

static void print_cluster(uint32_t group_size, double load, double communication_s)
{
    const struct experiment experiment = {.policy = TASKS_PIGEON,
                                          .workers = CLUSTER,
                                          .group_size = group_size,
                                          .fanout = FANOUT,
                                          .jobs = 60000,
                                          .load = load,
                                          .communication_s = communication_s};
    struct pigeon_candidate theory = theory_of(&experiment);
    double messages_s = MESSAGES * MESSAGE_S;
    double waiting_s = theory.queuing_s + messages_s;
    struct observed observed = observe(&experiment, 0.02 * waiting_s);
    printf("| %u | %.0f %% | %.1f | %.4f | %.4f (%.4f) | %.2f | %.2f (%.2f) |\n", group_size,
           100 * load, 1e3 * communication_s, theory.job_exponential, observed.unqueued.mean,
           running_moments_standard_error(&observed.unqueued), 1e3 * waiting_s,
           1e3 * (observed.waiting_s.mean + messages_s),
           1e3 * running_moments_standard_error(&observed.waiting_s));
    (void)fflush(stdout);
}

/* Eq. 4.3, and eq. 4.4 for Sparrow. */
static void print_equal(double load)
{
    struct experiment experiment = {.policy = TASKS_PIGEON,
                                    .workers = CLUSTER,
                                    .group_size = EQUAL_GROUP,
                                    .fanout = EQUAL_FANOUT,
                                    .jobs = 28000,
                                    .load = load,
                                    .equal_durations = true};
    struct observed pigeon = observe(&experiment, HUGE_VAL);
    experiment.policy = TASKS_SPARROW;
    struct observed sparrow = observe(&experiment, HUGE_VAL);
    printf("| %.0f %% | %.4f | %.4f (%.4f) | %.4f | %.4f (%.4f) |\n", 100 * load,
           theory_of(&experiment).job_equal, pigeon.unqueued.mean,
           running_moments_standard_error(&pigeon.unqueued),
           sparrow_zero_queuing(EQUAL_FANOUT, load), sparrow.unqueued.mean,
           running_moments_standard_error(&sparrow.unqueued));
    (void)fflush(stdout);
}

static int print_jobs(void)
{
    static const double equal_loads[] = {0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
    static const uint32_t sizes[] = {50, 100, 200};
    printf("| workers | load | a message ms | not delayed, eq. 4.6 | simulated | wait ms, theory | "
           "simulated |\n|---|---|---|---|---|---|---|\n");
    for (size_t g = 0; g < sizeof sizes / sizeof *sizes; g++) {
        print_cluster(sizes[g], 0.9, 0);
        print_cluster(sizes[g], 0.9, MESSAGE_S);
    }
    print_cluster(sizes[0], 0.8, 0);
    print_cluster(sizes[0], 0.8, MESSAGE_S);
    printf("\n| load | Pigeon, eq. 4.3 | simulated | Sparrow, eq. 4.4 | simulated |\n"
           "|---|---|---|---|---|\n");
    for (size_t l = 0; l < sizeof equal_loads / sizeof *equal_loads; l++)
        print_equal(equal_loads[l]);
    return 0;
}

int main(int argc, char **argv)
{
    quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    return argc > 1 && strcmp(argv[1], "--jobs") == 0 ? print_jobs() : compare_groups();
}
