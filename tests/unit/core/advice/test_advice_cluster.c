/* How the cluster that a question names bounds the advice and prices it. */
#include <criterion/criterion.h>
#include <math.h>

#include "core/advice/advice_cluster.h"

static struct arena arena;
static struct advice_question question;
static struct cluster named;
static struct advice_cluster taken;
static struct pv_error err;
static const struct advice_limits limits = {.executors = 500, .cores = 4000};
static const struct price_found of_machine = {
    .currency = {"EUR", 3},
    .row = {.machine_type = {"m5", 2},
            .price = {.per_executor_hour = 0.5,
                      .spot_per_executor_hour = (double)NAN,
                      .interruptions_per_hour = (double)NAN,
                      .per_machine_hour = (double)NAN,
                      .spot_per_machine_hour = (double)NAN}}};

static void set_up(void)
{
    arena_init(&arena, 0);
    err = (struct pv_error){0};
    question =
        (struct advice_question){.cluster = strview_of("lab"),
                                 .problem_size = (double)NAN,
                                 .cores_per_executor = RUN_UNKNOWN,
                                 .cluster_cores = RUN_UNKNOWN,
                                 .price = price_of_executors((double)NAN, (double)NAN, (double)NAN),
                                 .goal = {.min_executors = 1,
                                          .max_executors = 500,
                                          .deadline_s = (double)NAN,
                                          .confidence = 0.95,
                                          .billing = {.per_hour = (double)NAN},
                                          .max_cost = (double)NAN}};
    named = (struct cluster){
        .name = strview_of("lab"),
        .price_book = strview_of("prices"),
        .traits = {.executors = 12, .cores_per_executor = 4, .machine_type = strview_of("m5")},
        .version = 3};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(advice_cluster, .init = set_up, .fini = tear_down);

static enum pv_code apply(const struct price_found *price)
{
    return advice_cluster_apply(&named, price, &limits, &question, &taken, &err);
}

Test(advice_cluster, its_size_bounds_the_question)
{
    cr_assert_eq(apply(NULL), PV_OK);
    cr_expect_eq(question.goal.max_executors, 12);
    cr_expect_eq(question.cores_per_executor, 4);
    cr_expect_eq(question.cluster_cores, RUN_UNKNOWN, "only running jobs need it");
    question.goal.max_executors = 5;
    cr_assert_eq(apply(NULL), PV_OK);
    cr_expect_eq(question.goal.max_executors, 5, "the lesser of both");
}

/* 48 cores hold 6 executors of 8. */
Test(advice_cluster, larger_executors_are_fewer)
{
    question.cores_per_executor = 8;
    cr_assert_eq(apply(NULL), PV_OK);
    cr_expect_eq(question.goal.max_executors, 6);
    cr_expect_eq(question.cores_per_executor, 8);
    question.cores_per_executor = 49;
    cr_expect_eq(apply(NULL), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/constraints/cores_per_executor");
}

Test(advice_cluster, what_it_has_not_is_refused_where_it_stands)
{
    question.goal.min_executors = 13;
    cr_expect_eq(apply(NULL), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/constraints/min_executors");
    err = (struct pv_error){0};
    named.traits.executors = 2000;
    question.goal.min_executors = 1;
    cr_expect_eq(apply(NULL), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/constraints/cluster");
}

/* With running jobs the size must be known, from the cluster or from the request. */
Test(advice_cluster, running_jobs_need_its_cores)
{
    static struct advice_running running[] = {{.memory_bytes = RUN_UNKNOWN}};
    question.running = running;
    question.n_running = 1;
    cr_assert_eq(apply(NULL), PV_OK);
    cr_expect_eq(question.cluster_cores, 48);
    cr_expect_eq(question.launches.bytes, 0, "memory does not count");
    named.traits.executors = RUN_UNKNOWN;
    question.has_max_executors = true;
    cr_assert_eq(apply(NULL), PV_OK);
    cr_expect_eq(question.cluster_cores, RUN_UNKNOWN);
    question.has_max_executors = false;
    cr_expect_eq(apply(NULL), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].code, "cluster_attribute_missing");
}

/* 12 executors of 2 GiB; what other jobs leave free counts only next to jobs that were advised. */
Test(advice_cluster, memory_is_that_of_the_cluster_or_what_is_free)
{
    static const int64_t gib = INT64_C(1) << 30;
    struct advice_running running[] = {{.memory_bytes = 5 * gib}};
    question.running = running;
    question.n_running = 1;
    question.free_memory_bytes = 10 * gib;
    named.traits.memory_bytes_per_executor = 2 * gib;
    cr_assert_eq(apply(NULL), PV_OK);
    cr_expect_eq(question.launches.bytes, 24 * gib);
    question.running_from = RUNNING_ADVISED;
    cr_assert_eq(apply(NULL), PV_OK);
    cr_expect_eq(question.launches.bytes, 10 * gib);
    running[0].memory_bytes = 11 * gib;
    cr_expect_eq(apply(NULL), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/running/0/memory_bytes");
    question.free_memory_bytes = RUN_UNKNOWN;
    cr_assert_eq(apply(NULL), PV_OK);
    cr_expect_eq(question.launches.bytes, 24 * gib);
}

Test(advice_cluster, a_price_in_the_question_overrides_the_book)
{
    cr_assert_eq(apply(&of_machine), PV_OK);
    cr_expect_eq(taken.pricing.source, PRICING_OF_MACHINE_TYPE);
    cr_expect_str_eq(taken.pricing.subject, "m5");
    cr_expect_str_eq(taken.pricing.book, "prices");
    cr_expect_float_eq(taken.pricing.price.per_executor_hour, 0.5, 0);
    question.has_price = true;
    question.price = price_of_executors(2, (double)NAN, (double)NAN);
    cr_assert_eq(apply(&of_machine), PV_OK);
    cr_expect_eq(taken.pricing.source, PRICING_OF_REQUEST);
    cr_expect_float_eq(taken.pricing.price.per_executor_hour, 2, 0);
}

/* Term by term: what the question leaves open stays the book's. */
Test(advice_cluster, terms_of_billing_override_the_book)
{
    struct price_found found = of_machine;
    found.row.price = price_of_executors(0.5, (double)NAN, (double)NAN);
    found.row.price.startup_billed_s = 90;
    found.row.price.minimum_billed_s = 60;
    question.price.minimum_billed_s = 0;
    question.price.billing_increment_s = 3600;
    cr_assert_eq(apply(&found), PV_OK);
    cr_expect_eq(taken.pricing.source, PRICING_OF_MACHINE_TYPE);
    cr_expect_eq(taken.pricing.price.per_executor_hour, 0.5);
    cr_expect_eq(taken.pricing.price.startup_billed_s, 90);
    cr_expect_eq(taken.pricing.price.minimum_billed_s, 0);
    cr_expect_eq(taken.pricing.price.billing_increment_s, 3600);
}

Test(advice_cluster, a_limit_of_cost_needs_a_price)
{
    question.goal.max_cost = 10;
    cr_expect_eq(apply(NULL), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/constraints/max_cost");
    err = (struct pv_error){0};
    cr_expect_eq(apply(&of_machine), PV_OK);
}

Test(advice_cluster, without_a_cluster_there_is_only_the_price)
{
    cr_assert_eq(advice_cluster_apply(NULL, NULL, &limits, &question, &taken, &err), PV_OK);
    cr_expect(!taken.is_named && !taken.pricing.has_price);
    cr_expect_eq(question.goal.max_executors, 500);
}

Test(advice_cluster, bounds_and_a_missing_price_are_reported)
{
    struct advice advice = {.reasons = {.arena = &arena}, .warnings = {.arena = &arena}};
    cr_assert_eq(apply(NULL), PV_OK);
    cr_assert_eq(advice_cluster_explain(&taken, &question, &advice, &err), PV_OK);
    cr_assert_eq(advice.reasons.n, 1);
    cr_expect_str_eq(
        advice.reasons.items[0].message,
        "The cluster \"lab\" has 12 executors of 4 cores; advice considers at most 12.");
    cr_assert_eq(advice.warnings.n, 1);
    cr_expect_str_eq(advice.warnings.items[0].code, "no_price");
}

Test(advice_cluster, one_executor_of_one_core_is_told_as_such)
{
    struct advice advice = {.reasons = {.arena = &arena}, .warnings = {.arena = &arena}};
    cr_assert_eq(apply(NULL), PV_OK);
    taken.cluster.traits.executors = 1;
    taken.cluster.traits.cores_per_executor = 1;
    cr_assert_eq(advice_cluster_explain(&taken, &question, &advice, &err), PV_OK);
    cr_expect_not_null(strstr(advice.reasons.items[0].message, "has 1 executor of 1 core;"), "%s",
                       advice.reasons.items[0].message);
}
