#include "core/geosim/engine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/geosim/draws.h"
#include "core/geosim/sim_state.h"

enum { MOST = 8 };

static const size_t FIRST[] = {0};

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(geosim_engine, .init = setup, .fini = teardown);

/* --- tiny worlds: every speed is sure, links carry 5 bytes/s, nothing is ever lost --- */

static struct geosim_cluster clusters[MOST];
static struct geosim_normal wan[MOST * MOST];
static struct geosim_world world;

static void make_world(size_t n, int64_t slots)
{
    for (size_t i = 0; i < n; i++)
        clusters[i] = (struct geosim_cluster){
            .slots = slots, .power = {1, 0}, .ingress_bytes_per_s = 1e9, .egress_bytes_per_s = 1e9};
    for (size_t i = 0; i < n * n; i++)
        wan[i] = (struct geosim_normal){5, 0};
    world = (struct geosim_world){clusters, n, wan, 1, 5};
}

/* 100 bytes, 10 per second of work. */
static struct geosim_task task_of(double work_s)
{
    return (struct geosim_task){.work_s = work_s, .input_bytes = 10 * work_s};
}

static struct geosim_result run_as(const struct geosim_workflow workflows[],
                                   size_t n,
                                   const struct geosim_parameters *terms,
                                   uint64_t seed)
{
    const struct geosim_workload workload = {workflows, n, 1};
    struct geosim_result result;
    struct pv_error err = {0};
    cr_assert_eq(geosim_run(&world, &workload, terms, seed, NULL, &arena, &result, &err), PV_OK,
                 "%s", err.detail);
    return result;
}

static struct geosim_result run(const struct geosim_workflow workflows[], size_t n)
{
    const struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    return run_as(workflows, n, &terms, 1);
}

Test(geosim_engine, a_task_takes_its_bytes_by_its_rate)
{
    make_world(1, 1);
    struct geosim_task task = task_of(10);
    struct geosim_result result =
        run((struct geosim_workflow[]){{.arrives_s = 2.5, .tasks = &task, .n_tasks = 1}}, 1);
    cr_expect_float_eq(result.flow_s[0], 10.5, 1e-9,
                       "it waits for the slot of time that begins at 3");
    cr_expect_float_eq(result.ended_s, 13, 1e-9);
    cr_expect_eq(result.counts.finished, 1);
    cr_expect_eq(result.counts.copies, 1);
    cr_expect_eq(result.counts.plans, 2, "one starts it, one finds nothing to add");
    cr_expect_float_eq(result.utilization, 10 / 10.5, 1e-9);
    cr_expect_float_eq(result.useful, 1, 1e-9);
}

/* One slot, two workflows: the one with less to do goes first, then the other. */
Test(geosim_engine, a_slot_is_given_on)
{
    make_world(1, 1);
    struct geosim_task tasks[] = {task_of(10), task_of(4)};
    struct geosim_result result =
        run((struct geosim_workflow[]){{.tasks = &tasks[0], .n_tasks = 1},
                                       {.tasks = &tasks[1], .n_tasks = 1}},
            2);
    cr_expect_float_eq(result.flow_s[1], 4, 1e-9);
    cr_expect_float_eq(result.flow_s[0], 14, 1e-9);
}

/* A chain: the child starts with the slot of time after its parent's end, and reads where the
 * parent ran. At home 10 bytes/s, elsewhere 15, but no more than 5 come over the link. */
