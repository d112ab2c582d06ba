/* States of POST /v1/slot-decisions. */
#include "codec/scheduling/slot_decision.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct codec_slot_decision_limits limits = {.jobs = 3};
static const struct codec_bounds bounds = {.depth = 16, .values = 1000};

static struct codec_slot_decision asked;
static struct pv_error err;
static struct arena arena;

static enum pv_code decode(const char *body)
{
    struct codec_document document;
    arena_fini(&arena);
    arena_init(&arena, 0);
    pv_error_clear(&err);
    PV_TRY(codec_open(&document, body, strlen(body), &bounds, &arena, &err));
    codec_slot_decision_decode(&document.top, &limits, &asked);
    return codec_close(&document);
}

static void expect_fault(size_t i, const char *at, const char *code)
{
    cr_assert_gt(err.n_faults, i, "no fault at %s", at);
    cr_expect_str_eq(err.faults[i].at, at);
    cr_expect_str_eq(err.faults[i].code, code, "at %s", at);
}

#define FRESH(more, phase, finished, reduces)                                                      \
    "{\"kind\": \"fresh\", \"now_s\": 60, \"map_slots\": 3, \"reduce_slots\": 2, "                 \
    "\"concurrency\": 2, " more "\"jobs\": [{\"name\": \"A\", \"phase\": \"" phase                 \
    "\", \"started_s\": 0, \"maps\": 8, \"maps_finished\": " finished ", \"maps_running\": 0, "    \
    "\"map_task_s\": 2, \"reduces\": 4, \"reduces_finished\": 0, \"reduces_running\": " reduces    \
    ", \"reduce_task_s\": 3, \"task_time_s\": 9}]}"
#define OMO(more, job)                                                                             \
    "{\"kind\": \"omo\", " more "\"jobs\": [{\"name\": \"A\", \"maps\": 8, \"maps_finished\": 2, " \
    "\"maps_running\": 1, \"map_task_s\": 2, \"reduces\": 4, \"reduces_finished\": 0, "            \
    "\"reduces_running\": 0" job "}]}"
#define WINDOW "\"windows\": [{\"released\": 3, \"available_slots\": 9.5}], "

Test(codec_slot_decision, defaults_of_fresh)
{
    cr_assert_eq(decode(FRESH("", "map", "2", "0")), PV_OK);
    cr_expect(asked.kind == SLOT_DECISION_FRESH && asked.fresh.slots.total_slots == 6);
    cr_expect(asked.fresh.terms.tau1 == 0.8 && asked.fresh.terms.tau2 == 0.6);
    cr_expect(isnan(asked.fresh.slots.reduce_interval_s) && !asked.fresh.taken.recorded);
    cr_expect_eq(asked.fresh.slots.next_map_work_s, 0);
    cr_assert_eq(decode(FRESH("\"next_job\": {\"name\": \"B\", \"maps\": 5, \"map_task_s\": 2}, "
                              "\"total_slots\": 9, ",
                              "map", "2", "0")),
                 PV_OK);
    cr_expect(asked.fresh.slots.next_map_work_s == 10 && asked.fresh.slots.total_slots == 9);
}

Test(codec_slot_decision, phases_have_rules)
{
    cr_expect_eq(decode(FRESH("\"total_slots\": 5, ", "pending", "7", "1")), PV_E_INVALID);
    expect_fault(0, "/jobs/0/reduces_running", "out_of_range");
    expect_fault(1, "/jobs/0/maps_finished", "out_of_range");
    expect_fault(2, "/total_slots", "out_of_range");
    cr_expect_eq(decode(FRESH("", "reduce", "8", "4")), PV_OK);
    cr_expect_eq(decode(FRESH("", "reduce", "9", "5")), PV_E_INVALID);
    expect_fault(0, "/jobs/0/maps_finished", "out_of_range");
    expect_fault(1, "/jobs/0/reduces_running", "out_of_range");
}

Test(codec_slot_decision, defaults_of_omo)
{
    cr_assert_eq(decode(OMO(WINDOW, ", \"shuffle_s\": 4")), PV_OK);
    cr_expect(asked.omo.terms.lazy_start && asked.omo.terms.batch_finish);
    cr_expect(asked.omo.ema_weight == 0.5 && asked.omo.window_s == 10);
    cr_expect(asked.omo.terms.slow_start == 0.05 && isnan(asked.omo.previous.available_slots));
    cr_assert_eq(decode(OMO(WINDOW "\"techniques\": [], ", ", \"shuffle_s\": 4")), PV_OK);
    cr_expect(!asked.omo.terms.lazy_start && !asked.omo.terms.batch_finish);
}

Test(codec_slot_decision, a_shuffle_has_a_duration_or_bytes)
{
    cr_assert_eq(decode(OMO(WINDOW "\"bandwidth_bytes_per_s\": 2, ", ", \"map_output_bytes\": 6")),
                 PV_OK);
    cr_expect_eq(asked.omo.jobs[0].job.shuffle_s, 6);
    cr_expect_eq(decode(OMO(WINDOW, ", \"map_output_bytes\": 6")), PV_E_INVALID);
    expect_fault(0, "/jobs/0/shuffle_s", "required");
    cr_expect_eq(decode(OMO("", ", \"shuffle_s\": 1, \"map_output_bytes\": 6")), PV_E_INVALID);
    expect_fault(0, "/windows", "required");
    expect_fault(1, "/jobs/0/map_output_bytes", "conflict");
}

Test(codec_slot_decision, what_was_taken_is_compared)
{
    struct codec_slot_action action = {"map", {"A", 1}, "fair"};
    cr_assert_eq(
        decode(OMO(WINDOW "\"taken\": {\"slot\": \"map\", \"job\": null}, ", ", \"shuffle_s\": 4")),
        PV_OK);
    cr_expect(asked.omo.taken.recorded && codec_slot_taken_is(&asked.omo.taken, &action));
    action.slot = "reduce";
    cr_expect_not(codec_slot_taken_is(&asked.omo.taken, &action));
    cr_assert_eq(decode(OMO(WINDOW "\"taken\": {\"slot\": \"reduce\", \"job\": \"B\"}, ",
                            ", \"shuffle_s\": 4")),
                 PV_OK);
    cr_expect_not(codec_slot_taken_is(&asked.omo.taken, &action));
    cr_assert_eq(decode(OMO(WINDOW "\"taken\": null, ", ", \"shuffle_s\": 4")), PV_OK);
    cr_expect_not(asked.omo.taken.recorded);
}
