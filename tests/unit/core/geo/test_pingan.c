#include "core/geo/plan_make.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"
#include "geo_cases.h"

TestSuite(pingan, .init = cases_setup, .fini = cases_teardown);

/* Values of `principle` and `allocation`, in the order of their words. */
enum { EFF_RELI, RELI_EFF, EFF_EFF, RELI_RELI };
enum { EFA, JGA };

static const struct geo_parameters PAPER = {&geo_planner_pingan, {1, 8, EFF_RELI, EFA}};

static struct geo_plan plan_of(const struct geo_problem *problem,
                               const struct geo_parameters *parameters)
{
    struct geo_plan plan;
    struct pv_error err = {0};
    cr_assert_eq(geo_plan_make(problem, parameters, NULL, NULL, &arena, &plan, &err), PV_OK, "%s",
                 err.detail);
    return plan;
}

/* --- each rule by hand --- */

/* One task of 100 bytes, clusters of 10 and 20 bytes/s: the fast one, 5 s, (1 - 0.1)^5. */
Test(pingan, round_one_takes_the_fastest)
{
    struct geo_cluster clusters[] = {cluster(1, 0, fixed(10)), cluster(1, 0.1, fixed(20))};
    struct geo_job jobs[] = {job(100, (struct geo_task[]){task(100, NULL, 0)}, 1)};
    struct geo_parameters terms = PAPER;
    cr_assert(geo_parameters_set(&terms, "max_rounds", 1));
    struct geo_plan plan =
        plan_of(&(struct geo_problem){clusters, 2, NULL, 0, 1, jobs, 1, 1}, &terms);
    cr_assert_eq(plan.n_copies, 1);
    cr_expect_eq(plan.copies[0].cluster, 1);
    cr_expect_eq(plan.copies[0].duration_s, 5);
    cr_expect(isnan(plan.copies[0].saved_s));
    cr_expect_float_eq(plan.tasks[0].exemption_probability, pow(0.9, 5), 1e-15);
}

/* Round 2 goes to the worst off first: with one slot left the task in the shaky cluster has it. */
Test(pingan, round_two_serves_the_worst_exemption_first)
{
    struct geo_cluster clusters[] = {cluster(1, 0.01, fixed(20)), cluster(1, 0.3, fixed(20)),
                                     cluster(1, 0.05, fixed(15))};
    struct geo_task tasks[] = {task(100, NULL, 0), task(100, NULL, 0)};
    struct geo_job jobs[] = {job(200, tasks, 2)};
    struct geo_plan plan =
        plan_of(&(struct geo_problem){clusters, 3, NULL, 0, 1, jobs, 1, 1}, &PAPER);
    cr_assert_eq(plan.n_copies, 3);
    cr_expect_eq(plan.copies[2].task, 1, "the one that runs where clusters are lost");
    cr_expect_eq(plan.copies[2].cluster, 2);
    cr_expect_eq(plan.copies[2].round, 2);
    /* 20 in the first, 15 in the second: rate 20 all the same, five slots of 0.3 x 0.05. */
    cr_expect_float_eq(plan.tasks[1].exemption_probability, pow(1 - 0.015, 5), 1e-15);
    cr_expect_float_eq(plan.copies[2].exemption_gain, pow(1 - 0.015, 5) - pow(0.7, 5), 1e-15);
    cr_expect_eq(plan.copies[2].saved_s, 0);
}

/* Nothing can be lost: a second copy would raise no exemption. */
Test(pingan, round_two_wants_exemption_to_rise)
{
    struct geo_cluster clusters[] = {cluster(4, 0, fixed(20)), cluster(4, 0, fixed(20))};
    struct geo_job jobs[] = {job(100, (struct geo_task[]){task(100, NULL, 0)}, 1)};
    struct geo_plan plan =
        plan_of(&(struct geo_problem){clusters, 2, NULL, 0, 1, jobs, 1, 1}, &PAPER);
    cr_expect_eq(plan.n_copies, 1);
}