Test(geosim_engine, children_read_where_their_parents_ran)
{
    make_world(2, 1);
    clusters[1].power.mean = 1.5;
    struct geosim_task tasks[] = {task_of(10.5), task_of(9)};
    tasks[1].parents = FIRST;
    tasks[1].n_parents = tasks[1].n_feeding = 1;
    tasks[0].sources = FIRST;
    tasks[0].n_sources = 1;
    const struct geosim_workflow chain = {.tasks = tasks, .n_tasks = 2};
    cr_expect_float_eq(run(&chain, 1).flow_s[0], 11 + 9, 1e-9, "both at home");
    tasks[0].n_sources = 0;
    cr_expect_float_eq(run(&chain, 1).flow_s[0], 7 + 6, 1e-9, "both in the faster cluster");
    tasks[1].n_feeding = 0;
    clusters[1].slots = 1;
    cr_expect_float_eq(run(&chain, 1).flow_s[0], 7 + 6, 1e-9,
                       "what comes along without a transfer binds the child to no cluster");
}

/* Two copies at a time: the first to end completes the task, the other is ended with it. */
Test(geosim_engine, the_faster_copy_wins)
{
    make_world(2, 1);
    for (size_t i = 0; i < 2; i++) {
        clusters[i].power.rsd = 0.4;
        clusters[i].unreachable_probability = 1e-9; /* worth a second copy, and never happens */
    }
    struct geosim_task task = task_of(10);
    const struct geosim_workflow workflow = {.tasks = &task, .n_tasks = 1};
    const struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    double slower = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct geosim_result result = run_as(&workflow, 1, &terms, seed);
        double a = draw_power(seed, &(struct draw_key){.cluster = 0}, &clusters[0].power);
        double b = draw_power(seed, &(struct draw_key){.cluster = 1}, &clusters[1].power);
        cr_expect_float_eq(result.flow_s[0], 10 / fmax(a, b), 1e-9);
        cr_expect_eq(result.counts.copies, 2);
        cr_expect_eq(result.counts.extra, 1);
        cr_expect_eq(result.counts.losers, 1);
        cr_expect_lt(result.useful, 1);
        slower += 10 / fmin(a, b) > result.flow_s[0];
    }
    cr_expect_eq(slower, 20);
}

/* The outage begins in the fourth second and keep_going 5: the copy is lost, and starts anew at 9.
 */
Test(geosim_engine, an_outage_loses_what_runs)
{
    make_world(1, 1);
    clusters[0].unreachable_probability = 0.02;
    struct geosim_task task = task_of(10);
    const struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    uint64_t seed = 1;
    while (draw_slots_until_outage(seed, 0, 0, 0.02) != 4 ||
           draw_slots_until_outage(seed, 0, 1, 0.02) < 20)
        seed++;
    struct geosim_result result =
        run_as(&(struct geosim_workflow){.tasks = &task, .n_tasks = 1}, 1, &terms, seed);
    cr_expect_float_eq(result.flow_s[0], 19, 1e-9);
    cr_expect_eq(result.counts.outages, 1);
    cr_expect_eq(result.counts.lost, 1);
    cr_expect_eq(result.counts.reruns, 1);
    cr_expect_eq(result.counts.copies, 2);
    cr_expect_float_eq(result.useful, 10.0 / 14, 1e-9);
}

/* A copy that ends as the outage begins has ended. */
Test(geosim_engine, what_has_ended_is_not_lost)
{
    make_world(1, 1);
    clusters[0].unreachable_probability = 0.02;
    struct geosim_task task = task_of(10);
    const struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    uint64_t seed = 1;
    while (draw_slots_until_outage(seed, 0, 0, 0.02) != 10)
        seed++;
    struct geosim_result result =
        run_as(&(struct geosim_workflow){.tasks = &task, .n_tasks = 1}, 1, &terms, seed);
    cr_expect_float_eq(result.flow_s[0], 10, 1e-9);
    cr_expect_eq(result.counts.lost, 0);
}

/* Two tasks of 10 bytes/s each read from another cluster, whose gate lets 12 bytes/s out: one at a
 * time, though there are slots for both. */
