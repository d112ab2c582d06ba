/* The first stages of a job as tasks that are copied across clusters. */
#include "core/advice/first_stage_job.h"

#include <criterion/criterion.h>
#include <math.h>

static struct arena arena;
static struct pv_error err;
static struct first_stage_job made;
static struct strview clusters[2];
static struct advice_question question;
static const struct first_stage stages[] = {
    {.id = 0, .name = {"scan", 4}, .tasks = 3, .input_bytes = 300},
    {.id = 2, .name = {NULL, 0}, .tasks = 1, .input_bytes = 50},
    {.id = 5, .name = {"scan", 4}, .tasks = 2, .input_bytes = 100}};

static void set_up(void)
{
    arena_init(&arena, 0);
    err = (struct pv_error){0};
    clusters[0] = strview_of("a");
    clusters[1] = strview_of("b");
    question = (struct advice_question){
        .application = strview_of("sort"), .clusters = clusters, .n_clusters = 2};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(first_stage_job, .init = set_up, .fini = tear_down);

static enum pv_code make(size_t tasks_max)
{
    return first_stage_job_make(&question, stages, 3, tasks_max, &arena, &made, &err);
}

Test(first_stage_job, stages_are_cut_evenly)
{
    static const char *const ids[] = {"0.0", "0.1", "0.2", "2.0", "5.0", "5.1"};
    static const double bytes[] = {100, 100, 100, 50, 50, 50};
    cr_assert_eq(make(6), PV_OK);
    cr_assert_eq(made.job.n_tasks, 6);
    cr_expect_float_eq(made.job.unprocessed_bytes, 450, 0);
    for (size_t i = 0; i < 6; i++) {
        cr_expect(strview_is(made.ids[i], ids[i]));
        cr_expect_float_eq(made.job.tasks[i].size_bytes, bytes[i], 1e-9);
    }
    cr_expect_eq(make(5), PV_E_LIMIT);
}

/* Equal names are one operation; a stage without a name is of the application's. */
Test(first_stage_job, operations_are_named_like_stages)
{
    static const size_t operation_of[] = {1, 1, 1, 0, 1, 1};
    cr_assert_eq(make(100), PV_OK);
    cr_assert_eq(made.n_operations, 2);
    cr_expect(strview_is(made.operations[0], "sort"));
    cr_expect(strview_is(made.operations[1], "scan"));
    for (size_t i = 0; i < 6; i++)
        cr_expect_eq(made.job.tasks[i].operation, operation_of[i]);
    question.application = (struct strview){NULL, 0};
    cr_assert_eq(make(100), PV_OK);
    cr_expect(strview_is(made.operations[0], "profile"));
}

Test(first_stage_job, inputs_are_taken_in_turns)
{
    size_t only = 1;
    cr_assert_eq(make(100), PV_OK);
    for (size_t i = 0; i < 6; i++) {
        cr_expect_eq(made.job.tasks[i].n_inputs, 1);
        cr_expect_eq(made.job.tasks[i].inputs[0], i % 2, "of all clusters");
    }
    question.inputs = &only;
    question.n_inputs = 1;
    cr_assert_eq(make(100), PV_OK);
    for (size_t i = 0; i < 6; i++)
        cr_expect_eq(made.job.tasks[i].inputs[0], 1, "of those specified");
}

/* --- operations --- */

static const struct performance_place places[] = {
    {.id = "a", .machine_type = {"big", 3}, .configured = (double)NAN, .slot_s = 1},
    {.id = "b", .machine_type = {"big", 3}, .configured = (double)NAN, .slot_s = 1}};
static const size_t place[] = {0, 1};

/* `own`: observed by cluster b; `elsewhere`: somewhere in the team. made.n_operations: neither. */
static enum pv_code choose(size_t own, size_t elsewhere)
{
    const struct performance_terms terms = {.half_life_s = 3600, .points = 8};
    const struct performance_sample sample = {1000000, 10};
    const struct performance_ask ask = {.places = places,
                                        .n_places = 2,
                                        .operations = made.operations,
                                        .n_operations = made.n_operations,
                                        .terms = terms,
                                        .outage_half_life_s = 86400,
                                        .prior = {2592000, 600, 604800},
                                        .now_us = 1000000};
    struct performance observed;
    performance_init(&observed);
    performance_add(&observed, &terms, &sample);
    struct performance_book *book = performance_book_open(&ask, &arena);
    cr_assert_not_null(book);
    if (own < made.n_operations)
        cr_assert_eq(performance_book_add_processing(book, 1, own, &observed, &err), PV_OK);
    if (elsewhere < made.n_operations)
        cr_assert_eq(
            performance_book_pool_processing(book, elsewhere, strview_of("small"), &observed, &err),
            PV_OK);
    cr_assert_eq(performance_book_close(book, &err), PV_OK);
    return first_stage_job_choose_operations(&made, book, place, 2, &arena, &err);
}

Test(first_stage_job, the_nearer_observation_decides_the_operation)
{
    question.clusters = clusters;
    cr_assert_eq(first_stage_job_make(&question, stages, 1, 9, &arena, &made, &err), PV_OK);
    cr_assert_eq(choose(1, 0), PV_OK);
    cr_expect_eq(made.tasks[0].operation, 1, "the stage's own, observed by a cluster");
    cr_assert_eq(choose(0, 1), PV_OK);
    cr_expect_eq(made.tasks[0].operation, 0, "the application was observed nearer");
}

Test(first_stage_job, what_nobody_observed_is_refused)
{
    cr_assert_eq(first_stage_job_make(&question, stages, 1, 9, &arena, &made, &err), PV_OK);
    cr_expect_eq(choose(9, 9), PV_E_TOO_FEW);
    cr_expect_not_null(strstr(err.detail, "(scan; sort)"));
}
