#include "codec/deadlines/control.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct codec_control_limits limits = {
    .set = {.jobs = 3, .stages = 4, .tasks = 100, .cores = 64},
    .repetitions = 10,
    .simulations = 100};
static const struct codec_bounds bounds = {.depth = 64, .values = 1000000};

/* What a body decodes to; lives until the next one. */
static struct codec_control asked;
static struct pv_error err;
static struct arena arena;

static enum pv_code decode(const char *body)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    struct codec_document document;
    PV_TRY(codec_open(&document, body, strlen(body), &bounds, &arena, &err));
    codec_control_decode(&document.top, &limits, &asked);
    return codec_close(&document);
}

#define CLUSTER "\"cluster\": {\"executors\": 2, \"cores_per_executor\": 8}"
#define STAGES "\"stages\": [{\"id\": 0, \"tasks\": 4, \"task_duration_s\": 2}]"
#define JOB "{\"name\": \"A\", \"deadline_s\": 60, " STAGES "}"
#define RATED "{\"name\": \"A\", \"deadline_s\": 60, \"nominal_rate\": 5, " STAGES "}"

Test(codec_control, the_defaults_are_those_of_the_thesis)
{
    cr_assert_eq(decode("{" CLUSTER ", \"jobs\": [" JOB "]}"), PV_OK);
    cr_expect_eq(asked.set.cores, 16);
    cr_expect_eq(asked.set.size.executors, 2);
    cr_expect_eq(asked.terms[0].alpha, 0.95);
    cr_expect(isnan(asked.terms[0].nominal_rate));
    cr_expect_eq(asked.strategies, 15, "all but speed, which needs rates");
    cr_expect_eq(asked.n_gammas, 2);
    cr_expect(asked.gammas[0] == 0 && asked.gammas[1] == 1);
    cr_expect_eq(codec_control_runs(&asked), 8);
    cr_expect_eq(asked.options.controller.gain, 50);
    cr_expect_eq(asked.options.controller.integral_time_s, 12);
    cr_expect_eq(asked.options.controller.sample_s, 1);
    cr_expect_eq(asked.options.controller.core_quantum, 0.05);
    cr_expect_eq(asked.options.beta, 0.33);
    cr_expect_eq(asked.options.seed, 1);
    cr_expect_not(asked.with_traces);
    cr_assert_eq(decode("{" CLUSTER ", \"jobs\": [" RATED "]}"), PV_OK);
    cr_expect_eq(asked.strategies, 31);
}

/* What is stored for an operation says the same as what was sent. */
Test(codec_control, what_is_written_reads_back_the_same)
{
    struct writer w;
    size_t n;
    static char first[4000];
    cr_assert_eq(
        decode(
            "{" CLUSTER ", \"jobs\": [" RATED
            ", {\"name\": \"B\", \"release_s\": -3, \"deadline_s\": 9, \"alpha\": 0.5, "
            "\"nominal_rate\": 2, \"application\": \"etl\", \"problem_size\": 12}, "
            "{\"name\": \"C\", \"deadline_s\": 9, \"nominal_rate\": 2, \"overhead_per_task_s\": 1, "
            "\"stages\": [{\"id\": 7, \"parents\": [3], \"task_durations_s\": [1, 2.5]}, "
            "{\"id\": 3, \"tasks\": 0, \"task_duration_s\": 1}]}], "
            "\"strategies\": [\"speed\", \"edf_all\"], \"gammas\": [1, 0.25], "
            "\"controller\": {\"gain\": 20, \"sample_s\": 2, \"core_min\": 0.1}, "
            "\"actuation_delay_s\": 1.5, \"duration_noise\": 0.1, \"seed\": 9, "
            "\"include\": [\"traces\"]}"),
        PV_OK);
    writer_init(&w, &arena);
    codec_control_encode(&w, &asked);
    const char *text = writer_finish(&w, &n);
    cr_assert(text != NULL && n < sizeof first);
    memcpy(first, text, n);
    first[n] = '\0';
    cr_assert_eq(decode(first), PV_OK, "%s", err.detail);
    cr_expect_eq(asked.strategies, 17);
    cr_expect(asked.gammas[0] == 1 && asked.gammas[1] == 0.25);
    cr_expect_eq(asked.set.sources[1].problem_size, 12);
    cr_expect_eq(asked.set.jobs[2].stages[1].n_parents, 1);
    cr_expect(asked.with_traces);
    writer_init(&w, &arena);
    codec_control_encode(&w, &asked);
    text = writer_finish(&w, &n);
    cr_assert_not_null(text);
    cr_expect(n == strlen(first) && memcmp(first, text, n) == 0, "%.*s", (int)n, text);
}