Test(geosim_engine, gates_hold_back)
{
    make_world(2, 4);
    wan[0 * 2 + 1].mean = 10;
    clusters[0].slots = 1;
    clusters[0].power.mean = 0.1;
    clusters[0].egress_bytes_per_s = 12;
    struct geosim_task tasks[] = {task_of(10), task_of(10)};
    for (size_t i = 0; i < 2; i++) {
        tasks[i].sources = FIRST;
        tasks[i].n_sources = 1;
    }
    const struct geosim_workflow workflow = {.tasks = tasks, .n_tasks = 2};
    cr_expect_float_eq(run(&workflow, 1).flow_s[0], 20, 1e-9);
    clusters[0].egress_bytes_per_s = 20;
    cr_expect_float_eq(run(&workflow, 1).flow_s[0], 10, 1e-9);
}

/* A world that is never up: nothing is done by the horizon, and the run comes to its end. */
Test(geosim_engine, what_is_not_done_by_the_horizon_is_given_up)
{
    make_world(1, 1);
    clusters[0].unreachable_probability = 1;
    struct geosim_task task = task_of(10);
    struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    terms.horizon_s = 1000;
    struct geosim_result result =
        run_as(&(struct geosim_workflow){.tasks = &task, .n_tasks = 1}, 1, &terms, 1);
    cr_expect(isnan(result.flow_s[0]));
    cr_expect_eq(result.counts.finished, 0);
    cr_expect_eq(result.counts.copies, 0);
}

/* The floor lets the task run in the fast cluster alone, whose gate is too narrow for it: it is
 * given up as soon as nothing else is left, though the horizon is for ever. So is whoever comes
 * behind it while one job at a time is admitted. */
Test(geosim_engine, what_can_never_start_is_given_up)
{
    make_world(2, 1);
    clusters[1].power.mean = 3;
    clusters[0].unreachable_probability = 0.01;
    wan[0 * 2 + 1].mean = 50;
    clusters[1].ingress_bytes_per_s = 29;
    struct geosim_task tasks[] = {task_of(9), task_of(60)};
    tasks[0].sources = FIRST;
    tasks[0].n_sources = 1;
    const struct geosim_workflow workflows[] = {{.tasks = &tasks[0], .n_tasks = 1},
                                                {.tasks = &tasks[1], .n_tasks = 1}};
    struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    struct geosim_result result = run_as(workflows, 2, &terms, 1);
    cr_expect(isnan(result.flow_s[0]));
    cr_expect_float_eq(result.flow_s[1], 20, 1e-9);
    cr_assert(geo_parameters_set(&terms.planner, "epsilon", 0.5));
    result = run_as(workflows, 2, &terms, 1);
    cr_expect(isnan(result.flow_s[0]) && isnan(result.flow_s[1]), "the smaller one is in front");
    clusters[1].ingress_bytes_per_s = 30;
    cr_expect_eq(run_as(workflows, 2, &terms, 1).counts.finished, 2);
}

static bool count_down(void *context, size_t finished, size_t all)
{
    size_t *left = context;
    cr_expect(finished <= all);
    return *left > 0 && --*left > 0;
}

Test(geosim_engine, can_be_stopped)
{
    make_world(1, 1);
    struct geosim_task task = task_of(10);
    const struct geosim_workload workload = {
        &(struct geosim_workflow){.tasks = &task, .n_tasks = 1}, 1, 1};
    const struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    size_t left = 1;
    const struct geosim_progress progress = {count_down, &left};
    struct geosim_result result;
    struct pv_error err = {0};
    cr_expect_eq(geosim_run(&world, &workload, &terms, 1, &progress, &arena, &result, &err),
                 PV_E_CANCELLED);
}

Test(geosim_engine, no_workflows_are_soon_done)
{
    make_world(1, 1);
    struct geosim_result result = run(NULL, 0);
    cr_expect_eq(result.counts.finished, 0);
    cr_expect_eq(result.utilization, 0);
}

/* --- larger ones, at random --- */

static size_t *chosen(struct rng *rng, size_t below, size_t *n)
{
    size_t *list = arena_array(&arena, *n, sizeof *list);
    size_t at = (size_t)(rng_uniform(rng) * (double)below);
    *n = *n < below ? *n : below;
    for (size_t i = 0; i < *n; i++)
        list[i] = (at + i) % below;
    return list;
}