/* 10 and 5.1: with epsilon 1 the floor is 5, with 0.9 it is 5.26. */
Test(pingan, the_floor_holds_in_every_round)
{
    struct geo_cluster clusters[] = {cluster(1, 0.1, fixed(10)), cluster(4, 0.1, fixed(5.1))};
    struct geo_task tasks[] = {task(100, NULL, 0), task(100, NULL, 0)};
    struct geo_job jobs[] = {job(200, tasks, 2)};
    const struct geo_problem problem = {clusters, 2, NULL, 0, 1, jobs, 1, 1};
    struct geo_parameters terms = PAPER;
    cr_expect_eq(plan_of(&problem, &terms).n_waiting, 0);
    cr_assert(geo_parameters_set(&terms, "epsilon", 0.9));
    struct geo_plan plan = plan_of(&problem, &terms);
    cr_assert_eq(plan.n_waiting, 1);
    cr_expect_eq(plan.waiting[0].reason, GEO_RATE_BELOW_FLOOR);
    cr_expect_eq(plan.n_copies, 1, "nor is a slow copy a second one");
}

/* Two inputs, one at home: half of the rate comes over the link, out of the other's egress. */
Test(pingan, gates_carry_the_remote_share_of_the_rate)
{
    struct geo_cluster clusters[] = {cluster(8, 0, fixed(10)), cluster(0, 0, fixed(10))};
    struct geo_link links[] = {{1, 0, fixed(6)}};
    const size_t inputs[] = {0, 1};
    struct geo_task tasks[] = {task(60, inputs, 2), task(60, inputs, 2), task(60, inputs, 2)};
    struct geo_job jobs[] = {job(180, tasks, 3)};
    clusters[1].egress_bytes_per_s = 7;
    struct geo_plan plan =
        plan_of(&(struct geo_problem){clusters, 2, links, 1, 1, jobs, 1, 1}, &PAPER);
    cr_assert_eq(plan.n_copies, 2, "each takes 3 of the 7");
    cr_expect_eq(plan.use[0].ingress_bytes_per_s, 6);
    cr_expect_eq(plan.use[1].egress_bytes_per_s, 6);
    cr_assert_eq(plan.n_waiting, 1);
    cr_expect_eq(plan.waiting[0].reason, GEO_BANDWIDTH);
}

/*
 * Heavy tails: a third copy saves slots. One of these copies comes to 1 in nine of ten cases, to
 * 1000 in the tenth: 100.9. The floor keeps the steady cluster at 60 in with epsilon 1.
 */
Test(pingan, further_copies_must_save_slots)
{
    const struct speeds *wild = two(1, 0.9, 1000);
    struct geo_cluster clusters[] = {cluster(2, 0.3, wild), cluster(2, 0.001, fixed(60)),
                                     cluster(2, 0.3, wild)};
    struct geo_job jobs[] = {job(1e4, (struct geo_task[]){task(1e4, NULL, 0)}, 1)};
    struct geo_plan plan =
        plan_of(&(struct geo_problem){clusters, 3, NULL, 0, 1, jobs, 1, 1}, &PAPER);
    /* wild + steady: 154; a second wild: 60 x 0.81 + 1000 x 0.19 = 238.6 > 1.5 x 154 = 231, so it
     * is granted; a third: 60 x 0.729 + 1000 x 0.271 = 314.74 < 4/3 x 238.6, so it is not. */
    cr_assert_eq(plan.n_copies, 3);
    cr_expect_eq(plan.copies[1].cluster, 1);
    cr_expect_eq(plan.copies[2].round, 3);
    cr_expect_eq(plan.copies[2].cluster, 0, "a second copy in one cluster is allowed");
    cr_expect_float_eq(plan.tasks[0].rate_bytes_per_s, 238.6, 1e-9);
    cr_expect_float_eq(plan.copies[2].saved_s, 1e4 / 154 - 1e4 / 238.6, 1e-9);
}

/*
 * A rare and very fast run: every further copy nearly adds 1000 to the rate, so rounds 3, 4 and 5
 * grant one copy each, until the two wild clusters are full.
 */
