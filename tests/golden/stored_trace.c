#include "stored_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE = 65521 };

static enum pv_code keep(void *context, struct strview bytes, struct pv_error *err)
{
    struct stored_trace *trace = context;
    struct strview *chunk = vector_add(&trace->arena, &trace->chunks);
    (void)err;
    if (chunk == NULL)
        abort();
    *chunk = arena_copy(&trace->arena, bytes);
    if (chunk->at == NULL)
        abort();
    return PV_OK;
}

bool stored_trace_read(struct stored_trace *trace,
                       const char *path,
                       const struct workload_terms *terms)
{
    static char piece[PIECE];
    const struct workload_sink sink = {keep, trace};
    struct workload_import *import;
    struct pv_error err = {.code = PV_OK};
    size_t n;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    *trace = (struct stored_trace){.chunks = {.items = NULL}};
    arena_init(&trace->arena, 0);
    if (workload_import_begin(terms, NULL, &sink, &trace->arena, &import, &err) != PV_OK)
        abort();
    enum pv_code code = PV_OK;
    while (code == PV_OK && (n = fread(piece, 1, sizeof piece, file)) > 0)
        code = workload_import_feed(import, (struct strview){piece, n}, &err);
    (void)fclose(file);
    if (code == PV_OK)
        code = workload_import_finish(import, &trace->arena, &trace->summary, &err);
    workload_import_end(import);
    if (code != PV_OK) {
        printf("%s: %s\n", path, err.detail);
        exit(1);
    }
    return true;
}

struct workload_jobs stored_trace_load(struct stored_trace *trace, enum workload_target target)
{
    const struct workload_load_terms terms = {.target = target, .short_cutoff_s = (double)NAN};
    struct workload_load *load;
    struct workload_jobs jobs;
    if (workload_load_begin(&trace->summary, &terms, &trace->arena, &load, NULL) != PV_OK)
        abort();
    for (size_t i = 0; i < trace->chunks.n; i++)
        if (workload_load_chunk(load, trace->chunks.items[i], NULL) != PV_OK)
            abort();
    if (workload_load_finish(load, &jobs, NULL) != PV_OK)
        abort();
    return jobs;
}

static void skip_runs(struct workload_chunk_reader *reader, const struct workload_entry *entry)
{
    struct workload_run run;
    for (int list = 0; list < WORKLOAD_LISTS; list++)
        for (size_t i = 0; i < entry->job.n_runs[list]; i++)
            if (workload_chunk_runs(reader, (enum workload_list)list, &run, 1, NULL) != PV_OK)
                abort();
}

void stored_trace_input(const struct stored_trace *trace, double input_bytes[])
{
    size_t n = 0;
    for (size_t i = 0; i < trace->chunks.n; i++) {
        struct workload_chunk_reader reader;
        struct workload_entry entry;
        bool more;
        if (workload_chunk_open(trace->chunks.items[i], &reader, NULL) != PV_OK)
            abort();
        while (workload_chunk_next(&reader, &entry, &more, NULL) == PV_OK && more) {
            skip_runs(&reader, &entry);
            if (!entry.continues)
                input_bytes[n++] = entry.job.input_bytes;
        }
    }
    if (n != trace->summary.jobs)
        abort();
}

void stored_trace_end(struct stored_trace *trace)
{
    arena_fini(&trace->arena);
}
