#include "api/simulations/workload_jobs.h"

#include "codec/scheduling/policy_comparison.h"
#include "store/workloads/workload.h"

/* 4 MB at most: few round trips, and little memory. */
enum { CHUNKS_AT_ONCE = 16 };

enum pv_code workload_jobs_look_up(struct store_tx *tx,
                                   struct arena *arena,
                                   const char *id,
                                   struct workload_summary *summary,
                                   struct pv_error *err)
{
    struct workload_record record;
    struct pv_error why = {.code = PV_OK};
    enum pv_code code = store_workload_find(tx, arena, id, &record, &why);
    if (code == PV_E_NOT_FOUND)
        return pv_fault(err, PV_PLACE_POINTER, "/workload", "unknown_workload", "%s", why.detail);
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    workload_record_summary(&record, summary);
    return PV_OK;
}

/* --- in the operation --- */

static enum pv_code deleted(enum pv_code code, struct pv_error *err)
{
    if (code != PV_E_NOT_FOUND)
        return code;
    pv_error_clear(err);
    return pv_fail(err, code, "the workload was deleted before its jobs were loaded");
}

enum pv_code workload_jobs_find(struct workload_jobs_source *source,
                                struct operation_run *run,
                                const struct codec_node *top,
                                struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    char id[37];
    *source = (struct workload_jobs_source){.run = NULL};
    if (!codec_comparison_find_workload(top, id))
        return PV_OK;
    PV_TRY(store_begin(run->store, &run->who, run->request_id, STORE_READ, &tx, err));
    enum pv_code code = store_workload_find(tx, run->arena, id, &source->record, err);
    if (code != PV_OK)
        return deleted(code, err);
    workload_record_summary(&source->record, &source->summary);
    arena_init_beside(&source->arena, run->arena, (size_t)run->config->simulation_memory_bytes_max);
    source->run = run;
    return PV_OK;
}

const struct workload_summary *workload_jobs_summary(const struct workload_jobs_source *source)
{
    return source->run == NULL ? NULL : &source->summary;
}

/* n chunks from a position on, in scratch. */
static enum pv_code read_chunks(const struct workload_jobs_source *source,
                                int64_t position,
                                int64_t n,
                                struct arena *scratch,
                                struct strview chunks[],
                                struct pv_error *err)
{
    struct operation_run *run = source->run;
    store_tx_auto_t *tx = NULL;
    PV_TRY(store_begin(run->store, &run->who, run->request_id, STORE_READ, &tx, err));
    for (int64_t i = 0; i < n; i++) {
        enum pv_code code =
            store_workload_chunk(tx, scratch, source->record.id, position + i, &chunks[i], err);
        if (code != PV_OK)
            return deleted(code, err);
    }
    return PV_OK;
}

static enum pv_code load_chunks(const struct workload_jobs_source *source,
                                struct workload_load *load,
                                struct arena *scratch,
                                struct pv_error *err)
{
    struct strview chunks[CHUNKS_AT_ONCE];
    int64_t all = source->record.chunks;
    for (int64_t at = 0; at < all; at += CHUNKS_AT_ONCE) {
        int64_t n = all - at < CHUNKS_AT_ONCE ? all - at : CHUNKS_AT_ONCE;
        arena_clear(scratch);
        PV_TRY(read_chunks(source, at, n, scratch, chunks, err));
        for (int64_t i = 0; i < n; i++)
            PV_TRY(workload_load_chunk(load, chunks[i], err));
        if (!operation_progress(source->run, 0, RUN_UNKNOWN, "tasks"))
            return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    }
    return PV_OK;
}

enum pv_code workload_jobs_load(struct workload_jobs_source *source,
                                const struct workload_load_terms *terms,
                                struct workload_jobs *jobs,
                                struct pv_error *err)
{
    struct workload_load *load;
    struct arena scratch;
    PV_TRY(workload_load_begin(&source->summary, terms, &source->arena, &load, err));
    arena_init_beside(&scratch, source->run->arena, 0);
    enum pv_code code = load_chunks(source, load, &scratch, err);
    arena_fini(&scratch);
    return code == PV_OK ? workload_load_finish(load, jobs, err) : code;
}

void workload_jobs_close(struct workload_jobs_source *source)
{
    if (source->run != NULL)
        arena_fini(&source->arena);
}