static struct geosim_workflow *make_workflows(struct rng *rng, size_t n, size_t *tasks)
{
    struct geosim_workflow *workflows = arena_calloc(&arena, n, sizeof *workflows);
    for (size_t w = 0; w < n; w++) {
        size_t n_tasks = 1 + (size_t)(12 * rng_uniform(rng));
        struct geosim_task *made = arena_calloc(&arena, n_tasks, sizeof *made);
        for (size_t t = 0; t < n_tasks; t++) {
            made[t] = task_of(1 + 20 * rng_uniform(rng));
            made[t].n_parents = t < 3 ? 0 : (size_t)(3 * rng_uniform(rng));
            made[t].parents = chosen(rng, t > 0 ? t : 1, &made[t].n_parents);
            made[t].n_feeding = made[t].n_parents;
            made[t].n_sources = made[t].n_parents > 0 ? 0 : 1;
            made[t].sources = chosen(rng, world.n_clusters, &made[t].n_sources);
        }
        workflows[w] = (struct geosim_workflow){(double)w * 1.7, made, n_tasks};
        *tasks += n_tasks;
    }
    return workflows;
}

static void make_rough_world(struct rng *rng)
{
    make_world(MOST, 3);
    for (size_t m = 0; m < MOST; m++) {
        clusters[m].slots = 1 + (int64_t)(4 * rng_uniform(rng));
        clusters[m].power = (struct geosim_normal){0.5 + rng_uniform(rng), 0.6};
        clusters[m].unreachable_probability = 0.02 * rng_uniform(rng);
        clusters[m].ingress_bytes_per_s = 10 + 30 * rng_uniform(rng);
        clusters[m].egress_bytes_per_s = 10 + 30 * rng_uniform(rng);
    }
    for (size_t i = 0; i < (size_t)MOST * MOST; i++)
        wan[i] = (struct geosim_normal){4 + 8 * rng_uniform(rng), 0.3};
}

/* Every workflow ends, every copy comes to an end of one kind, no cluster gives more than it has;
 * whoever plans. */
Test(geosim_engine, nothing_is_lost_or_made)
{
    struct rng rng = rng_make(3, 0);
    for (size_t round = 0; round < 4; round++) {
        size_t tasks = 0;
        make_rough_world(&rng);
        struct geosim_workflow *workflows = make_workflows(&rng, 60, &tasks);
        for (size_t algorithm = 0; algorithm < geo_planners_n; algorithm++) {
            const struct geosim_parameters terms =
                geosim_parameters_default(geo_planners[algorithm]);
            struct geosim_result result = run_as(workflows, 60, &terms, round);
            const struct geosim_counts *counts = &result.counts;
            const char *name = geo_planners[algorithm]->name;
            cr_expect_eq(counts->finished, 60, "%s", name);
            cr_expect_eq(counts->copies, tasks + counts->losers + counts->lost + counts->stopped,
                         "%s", name);
            cr_expect_gt(counts->lost, 0, "%s: outages are part of this", name);
            cr_expect_eq(counts->refused, 0, "%s", name);
            for (size_t m = 0; m < MOST; m++)
                cr_expect(result.busy_s[m] <= (double)clusters[m].slots * (result.ended_s + 1),
                          "%s", name);
            for (size_t w = 0; w < 60; w++)
                cr_expect_gt(result.flow_s[w], 0);
        }
    }
}

