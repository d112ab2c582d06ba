#include "core/control/controller.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/control/supervisor.h"
#include "core/sim/variates.h"

static void expect_near(double got, double want, const char *what)
{
    cr_expect(fabs(got - want) <= 1e-12 * fmax(1, fabs(want)), "%s: %.17g, not %.17g", what, got,
              want);
}

/* 200 tasks in 50 s on a worker of 16 cores. */
static struct control_reading reading_at(double elapsed_s, double completed, double integral_cores)
{
    return (struct control_reading){.elapsed_s = elapsed_s,
                                    .deadline_s = 50,
                                    .since_s = 1,
                                    .tasks = 200,
                                    .completed = completed,
                                    .integral_cores = integral_cores,
                                    .worker_cores = 16};
}

/* By hand: SP = 1/50, csp = 50 x 0.02 = 1, csi = 4 + 50/12 x 0.02 = 4.08333. */
Test(controller, a_step_by_hand)
{
    struct control_terms terms = control_terms_default();
    struct control_reading reading = reading_at(1, 0, 4);
    struct control_request request = control_ask(&terms, &reading);
    expect_near(request.set_point, 0.02, "set point");
    expect_near(request.progress, 0, "progress");
    expect_near(request.proportional_cores, 1, "csp");
    expect_near(request.cores, 1 + 4 + 50.0 / 12 * 0.02, "request");
    expect_near(control_integral(5.1, &request), 4.1, "integral after 5.1 cores were granted");
}

/* The second step: 4 tasks of 200 done after 2 s, so the error is 0.02 again. */
Test(controller, the_integral_goes_on_from_what_was_granted)
{
    struct control_terms terms = control_terms_default();
    struct control_reading reading = reading_at(2, 4, 4.1);
    struct control_request request = control_ask(&terms, &reading);
    expect_near(request.cores, 1 + 4.1 + 50.0 / 12 * 0.02, "request");
    /* Refused all cores, it starts from below 0, not from an integral that went on growing. */
    expect_near(control_integral(0, &request), -1, "integral after no core was granted");
}

Test(controller, the_time_that_has_passed_weighs_the_integral)
{
    struct control_terms terms = control_terms_default();
    struct control_reading reading = reading_at(10, 20, 3);
    reading.since_s = 6;
    struct control_request request = control_ask(&terms, &reading);
    expect_near(request.cores, 50 * 0.1 + 3 + 50.0 * 6 / 12 * 0.1, "request");
}

Test(controller, all_cores_once_the_deadline_is_over_and_none_once_all_is_done)
{
    struct control_terms terms = control_terms_default();
    struct control_reading reading = reading_at(50, 120, 4);
    cr_expect_eq(control_ask(&terms, &reading).cores, 16);
    reading.elapsed_s = 1000;
    cr_expect_eq(control_ask(&terms, &reading).set_point, 1);
    reading.completed = 200;
    cr_expect_eq(control_ask(&terms, &reading).cores, 0);
    /* A stage that had no time from its beginning. */
    reading = reading_at(0, 0, 0);
    reading.deadline_s = 0;
    cr_expect_eq(control_ask(&terms, &reading).cores, 16);
}

Test(controller, a_request_lies_between_the_least_and_the_tasks_left)
{
    struct control_terms terms = control_terms_default();
    struct control_reading ahead = reading_at(5, 150, 1);
    cr_expect_eq(control_ask(&terms, &ahead).cores, 0, "ahead of its set point it asks for none");
    terms.core_min = 0.5;
    cr_expect_eq(control_ask(&terms, &ahead).cores, 0.5);
    struct control_reading last = reading_at(49, 198, 12);
    cr_expect_eq(control_ask(&terms, &last).cores, 2, "no more than tasks left");
    terms.core_min = 3;
    cr_expect_eq(control_ask(&terms, &last).cores, 2);
}

/* --- the supervisor --- */

