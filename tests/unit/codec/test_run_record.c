#include "codec/history/run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const struct codec_run_limits limits = {.stages = 10, .tasks = 100, .labels = 5};

static enum pv_code
decode(struct arena *arena, const char *text, struct run *run, struct pv_error *err)
{
    const struct codec_bounds bounds = {.depth = 16, .values = 1000};
    pv_error_clear(err);
    struct codec_document document;
    PV_TRY(codec_open(&document, text, strlen(text), &bounds, arena, err));
    codec_run_decode_record(&document.top, &limits, run);
    return codec_close(&document);
}

static const char *encode(struct arena *arena, const struct run *run)
{
    size_t n;
    struct writer w;
    writer_init(&w, arena);
    codec_run_encode(&w, run, strview_of("x"), CODEC_RUN_TASKS | CODEC_RUN_RECORD);
    return writer_finish(&w, &n);
}

/* What was written is read and written again to the same bytes, nulls and all: also where a value
 * could be worked out from the others. */
Test(run_record, goes_round)
{
    static const char *const lines[] = {
        "{\"id\":\"0190d4a0-0000-7000-8000-000000000000\",\"duration_s\":null}",
        "{\"id\":\"0190d4a0-0000-7000-8000-000000000000\",\"duration_s\":0,\"spark_application_"
        "id\":\"a\",\"exit_code\":-1,\"log_complete\":false}",
        "{\"id\":\"0190d4a0-0000-7000-8000-000000000000\",\"duration_s\":0.30000000000000004,"
        "\"recorded_at\":\"2026-01-05T10:00:00.000001Z\",\"stages\":[{\"id\":3,\"parents\":[1],"
        "\"task_durations_s\":[1,2],\"task_duration_s\":1.5,\"task_time_s\":null,"
        "\"nominal_rate_per_s\":null,\"input_records\":7},{\"id\":1,\"tasks\":0}]}",
        "{\"id\":\"0190d4a0-0000-7000-8000-000000000000\",\"duration_s\":5,\"stages\":[{\"id\":0,"
        "\"tasks\":2,\"task_duration_s\":null,"
        "\"task_time_s\":3}]}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct arena arena;
        struct pv_error err;
        struct run run;
        arena_init(&arena, 0);
        cr_assert_eq(decode(&arena, lines[i], &run, &err), PV_OK, "%s", err.faults[0].detail);
        const char *first = encode(&arena, &run);
        cr_assert_eq(decode(&arena, first, &run, &err), PV_OK, "%s: %s", first, err.faults[0].at);
        cr_assert_str_eq(encode(&arena, &run), first);
        arena_fini(&arena);
    }
}

/* A member that is there stays as it is, null included; one that is missing is worked out. */
Test(run_record, works_out_only_what_is_missing)
{
    struct arena arena;
    struct pv_error err;
    struct run run;
    arena_init(&arena, 0);
    cr_assert_eq(decode(&arena,
                        "{\"duration_s\":9,\"stages\":[{\"id\":0,\"task_durations_s\":[2,4],"
                        "\"input_records\":12},{\"id\":1,\"task_durations_s\":[2,4],"
                        "\"input_records\":12,\"task_time_s\":null,\"task_duration_s\":null,"
                        "\"nominal_rate_per_s\":null}]}",
                        &run, &err),
                 PV_OK);
    cr_assert(run.stages[0].task_time_s == 6 && run.stages[0].task_duration_s == 3 &&
              run.stages[0].nominal_rate_per_s == 2);
    cr_assert(isnan(run.stages[1].task_time_s) && isnan(run.stages[1].task_duration_s) &&
              isnan(run.stages[1].nominal_rate_per_s));
    arena_fini(&arena);
}

/* A log that began late may name parents it says nothing of; any other run may not. */
Test(run_record, parents_elsewhere)
{
    struct arena arena;
    struct pv_error err;
    struct run run;
    arena_init(&arena, 0);
    cr_assert_eq(decode(&arena,
                        "{\"duration_s\":9,\"jobs\":1,\"stages\":[{\"id\":4,\"parents\":[2]}]}",
                        &run, &err),
                 PV_OK);
    cr_assert(run.from_log && run.stages[0].n_parents == 1);
    cr_assert_eq(
        decode(&arena, "{\"duration_s\":9,\"stages\":[{\"id\":4,\"parents\":[2]}]}", &run, &err),
        PV_E_INVALID);
    cr_assert_str_eq(err.faults[0].at, "/stages/0/parents/0");
    arena_fini(&arena);
}