Test(pingan, rounds_continue_while_copies_save_slots)
{
    const struct speeds *wild = two(1, 0.999, 1e6);
    struct geo_cluster clusters[] = {cluster(2, 0.3, wild), cluster(2, 0.001, fixed(600)),
                                     cluster(2, 0.3, wild)};
    struct geo_job jobs[] = {job(1e4, (struct geo_task[]){task(1e4, NULL, 0)}, 1)};
    struct geo_plan plan =
        plan_of(&(struct geo_problem){clusters, 3, NULL, 0, 1, jobs, 1, 1}, &PAPER);
    cr_assert_eq(plan.n_copies, 5);
    for (size_t k = 0; k < 5; k++)
        cr_expect_eq(plan.copies[k].round, (int64_t)k + 1);
    double slow = pow(0.999, 4);
    cr_expect_float_eq(plan.tasks[0].rate_bytes_per_s, 600 * slow + 1e6 * (1 - slow), 1e-6);
}

/* ceil(0.4 x 4) = 2 admitted, in ascending bytes, floor(10/1.6) = 6 slots each. */
Test(pingan, shares_and_admission)
{
    struct geo_cluster clusters[] = {cluster(10, 0, fixed(10))};
    struct geo_task tasks[8];
    for (size_t i = 0; i < 8; i++)
        tasks[i] = task(10, NULL, 0);
    struct geo_job jobs[] = {job(300, tasks, 8), job(100, tasks, 8), job(200, tasks, 8),
                             job(100, tasks, 8)};
    struct geo_parameters terms = PAPER;
    cr_assert(geo_parameters_set(&terms, "epsilon", 0.4));
    struct geo_plan plan =
        plan_of(&(struct geo_problem){clusters, 1, NULL, 0, 1, jobs, 4, 1}, &terms);
    cr_assert_eq(plan.n_shares, 2);
    cr_expect_eq(plan.shares[0].job, 1, "equal bytes: request order");
    cr_expect_eq(plan.shares[1].job, 3);
    cr_expect_eq(plan.shares[0].slots, 6);
    size_t of[4] = {0};
    for (size_t i = 0; i < plan.n_copies; i++)
        of[plan.copies[i].job]++;
    cr_expect_eq(of[1], 6);
    cr_expect_eq(of[3], 4, "what is left of the slots");
    size_t reasons[GEO_REASONS] = {0};
    for (size_t i = 0; i < plan.n_waiting; i++)
        reasons[plan.waiting[i].reason]++;
    cr_expect_eq(reasons[GEO_NOT_ADMITTED], 16);
    cr_expect_eq(reasons[GEO_SHARE_USED], 2);
    cr_expect_eq(reasons[GEO_NO_SLOT], 4);
}

/* What runs already counts for the share, the rate, the exemption and the gates. */
Test(pingan, running_copies_count)
{
    struct geo_cluster clusters[] = {cluster(2, 0.2, fixed(10)), cluster(2, 0.1, fixed(10))};
    struct geo_link links[] = {{1, 0, fixed(10)}};
    const size_t remote[] = {1};
    const struct geo_running running[] = {{0, (double)NAN, (double)NAN}};
    struct geo_task tasks[] = {task(100, remote, 1), task(100, NULL, 0)};
    tasks[0].copies = running;
    tasks[0].n_copies = 1;
    clusters[0].busy_slots = 1;
    clusters[0].ingress_bytes_per_s = 10;
    struct geo_job jobs[] = {job(200, tasks, 2)};
    struct geo_parameters terms = PAPER;
    struct geo_plan plan =
        plan_of(&(struct geo_problem){clusters, 2, links, 1, 1, jobs, 1, 1}, &terms);
    cr_assert_eq(plan.n_copies, 3);
    cr_expect_eq(plan.copies[0].task, 1, "only the other one needs a first copy");
    cr_expect_eq(plan.copies[1].task, 0, "round 2: worst off");
    cr_expect_eq(plan.copies[1].cluster, 1, "where it is most_reliable");
    cr_expect_eq(plan.tasks[0].n_clusters, 2);
    cr_expect_eq(plan.tasks[0].clusters[0], 0);
    cr_expect_float_eq(plan.tasks[0].exemption_probability, pow(1 - 0.02, 10), 1e-15);
    cr_expect_eq(plan.use[0].ingress_bytes_per_s, 0, "what this plan takes, not what runs");
}