Test(codec_control, penalties_and_what_is_stored_of_them)
{
    struct writer w;
    size_t n;
    static char stored[4000];
    cr_assert_eq(decode("{" CLUSTER ", \"jobs\": [" JOB "]}"), PV_OK);
    cr_expect_null(asked.stakes);
    cr_assert_eq(
        decode("{" CLUSTER ", \"jobs\": [" JOB
               ", {\"name\": \"B\", \"deadline_s\": 9, \"penalty\": "
               "\"strict\", \"weight\": 2.5, " STAGES "}], \"penalty\": \"fair\", "
               "\"duration_noise\": 0.1, \"repetitions\": 3, \"search\": {\"over\": [\"gain\", "
               "\"alpha\"]}}"),
        PV_OK);
    for (int again = 0; again < 2; again++) {
        cr_expect_eq(asked.stakes[0].penalty, CONTROL_FAIR);
        cr_expect_eq(asked.stakes[0].weight, 1);
        cr_expect_eq(asked.stakes[1].penalty, CONTROL_STRICT);
        cr_expect_eq(asked.stakes[1].weight, 2.5);
        cr_expect_eq(asked.repetitions, 3);
        cr_expect_eq(asked.search.over, 1u << CONTROL_ALPHA | 1u << CONTROL_GAIN);
        cr_expect_eq(asked.search.simulations, 100, "as many as the limits allow");
        writer_init(&w, &arena);
        codec_control_encode(&w, &asked);
        const char *text = writer_finish(&w, &n);
        cr_assert(text != NULL && n < sizeof stored);
        memcpy(stored, text, n);
        stored[n] = '\0';
        cr_assert_eq(decode(stored), PV_OK, "%s", err.detail);
    }
}

static const struct {
    char body[400];
    char at[64];
    char code[24];
} refused[] = {
    {"{" CLUSTER "}", "/jobs", "required"},
    {"{\"jobs\": [" JOB "]}", "/cluster", "required"},
    {"{\"cluster\": {\"executors\": 9, \"cores_per_executor\": 8}, \"jobs\": [" JOB "]}",
     "/cluster", "out_of_range"},
    {"{" CLUSTER ", \"jobs\": [" JOB ", " JOB "]}", "/jobs/1/name", "duplicate"},
    {"{" CLUSTER ", \"jobs\": [{\"name\": \"A\", \"deadline_s\": 60, \"stages\": [{\"id\": 0, "
     "\"tasks\": 101, \"task_duration_s\": 1}]}]}",
     "/jobs/0/stages/0/tasks", "out_of_range"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"strategies\": [\"edf\"]}", "/strategies/0",
     "not_allowed"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"strategies\": [\"speed\"]}", "/jobs/0/nominal_rate",
     "required"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"gammas\": [0, 0]}", "/gammas/1", "duplicate"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"gammas\": null}", "/gammas", "wrong_type"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"gammas\": [1e-9, 1.000000001]}", "/gammas/1",
     "out_of_range"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"controller\": {\"sample_s\": 2}, "
     "\"actuation_delay_s\": 3}",
     "/actuation_delay_s", "out_of_range"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"include\": [\"trace\"]}", "/include/0", "not_allowed"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"penalty\": \"soft\"}", "/penalty", "not_allowed"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"search\": {}}", "/penalty", "required"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"penalty\": \"slow_first\"}", "/jobs/0/nominal_rate",
     "required"},
    {"{" CLUSTER ", \"jobs\": [" JOB "], \"penalty\": \"fair\", \"repetitions\": 2}",
     "/repetitions", "out_of_range"},
};

Test(codec_control, faults_say_where)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        cr_expect_neq(decode(refused[i].body), PV_OK, "%s", refused[i].body);
        cr_assert_eq(err.n_faults, 1, "%s: %zu faults", refused[i].body, err.n_faults);
        cr_expect_str_eq(err.faults[0].at, refused[i].at, "%s: %s", refused[i].body,
                         err.faults[0].at);
        cr_expect_str_eq(err.faults[0].code, refused[i].code, "%s: %s", refused[i].body,
                         err.faults[0].code);
    }
}
