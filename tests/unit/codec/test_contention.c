#include "codec/deadlines/contention.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct codec_contention_limits limits = {.applications = 4, .cores = 1000};
static const struct codec_bounds bounds = {.depth = 64, .values = 1000000};

/* What a body decodes to; lives until the next one. */
static struct codec_contention asked;
static struct pv_error err;
static struct arena arena;

static enum pv_code decode(const char *body)
{
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    struct codec_document document;
    PV_TRY(codec_open(&document, body, strlen(body), &bounds, &arena, &err));
    codec_contention_decode(&document.top, &limits, &asked);
    return codec_close(&document);
}

Test(codec_contention, the_defaults_are_those_of_the_design)
{
    cr_assert_eq(decode("{\"max_cores\": 16, \"applications\": ["
                        "{\"name\": \"A\", \"requested_cores\": 3, \"nominal_rate\": null}]}"),
                 PV_OK);
    cr_expect_str_eq(asked.strategy->name, "proportional");
    cr_expect(asked.terms.gamma == 1 && asked.terms.max_cores == 16);
    cr_expect(asked.applications[0].requested_cores == 3 &&
              isnan(asked.applications[0].nominal_rate));
}

/* What a strategy needs, and that it needs no more. */
Test(codec_contention, each_strategy_asks_for_what_it_needs)
{
    static const struct {
        const char *strategy;
        const char *needs[3];
    } rows[] = {{"edf_all", {"time_to_complete_s", "remaining_tasks", NULL}},
                {"edf_pure", {"time_to_complete_s", NULL}},
                {"edf_proportional", {"time_to_complete_s", NULL}},
                {"proportional", {NULL}},
                {"speed", {"nominal_rate", NULL}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[400];
        char more[200] = "";
        char at[64];
        size_t n = 0;
        for (; rows[i].needs[n] != NULL; n++)
            (void)snprintf(more + strlen(more), sizeof more - strlen(more), ", \"%s\": 5",
                           rows[i].needs[n]);
        static const char format[] = "{\"strategy\": \"%s\", \"max_cores\": 16, \"applications\": "
                                     "[{\"name\": \"A\", \"requested_cores\": 3%s}]}";
        (void)snprintf(body, sizeof body, format, rows[i].strategy, more);
        cr_expect_eq(decode(body), PV_OK, "%s", body);
        (void)snprintf(body, sizeof body, format, rows[i].strategy, "");
        cr_expect_eq(decode(body), n == 0 ? PV_OK : PV_E_INVALID, "%s", body);
        cr_expect_eq(err.n_faults, n, "%s", body);
        for (size_t k = 0; k < n; k++) {
            (void)snprintf(at, sizeof at, "/applications/0/%s", rows[i].needs[k]);
            cr_expect_str_eq(err.faults[k].at, at);
        }
    }
}

#define ONE "\"applications\": [{\"name\": \"A\", \"requested_cores\": 3}]"

static const struct {
    char body[300];
    char at[64];
    char code[24];
} refused[] = {
    {"{" ONE "}", "/max_cores", "required"},
    {"{\"max_cores\": 0, " ONE "}", "/max_cores", "out_of_range"},
    {"{\"max_cores\": 1001, " ONE "}", "/max_cores", "out_of_range"},
    {"{\"max_cores\": 8}", "/applications", "required"},
    {"{\"max_cores\": 8, \"applications\": []}", "/applications", "too_few_items"},
    {"{\"max_cores\": 8, \"applications\": [1, 2, 3, 4, 5]}", "/applications", "too_many_items"},
    {"{\"max_cores\": 8, \"applications\": [1]}", "/applications/0", "wrong_type"},
    {"{\"max_cores\": 8, \"gamma\": 1.5, " ONE "}", "/gamma", "out_of_range"},
    {"{\"max_cores\": 8, \"gamma\": null, " ONE "}", "/gamma", "wrong_type"},
    {"{\"max_cores\": 8, \"strategy\": \"edf_best\", " ONE "}", "/strategy", "not_allowed"},
    {"{\"max_cores\": 8, \"average_nominal_rate\": 0, " ONE "}", "/average_nominal_rate",
     "out_of_range"},
    {"{\"max_cores\": 8, \"quantum\": 1, " ONE "}", "/quantum", "unknown_field"},
    {"{\"max_cores\": 8, \"applications\": [{\"name\": \"A\"}]}", "/applications/0/requested_cores",
     "required"},
    {"{\"max_cores\": 8, \"applications\": [{\"requested_cores\": 1}]}", "/applications/0/name",
     "required"},
    {"{\"max_cores\": 8, \"applications\": [{\"name\": \"A\", \"requested_cores\": true}]}",
     "/applications/0/requested_cores", "wrong_type"},
    {"{\"max_cores\": 8, \"applications\": [{\"name\": \"A\", \"requested_cores\": -1}]}",
     "/applications/0/requested_cores", "out_of_range"},
    {"{\"max_cores\": 8, \"applications\": [{\"name\": \"A\", \"requested_cores\": 1,"
     " \"remaining_tasks\": 1.5}]}",
     "/applications/0/remaining_tasks", "wrong_type"},
    {"{\"max_cores\": 8, \"applications\": [{\"name\": \"A\", \"requested_cores\": 1,"
     " \"cores\": 1}]}",
     "/applications/0/cores", "unknown_field"},
    {"{\"max_cores\": 8, \"applications\": [{\"name\": \"A\", \"requested_cores\": 1},"
     " {\"name\": \"B\", \"requested_cores\": 1}, {\"name\": \"A\", \"requested_cores\": 1}]}",
     "/applications/2/name", "duplicate"},
    {"{\"max_cores\": 8, \"strategy\": \"speed\", \"applications\": [{\"name\": \"A\","
     " \"requested_cores\": 1, \"nominal_rate\": 0}]}",
     "/applications/0/nominal_rate", "out_of_range"},
};

Test(codec_contention, faults_are_named_with_their_place)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        cr_expect_eq(decode(refused[i].body), PV_E_INVALID, "%s", refused[i].body);
        cr_expect_eq(err.n_faults, 1, "%s", refused[i].body);
        cr_expect_str_eq(err.faults[0].at, refused[i].at, "%s", refused[i].body);
        cr_expect_str_eq(err.faults[0].code, refused[i].code, "%s", refused[i].body);
    }
}

Test(codec_contention, an_unknown_rate_is_0_for_who_does_not_divide_by_it)
{
    cr_expect_eq(decode("{\"max_cores\": 8, \"applications\": [{\"name\": \"A\","
                        " \"requested_cores\": 1, \"nominal_rate\": 0}]}"),
                 PV_OK);
}

Test(codec_contention, the_reply_has_no_weight_where_there_is_none)
{
    cr_assert_eq(decode("{\"max_cores\": 8, \"applications\": ["
                        "{\"name\": \"A\", \"requested_cores\": 3}]}"),
                 PV_OK);
    const struct contention_share share = {NAN, 8, 5.5};
    const struct contention_outcome outcome = {3, false};
    struct writer w;
    writer_init(&w, &arena);
    const struct findings reasons = {.arena = &arena};
    codec_contention_encode(&w, &asked, &share, &outcome, &reasons);
    size_t n;
    cr_expect_str_eq(writer_finish(&w, &n),
                     "{\"contention\":false,\"requested_cores\":3,\"allocations\":[{\"name\":\"A\","
                     "\"weight\":null,\"saturating_cores\":8,\"cores\":5.5}],\"reasons\":[]}");
}