Test(pingan, job_by_job_gives_extra_copies_first)
{
    struct geo_cluster clusters[] = {cluster(1, 0.2, fixed(10)), cluster(1, 0.2, fixed(10))};
    struct geo_task one[] = {task(100, NULL, 0)};
    struct geo_job jobs[] = {job(100, one, 1), job(200, one, 1)};
    struct geo_parameters terms = PAPER;
    cr_assert(
        geo_parameters_set(&terms, "epsilon", 0.5)); /* one is admitted; it may have both slots */
    const struct geo_problem problem = {clusters, 2, NULL, 0, 1, jobs, 2, 1};
    cr_expect_eq(plan_of(&problem, &terms).n_copies, 2);
    cr_assert(geo_parameters_set(&terms, "epsilon", 1)); /* both are, with a slot each */
    cr_expect_eq(plan_of(&problem, &terms).copies[1].job, 1);
    struct geo_cluster wide[] = {cluster(2, 0.2, fixed(10)), cluster(1, 0.2, fixed(10))};
    struct geo_job three[] = {job(100, one, 1), job(200, one, 1)};
    cr_assert(geo_parameters_set(&terms, "epsilon", 0.75));
    const struct geo_problem larger = {wide, 2, NULL, 0, 1, three, 2, 1};
    cr_expect_eq(plan_of(&larger, &terms).copies[1].job, 1, "EFA: first copies first");
    cr_assert(geo_parameters_set(&terms, "allocation", JGA));
    struct geo_plan plan = plan_of(&larger, &terms);
    cr_expect_eq(plan.copies[1].job, 0, "JGA: the first job is insured before the second");
    cr_expect_eq(plan.copies[1].round, 2);
}

/* First for reliability: 20 bytes/s lost with 0.3, 12 with 0.01; the floor of 20/2 lets both in. */
Test(pingan, principles_choose_what_a_round_looks_for)
{
    struct geo_cluster clusters[] = {cluster(1, 0.3, fixed(20)), cluster(1, 0.01, fixed(12))};
    struct geo_job jobs[] = {job(100, (struct geo_task[]){task(100, NULL, 0)}, 1)};
    const struct geo_problem problem = {clusters, 2, NULL, 0, 1, jobs, 1, 1};
    struct geo_parameters terms = PAPER;
    cr_expect_eq(plan_of(&problem, &terms).copies[0].cluster, 0);
    cr_assert(geo_parameters_set(&terms, "principle", RELI_EFF));
    struct geo_plan plan = plan_of(&problem, &terms);
    cr_expect_eq(plan.copies[0].cluster, 1);
    cr_expect_eq(plan.copies[1].cluster, 0, "its rate rises from 12 to 20");
    cr_assert(geo_parameters_set(&terms, "principle", EFF_EFF));
    cr_expect_eq(plan_of(&problem, &terms).n_copies, 1, "12 beside a sure 20 adds no speed");
}

