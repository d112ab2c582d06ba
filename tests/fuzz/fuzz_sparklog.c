/*
 * Any bytes as an event log: no crash, no memory beyond the limit, nothing negative, valid UTF-8
 * only, and the same run whether the bytes come at once or in pieces.
 */
#include <math.h>
#include <string.h>

#include "core/joblog/spark/sparklog.h"
#include "fuzz.h"
#include "run_text.h"

static const struct joblog_limits limits = {
    .line_bytes = 4096, .stages = 64, .tasks = 512, .memory_bytes = 1 << 20};

static void require_sane(const struct run *run)
{
    FUZZ_REQUIRE(isnan(run->duration_s) || run->duration_s >= 0);
    FUZZ_REQUIRE(isnan(run->initialization_s) || run->initialization_s >= 0);
    FUZZ_REQUIRE(run->task_time_s >= 0 && run->failed_task_time_s >= 0);
    FUZZ_REQUIRE(run->n_stages <= limits.stages);
    FUZZ_REQUIRE(strview_is_utf8(run->spark_application_id));
    FUZZ_REQUIRE(strview_is_utf8(run->spark_attempt_id) && strview_is_utf8(run->spark_version));
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        FUZZ_REQUIRE(isnan(stage->duration_s) || stage->duration_s >= 0);
        FUZZ_REQUIRE(isnan(stage->started_s) || stage->started_s >= 0);
        FUZZ_REQUIRE(strview_is_utf8(stage->name));
        FUZZ_REQUIRE(i == 0 || stage->id > run->stages[i - 1].id);
        for (int64_t k = 0; k < stage->n_tasks; k++) {
            FUZZ_REQUIRE(stage->task_durations_s[k] >= 0);
            FUZZ_REQUIRE(stage->task_nodes == NULL || stage->task_nodes[k] < (int64_t)run->n_nodes);
        }
        for (size_t k = 0; k < stage->n_parents; k++)
            FUZZ_REQUIRE(stage->parents[k] < stage->id);
    }
}

/* The run as text, or the code in place of one. */
static char *read(const uint8_t *data, size_t n, size_t piece, enum pv_code *code)
{
    struct log_reader *log = log_reader_create(&sparklog_kind, &limits);
    FUZZ_REQUIRE(log != NULL);
    struct arena arena;
    arena_init(&arena, 0);
    struct run run;
    char *text = NULL;
    *code = PV_OK;
    for (size_t at = 0; at < n && *code == PV_OK; at += piece)
        *code =
            log_reader_feed(log, (const char *)data + at, n - at < piece ? n - at : piece, NULL);
    if (*code == PV_OK)
        *code = log_reader_finish(log, &arena, &run, NULL);
    if (*code == PV_OK) {
        require_sane(&run);
        text = run_text(&run);
    }
    arena_fini(&arena);
    log_reader_destroy(log);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    enum pv_code whole_code;
    enum pv_code pieces_code;
    char *whole = read(data, n, n > 0 ? n : 1, &whole_code);
    char *pieces = read(data, n, 1 + (n > 0 ? data[n - 1] % 31U : 0), &pieces_code);
    /* Only the memory that pieces are gathered in may tell the two apart. */
    if (whole_code != PV_E_LIMIT && pieces_code != PV_E_LIMIT) {
        FUZZ_REQUIRE(whole_code == pieces_code);
        FUZZ_REQUIRE((whole == NULL) == (pieces == NULL));
        FUZZ_REQUIRE(whole == NULL || strcmp(whole, pieces) == 0);
    }
    free(whole);
    free(pieces);
    return 0;
}
