/*
 * Running out of memory is an ordinary error: the k-th allocation fails, for k = 1, 2, ... until a
 * trace is read, kept and loaded. Under AddressSanitizer nothing is lost on the way.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/workload/workload_import.h"
#include "core/workload/workload_load.h"
#include "failing_malloc.h"

struct kept {
    char bytes[1 << 16];
    size_t n;
};

static enum pv_code keep(void *context, struct strview chunk, struct pv_error *err)
{
    struct kept *to = context;
    (void)err;
    cr_assert_leq(chunk.n, sizeof to->bytes);
    memcpy(to->bytes, chunk.at, chunk.n);
    to->n = chunk.n;
    return PV_OK;
}

static enum pv_code read_text(struct workload_import *import,
                              const char *text,
                              struct arena *arena,
                              struct workload_summary *summary)
{
    /* Small pieces, so that lines are gathered in memory. */
    for (size_t at = 0, n = strlen(text); at < n; at += 7) {
        struct strview piece = {text + at, n - at < 7 ? n - at : 7};
        PV_TRY(workload_import_feed(import, piece, NULL));
    }
    return workload_import_finish(import, arena, summary, NULL);
}

static enum pv_code
load_chunk(const struct workload_summary *summary, const struct kept *kept, struct arena *arena)
{
    const struct workload_load_terms terms = {WORKLOAD_FOR_TASKS, true, false, 0, (double)NAN};
    struct workload_load *load;
    struct workload_jobs jobs;
    PV_TRY(workload_load_begin(summary, &terms, arena, &load, NULL));
    PV_TRY(workload_load_chunk(load, (struct strview){kept->bytes, kept->n}, NULL));
    return workload_load_finish(load, &jobs, NULL);
}

struct trace {
    enum workload_format format;
    const char *text;
};

static enum pv_code work(void *context)
{
    const struct trace *trace = context;
    static struct kept kept;
    const struct workload_terms terms = {trace->format, workload_rates_default};
    const struct workload_sink sink = {keep, &kept};
    struct workload_summary summary;
    struct workload_import *import = NULL;
    struct arena arena;
    arena_init(&arena, 0);
    enum pv_code code = workload_import_begin(&terms, NULL, &sink, &arena, &import, NULL);
    if (code == PV_OK)
        code = read_text(import, trace->text, &arena, &summary);
    workload_import_end(import);
    if (code == PV_OK)
        code = load_chunk(&summary, &kept, &arena);
    arena_fini(&arena);
    return code;
}

Test(workload_memory, every_allocation_may_fail)
{
    static const struct trace traces[] = {
        {WORKLOAD_PIGEON, "1 2 9 1 2\n2 3 2 1 2 3"},
        {WORKLOAD_SWIM, "job0 1 1 900000000 300000000 7\njob1 2 1 0 0 0\n"},
        {WORKLOAD_GOOGLE_2011,
         "1,,7,0,,1\n2,,8,0,,1\n3,,7,0,,2\n4,,7,0,,1\n5,,7,0,,4\n6,,8,0,,4\n3700000007,,9,0,,1\n"},
        {WORKLOAD_PROVISOR, "{\"name\": \"b\", \"arrival_s\": 9, \"task_durations_s\": [1, 2, 3]}\n"
                            "{\"name\": \"a\", \"maps\": 2, \"map_task_s\": 2}\n"}};
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        struct trace trace = traces[i];
        cr_assert_gt(failing_malloc_run(work, &trace, PV_E_MEMORY, 1), 20L, "%s",
                     failing_malloc_complaint());
    }
}