Test(pingan, a_task_that_no_cluster_can_run_is_a_fault)
{
    struct geo_cluster clusters[] = {cluster(1, 0, fixed(20)), cluster(1, 0, NULL)};
    const size_t remote[] = {1};
    struct geo_task tasks[] = {task(100, NULL, 0), task(100, remote, 1)};
    struct geo_job jobs[] = {job(200, tasks, 2)};
    struct geo_plan plan;
    struct pv_error err = {0};
    const struct geo_parameters terms = geo_parameters_default(&geo_planner_pingan);
    cr_assert_eq(geo_plan_make(&(struct geo_problem){clusters, 2, NULL, 0, 1, jobs, 1, 1}, &terms,
                               NULL, NULL, &arena, &plan, &err),
                 PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/jobs/0/tasks/1/inputs");
}

/* --- laws over random problems --- */

Test(pingan, never_more_than_there_is)
{
    struct rng rng = rng_make(21, 0);
    for (size_t i = 0; i < 400; i++) {
        struct drawn *d = arena_calloc(&arena, 1, sizeof *d);
        struct geo_parameters terms = PAPER;
        cr_assert(geo_parameters_set(&terms, "epsilon", 0.2 + 0.8 * rng_uniform(&rng)));
        cr_assert(geo_parameters_set(&terms, "principle", floor(4 * rng_uniform(&rng))));
        cr_assert(geo_parameters_set(&terms, "allocation", rng_uniform(&rng) < 0.5));
        draw_problem(&rng, d);
        struct geo_plan plan = plan_of(&d->problem, &terms);
        for (size_t m = 0; m < d->problem.n_clusters; m++) {
            const struct geo_cluster *c = &d->clusters[m];
            cr_assert(plan.use[m].slots <= c->slots - c->busy_slots);
            cr_assert(plan.use[m].ingress_bytes_per_s <=
                      c->ingress_bytes_per_s * (1 + 1e-9) + 1e-9);
            cr_assert(plan.use[m].egress_bytes_per_s <= c->egress_bytes_per_s * (1 + 1e-9) + 1e-9);
        }
        int64_t taken[MOST] = {0};
        for (size_t k = 0; k < plan.n_copies; k++) {
            taken[plan.copies[k].job]++;
            cr_assert(plan.copies[k].round <= 2 || plan.copies[k].saved_s > 0);
        }
        for (size_t k = 0; k < plan.n_shares; k++)
            cr_assert(taken[plan.shares[k].job] <= plan.shares[k].slots);
        size_t tasks = 0;
        for (size_t j = 0; j < d->problem.n_jobs; j++)
            tasks += d->jobs[j].n_tasks;
        cr_assert_eq(plan.n_tasks + plan.n_waiting, tasks, "every task is told of once");
    }
}

/* The bounds only spare work: round 1 by looking at every cluster gives the same copies. */
Test(pingan, round_one_is_that_of_looking_everywhere)
{
    struct rng rng = rng_make(22, 0);
    for (size_t i = 0; i < 300; i++) {
        struct drawn *d = arena_calloc(&arena, 1, sizeof *d);
        struct geo_parameters terms = PAPER;
        cr_assert(geo_parameters_set(&terms, "max_rounds", 1));
        draw_problem(&rng, d);
        d->problem.n_jobs = 1; /* one job of epsilon 1: its share is all slots */
        for (size_t m = 0; m < d->problem.n_clusters; m++)
            d->clusters[m].ingress_bytes_per_s = d->clusters[m].egress_bytes_per_s = HUGE_VAL;
        struct geo_plan plan = plan_of(&d->problem, &terms);
        int64_t idle[MOST];
        size_t at = 0;
        for (size_t m = 0; m < d->problem.n_clusters; m++)
            idle[m] = d->clusters[m].slots - d->clusters[m].busy_slots;
        for (size_t t = 0; t < d->jobs[0].n_tasks; t++) {
            const struct geo_task *one = &d->jobs[0].tasks[t];
            double rate[MOST];
            double anywhere = 0;
            size_t best = MOST;
            for (size_t m = 0; m < d->problem.n_clusters; m++) {
                struct speeds sum = {0};
                size_t remote = 0;
                for (size_t k = 0; k < one->n_inputs; k++) {
                    for (size_t l = 0; one->inputs[k] != m && l < d->problem.n_links; l++) {
                        if (d->links[l].from != one->inputs[k] || d->links[l].to != m)
                            continue;
                        struct speeds before = sum;
                        if (remote++ == 0)
                            sum = *d->links[l].speeds;
                        else
                            speeds_add(&before, d->links[l].speeds, &sum);
                    }
                }
                if (remote > 0)
                    speeds_scale(&sum, 1 / (double)remote);
                const struct speeds *processing = d->clusters[m].processing[0];
                rate[m] = remote > 0 ? speeds_min_mean(processing, &sum) : processing->mean;
                anywhere = fmax(anywhere, rate[m]);
            }
            for (size_t m = 0; m < d->problem.n_clusters; m++)
                if (idle[m] > 0 && rate[m] >= anywhere / 2 &&
                    (best == MOST || rate[m] > rate[best]))
                    best = m;
            if (best == MOST)
                continue;
            idle[best]--;
            cr_assert(at < plan.n_copies);
            cr_assert_eq(plan.copies[at].task, t);
            cr_assert_eq(plan.copies[at].cluster, best);
            cr_assert_float_eq(plan.copies[at].rate_bytes_per_s, rate[best], 1e-9 * rate[best]);
            at++;
        }
        cr_assert_eq(at, plan.n_copies);
    }
}

/* A slot more, gates that do not bind: round 1 places at least as many tasks. */
Test(pingan, a_slot_more_is_never_worse_in_round_one)
{
    struct rng rng = rng_make(23, 0);
    for (size_t i = 0; i < 300; i++) {
        struct drawn *d = arena_calloc(&arena, 1, sizeof *d);
        struct geo_parameters terms = PAPER;
        cr_assert(geo_parameters_set(&terms, "max_rounds", 1));
        draw_problem(&rng, d);
        for (size_t m = 0; m < d->problem.n_clusters; m++)
            d->clusters[m].ingress_bytes_per_s = d->clusters[m].egress_bytes_per_s = HUGE_VAL;
        size_t before = plan_of(&d->problem, &terms).n_copies;
        d->clusters[i % d->problem.n_clusters].slots++;
        cr_expect(plan_of(&d->problem, &terms).n_copies >= before);
    }
}

static void expect_same_plan(const struct geo_plan *a, const struct geo_plan *b)
{
    cr_assert_eq(a->n_copies, b->n_copies);
    cr_assert_eq(a->n_waiting, b->n_waiting);
    for (size_t k = 0; k < a->n_copies; k++) {
        cr_assert_eq(a->copies[k].job, b->copies[k].job);
        cr_assert_eq(a->copies[k].task, b->copies[k].task);
        cr_assert_eq(a->copies[k].cluster, b->copies[k].cluster);
        cr_assert_eq(a->copies[k].rate_bytes_per_s, b->copies[k].rate_bytes_per_s);
        cr_assert_eq(a->copies[k].round, b->copies[k].round);
    }
    for (size_t k = 0; k < a->n_tasks; k++)
        cr_assert_eq(a->tasks[k].rate_bytes_per_s, b->tasks[k].rate_bytes_per_s);
}

/* Rates kept while tasks come, go and change their slots: each plan is that of rates made anew. */
Test(pingan, rates_may_be_kept_between_plans)
{
    struct rng rng = rng_make(24, 0);
    const struct geo_parameters terms = geo_parameters_default(&geo_planner_pingan);
    for (size_t i = 0; i < 40; i++) {
        struct drawn *world = arena_calloc(&arena, 1, sizeof *world);
        draw_problem(&rng, world);
        struct geo_rates *kept = geo_rates_make(&world->problem, &arena);
        cr_assert_not_null(kept);
        for (size_t k = 0; k < 12; k++) {
            struct drawn *next = arena_calloc(&arena, 1, sizeof *next);
            do
                draw_problem(&rng, next);
            while (next->problem.n_clusters > world->problem.n_clusters);
            world->problem.jobs = next->problem.jobs;
            world->problem.n_jobs = next->problem.n_jobs;
            world->clusters[0].slots = world->clusters[0].busy_slots + (int64_t)k;
            struct arena call;
            arena_init(&call, 0);
            struct geo_plan fresh;
            struct geo_plan again;
            cr_assert_eq(geo_plan_make(&world->problem, &terms, NULL, NULL, &call, &fresh, NULL),
                         PV_OK);
            cr_assert_eq(geo_plan_make(&world->problem, &terms, kept, NULL, &call, &again, NULL),
                         PV_OK);
            expect_same_plan(&fresh, &again);
            arena_fini(&call);
        }
    }
}