static struct arena scratch;

static void set_up(void)
{
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&scratch);
}

TestSuite(supervisor, .init = set_up, .fini = tear_down);

enum { EXECUTORS = 12 };

static void grant(const char *strategy,
                  double gamma,
                  const struct contention_application executors[],
                  size_t n,
                  double cores[])
{
    struct supervisor_terms terms = {NULL, gamma, 1e6, 16, 0.05};
    struct contention_outcome outcome;
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
        if (strcmp(contention_strategies[s].name, strategy) == 0)
            terms.strategy = &contention_strategies[s];
    cr_assert_eq(supervisor_grant(&terms, executors, n, &scratch, cores, &outcome, NULL), PV_OK);
}

/* Table 3.4 of the thesis with erratum 14: 7.7576, 5.3333, 2.9091 in quanta of 16 cores together.
 * */
Test(supervisor, shares_become_quanta)
{
    const struct contention_application executors[] = {
        {10, 50, 40, 1e6}, {8, 60, 40, 1e6}, {12, 70, 40, 5e5}};
    double cores[3];
    grant("edf_proportional", 0, executors, 3, cores);
    cr_expect_eq(cores[0], 7.75);
    cr_expect_eq(cores[1], 5.35);
    cr_expect_eq(cores[2], 2.9);
}

Test(supervisor, the_late_one_goes_first)
{
    const struct contention_application executors[] = {
        {10, 50, 40, 1e6}, {8, -60, 40, 1e6}, {12, 70, 40, 5e5}};
    double cores[3];
    grant("edf_pure", 1, executors, 3, cores);
    cr_expect_eq(cores[0], 8);
    cr_expect_eq(cores[1], 8);
    cr_expect_eq(cores[2], 0);
    grant("edf_all", 0, executors, 3, cores);
    cr_expect_eq(cores[1], 16);
}

Test(supervisor, nobody_there_or_nothing_asked_for)
{
    const struct contention_application idle[] = {{0, 50, 0, 1e6}, {0, 10, 4, 1e6}};
    double cores[2];
    grant("proportional", 1, idle, 0, cores);
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++) {
        grant(contention_strategies[s].name, 1, idle, 2, cores);
        cr_expect_eq(cores[0], 0);
        cr_expect_eq(cores[1], 0);
    }
}

/* By gamma 0 everybody has what it asks for, within a quantum, while there is no contention; the
 * worker is never overcommitted; with gamma 1 it is all given away, as far as it can be used. */
Test(supervisor, random_steps_keep_to_the_worker)
{
    struct rng rng = rng_make(11, 0);
    for (size_t trial = 0; trial < 3000; trial++) {
        struct contention_application executors[EXECUTORS];
        size_t n = 1 + variate_index(&rng, EXECUTORS);
        double requested = 0;
        for (size_t i = 0; i < n; i++) {
            double tasks = (double)variate_index(&rng, 30);
            executors[i] = (struct contention_application){fmin(tasks, variate_uniform(&rng, 0, 6)),
                                                           variate_uniform(&rng, -100, 300), tasks,
                                                           variate_uniform(&rng, 1e4, 1e6)};
            requested += executors[i].requested_cores;
        }
        for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
            for (int gamma = 0; gamma <= 1; gamma++) {
                double cores[EXECUTORS];
                double sum = 0;
                grant(contention_strategies[s].name, gamma, executors, n, cores);
                for (size_t i = 0; i < n; i++) {
                    sum += cores[i];
                    cr_assert_geq(cores[i], 0);
                    if (gamma == 0 && requested <= 16)
                        cr_assert_lt(fabs(cores[i] - executors[i].requested_cores), 0.05 + 1e-9);
                }
                cr_assert_leq(sum, 16 + 1e-9);
                if (gamma == 1 && requested > 0)
                    cr_assert_geq(sum, fmin(0.99 * 16, requested) - 1e-9);
            }
    }
}
