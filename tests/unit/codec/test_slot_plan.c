/* Requests and replies of POST /v1/slot-plans. */
#include "codec/scheduling/slot_plan.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct codec_slot_plan_limits limits = {.jobs = 3, .splits = 100};
static const struct codec_bounds bounds = {.depth = 16, .values = 1000};

static struct codec_slot_plan asked;
static struct pv_error err;
static struct arena arena;

static enum pv_code decode(const char *body)
{
    struct codec_document document;
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    PV_TRY(codec_open(&document, body, strlen(body), &bounds, &arena, &err));
    codec_slot_plan_decode(&document.top, &limits, &asked);
    return codec_close(&document);
}

static void expect_fault(size_t i, const char *at, const char *code)
{
    cr_assert_gt(err.n_faults, i, "no fault at %s", at);
    cr_expect_str_eq(err.faults[i].at, at);
    cr_expect_str_eq(err.faults[i].code, code, "at %s", at);
}

#define A "{\"name\": \"A\", \"maps\": 4, \"map_task_s\": 3, \"reduces\": 2, \"reduce_task_s\": 5}"
#define B "{\"name\": \"B\", \"maps\": 4, \"map_task_s\": 3}"

Test(codec_slot_plan, what_is_not_sent_is_not_asked_for)
{
    struct fresh_plan_terms terms;
    cr_assert_eq(decode("{\"slots\": 4, \"concurrency\": 1, \"jobs\": [" A ", " B "]}"), PV_OK);
    cr_assert_eq(codec_slot_plan_take(&asked, &arena, &terms, &err), PV_OK);
    cr_expect(terms.nodes == 0 && terms.n_sweep == 0 && isnan(terms.profile_error));
    cr_expect(!terms.johnson && terms.jobs[0].reduce_s == 10 && terms.jobs[1].reduce_s == 0);
}

Test(codec_slot_plan, all_that_is_sent_arrives)
{
    struct fresh_plan_terms terms;
    cr_assert_eq(decode("{\"slots\": 4, \"nodes\": 2, \"concurrency\": 1, \"order\": \"johnson\", "
                        "\"sweep\": [3, 1], \"profile_error_percent\": 25, \"jobs\": [" A "]}"),
                 PV_OK);
    cr_assert_eq(codec_slot_plan_take(&asked, &arena, &terms, &err), PV_OK);
    cr_expect(terms.nodes == 2 && terms.johnson && terms.profile_error == 0.25);
    cr_expect(terms.n_sweep == 2 && terms.sweep[0] == 3 && terms.sweep[1] == 1);
}

Test(codec_slot_plan, faults_across_members)
{
    cr_expect_eq(decode("{\"slots\": 1, \"nodes\": 2, \"concurrency\": 1, \"jobs\": [" A ", " A
                        ", {\"name\": \"C\", \"application\": \"x\", \"maps\": 2}]}"),
                 PV_E_INVALID);
    expect_fault(0, "/jobs/2/application", "conflict");
    expect_fault(1, "/jobs/1/name", "duplicate");
    expect_fault(2, "/slots", "out_of_range");
    expect_fault(3, "/nodes", "not_allowed");
    cr_expect_eq(
        decode("{\"slots\": 40, \"concurrency\": 1, \"sweep\": [1], \"jobs\": [" A ", " B "]}"),
        PV_E_INVALID);
    expect_fault(0, "/slots", "out_of_range");
}

Test(codec_slot_plan, a_profile_with_reduces_needs_two_slots)
{
    static const struct codec_slot_profile profile = {.tasks = {4, 3, 2, 5}};
    struct fresh_plan_terms terms;
    cr_assert_eq(decode("{\"slots\": 1, \"concurrency\": 1, \"jobs\": [{\"name\": \"A\", "
                        "\"application\": \"x\"}]}"),
                 PV_OK);
    asked.jobs[0].profile = &profile;
    cr_expect_eq(codec_slot_plan_take(&asked, &arena, &terms, &err), PV_E_INVALID);
    expect_fault(0, "/slots", "out_of_range");
}

Test(codec_slot_plan, a_changed_graph_is_warned_of_once)
{
    static const struct codec_slot_profile profile = {
        .tasks = {4, 3, 2, 5}, .n_runs = 3, .graph_changed = true};
    const struct fresh_plan plan = {.per_node = {.map_slots = 0}};
    struct findings warnings;
    cr_assert_eq(
        decode("{\"slots\": 4, \"nodes\": 4, \"concurrency\": 1, \"jobs\": [{\"name\": "
               "\"A\", \"application\": \"x\"}, {\"name\": \"B\", \"application\": \"x\"}]}"),
        PV_OK);
    asked.jobs[0].profile = asked.jobs[1].profile = &profile;
    warnings = (struct findings){.arena = &arena};
    codec_slot_plan_warn(&asked, &plan, &warnings);
    cr_assert_eq(warnings.n, 2);
    cr_expect_str_eq(warnings.items[0].code, "no_split_per_node");
    cr_expect_str_eq(warnings.items[1].code, "graph_changed");
    cr_expect_eq(finding_value(&warnings.items[1], "runs"), 3);
}
