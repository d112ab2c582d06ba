/*
 * Any bytes as a trace, of the format that the first one says: no crash, no more tasks or memory
 * than is allowed, a fault that names its line, and the same chunks whether the bytes come at once
 * or in pieces. What was written is read again, and is as the summary counts.
 */
#include <math.h>
#include <string.h>

#include "core/workload/workload_import.h"
#include "core/workload/workload_load.h"
#include "fuzz.h"

static const struct workload_limits limits = {
    .jobs = 1000, .tasks = 5000, .job_tasks = 500, .line_bytes = 2048, .open_tasks = 256};

enum { CHUNKS_BYTES = 1 << 20, CHUNKS_MAX = 16, MEMORY = 16 << 20 };

struct outcome {
    enum pv_code code;
    char detail[sizeof((struct pv_error *)NULL)->detail];
    struct workload_summary summary;
    char *bytes;
    size_t ends[CHUNKS_MAX];
    size_t n_chunks;
};

static enum pv_code keep(void *context, struct strview chunk, struct pv_error *err)
{
    struct outcome *to = context;
    size_t from = to->n_chunks > 0 ? to->ends[to->n_chunks - 1] : 0;
    (void)err;
    FUZZ_REQUIRE(to->n_chunks < CHUNKS_MAX && from + chunk.n <= CHUNKS_BYTES);
    memcpy(to->bytes + from, chunk.at, chunk.n);
    to->ends[to->n_chunks++] = from + chunk.n;
    return PV_OK;
}

static void import(struct outcome *outcome,
                   enum workload_format format,
                   const char *text,
                   size_t n,
                   size_t piece,
                   struct arena *arena)
{
    const struct workload_terms terms = {format, workload_rates_default};
    const struct workload_sink sink = {keep, outcome};
    struct workload_import *import;
    struct pv_error err = {0};
    *outcome = (struct outcome){.bytes = arena_alloc(arena, CHUNKS_BYTES)};
    FUZZ_REQUIRE(workload_import_begin(&terms, &limits, &sink, arena, &import, &err) == PV_OK);
    for (size_t at = 0; at < n && outcome->code == PV_OK; at += piece) {
        struct strview part = {text + at, n - at < piece ? n - at : piece};
        outcome->code = workload_import_feed(import, part, &err);
    }
    if (outcome->code == PV_OK)
        outcome->code = workload_import_finish(import, arena, &outcome->summary, &err);
    workload_import_end(import);
    memcpy(outcome->detail, err.detail, sizeof outcome->detail);
    FUZZ_REQUIRE(outcome->code == PV_OK || outcome->code == PV_E_INVALID ||
                 outcome->code == PV_E_LIMIT);
    FUZZ_REQUIRE(outcome->code == PV_OK || strncmp(err.detail, "line ", 5) == 0 ||
                 strcmp(err.detail, "the trace is empty") == 0);
}

static void require_sane(const struct workload_jobs *jobs)
{
    double before_s = 0;
    for (size_t j = 0; j < jobs->n; j++) {
        double arrival_s =
            jobs->tasks != NULL ? jobs->tasks[j].arrival_s : jobs->slots[j].arrival_s;
        FUZZ_REQUIRE(arrival_s >= before_s && arrival_s <= 1e12);
        before_s = arrival_s;
        for (uint32_t t = 0; jobs->tasks != NULL && t < jobs->tasks[j].tasks; t++)
            FUZZ_REQUIRE(jobs->tasks[j].durations_s[t] > 0 &&
                         jobs->tasks[j].durations_s[t] <= 1e12);
        FUZZ_REQUIRE(jobs->slots == NULL || slots_job_size(&jobs->slots[j]) > 0);
    }
}

static void load(const struct outcome *outcome, enum workload_target target, struct arena *arena)
{
    const struct workload_load_terms terms = {target, true, true, 0, 1};
    struct workload_load *load;
    struct workload_jobs jobs;
    FUZZ_REQUIRE(workload_load_begin(&outcome->summary, &terms, arena, &load, NULL) == PV_OK);
    for (size_t i = 0; i < outcome->n_chunks; i++) {
        size_t from = i > 0 ? outcome->ends[i - 1] : 0;
        struct strview chunk = {outcome->bytes + from, outcome->ends[i] - from};
        FUZZ_REQUIRE(workload_load_chunk(load, chunk, NULL) == PV_OK);
    }
    FUZZ_REQUIRE(workload_load_finish(load, &jobs, NULL) == PV_OK);
    require_sane(&jobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct outcome whole;
    struct outcome pieces;
    struct arena arena;
    if (n < 2)
        return 0;
    enum workload_format format = (enum workload_format)(data[0] % WORKLOAD_FORMATS);
    arena_init(&arena, MEMORY);
    import(&whole, format, (const char *)data + 1, n - 1, n, &arena);
    import(&pieces, format, (const char *)data + 1, n - 1, 1 + data[n - 1] % 31U, &arena);
    FUZZ_REQUIRE(whole.code == pieces.code && strcmp(whole.detail, pieces.detail) == 0);
    if (whole.code == PV_OK) {
        size_t bytes = whole.ends[whole.n_chunks - 1];
        FUZZ_REQUIRE(whole.n_chunks == pieces.n_chunks && bytes == whole.summary.encoded_bytes);
        FUZZ_REQUIRE(memcmp(whole.bytes, pieces.bytes, bytes) == 0);
        load(&whole, WORKLOAD_FOR_SLOTS, &arena);
        load(&whole, WORKLOAD_FOR_TASKS, &arena);
    }
    arena_fini(&arena);
    return 0;
}