Test(geosim_engine, the_same_seed_gives_the_same)
{
    struct rng rng = rng_make(4, 0);
    size_t tasks = 0;
    make_rough_world(&rng);
    struct geosim_workflow *workflows = make_workflows(&rng, 40, &tasks);
    const struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    struct geosim_result first = run_as(workflows, 40, &terms, 7);
    struct geosim_result again = run_as(workflows, 40, &terms, 7);
    struct geosim_result other = run_as(workflows, 40, &terms, 8);
    cr_expect_eq(memcmp(first.flow_s, again.flow_s, 40 * sizeof *first.flow_s), 0);
    cr_expect_eq(memcmp(&first.counts, &again.counts, sizeof first.counts), 0);
    cr_expect_neq(memcmp(first.flow_s, other.flow_s, 40 * sizeof *first.flow_s), 0);
}

/* With one round PingAn gives nothing to what runs: hidden copies weigh as shown ones do, and plans
 * that are spared would have done nothing. With more it does. */
Test(geosim_engine, hidden_copies_weigh_as_shown_ones)
{
    struct rng rng = rng_make(5, 0);
    size_t tasks = 0;
    make_rough_world(&rng);
    struct geosim_workflow *workflows = make_workflows(&rng, 30, &tasks);
    struct geosim_parameters terms = geosim_parameters_default(&geo_planner_pingan);
    cr_assert(geo_parameters_set(&terms.planner, "max_rounds", 1));
    struct geosim_result shown = run_as(workflows, 30, &terms, 1);
    terms.clone_running = false;
    struct geosim_result hidden = run_as(workflows, 30, &terms, 1);
    cr_expect_eq(memcmp(hidden.flow_s, shown.flow_s, 30 * sizeof *shown.flow_s), 0);
    cr_assert(geo_parameters_set(&terms.planner, "max_rounds", 3));
    hidden = run_as(workflows, 30, &terms, 1);
    terms.clone_running = true;
    shown = run_as(workflows, 30, &terms, 1);
    cr_expect_gt(hidden.counts.extra, 0);
    cr_expect_gt(shown.counts.extra, hidden.counts.extra);
}

/* --- the board --- */

Test(geosim_engine, a_board_knows_when_it_is_full)
{
    make_world(2, 2);
    clusters[1].ingress_bytes_per_s = 10;
    struct geosim_task tasks[] = {task_of(10), task_of(10), task_of(10)};
    for (size_t i = 0; i < 3; i++) {
        tasks[i].sources = FIRST;
        tasks[i].n_sources = 1;
    }
    const struct geosim_workload workload = {
        &(struct geosim_workflow){.tasks = tasks, .n_tasks = 3}, 1, 1};
    struct sim_state board = {.world = &world, .workload = &workload, .arena = &arena};
    cr_assert(sim_state_init(&board) && sim_state_arrive(&board, 0));
    cr_expect_eq(board.ready, 3);
    cr_expect(sim_state_has_capacity(&board, 0, 1, 10));
    cr_expect(!sim_state_has_capacity(&board, 0, 1, 10.1), "more than the gate lets in");
    cr_assert(sim_state_start_copy(&board, 0, 1, 6));
    cr_expect(sim_state_has_capacity(&board, 1, 1, 4));
    cr_expect(!sim_state_has_capacity(&board, 1, 1, 5));
    cr_assert(sim_state_start_copy(&board, 1, 0, 10) && sim_state_start_copy(&board, 2, 0, 10));
    cr_expect(!sim_state_has_capacity(&board, 0, 0, 1), "no slot is left");
    cr_expect_eq(board.ready, 0);
    sim_state_begin_outage(&board, 0);
    cr_expect_eq(board.ready, 2);
    cr_expect_eq(board.clusters[0].busy, 0);
    cr_expect(!sim_state_has_capacity(&board, 1, 0, 1), "it cannot be reached");
    sim_state_end_outage(&board, 0);
    cr_expect(sim_state_has_capacity(&board, 1, 0, 1));
    sim_state_preempt_copy(&board, 0, 1);
    cr_expect_eq(board.ready, 3);
    cr_expect_eq(board.clusters[1].ingress, 0);
    cr_expect_eq(board.clusters[0].egress, 0);
    cr_expect_eq(board.counts.stopped, 1);
}
