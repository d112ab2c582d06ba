#include "sample/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sample/eventlog.h"

/* 2026-01-05T01:00:00Z: runs follow each other by hours from there. */
static const int64_t first_start_ms = INT64_C(1767574800000);
static const int64_t hour_ms = INT64_C(3600000);

static enum pv_code make_directory(const char *path, struct pv_error *err)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return PV_OK;
    return pv_fail(err, PV_E_UNAVAILABLE, "%.150s: %s", path, strerror(errno));
}

static enum pv_code write_log(const struct sample_run *run,
                              const char *folder,
                              int number,
                              struct arena *arena,
                              struct sample_counts *counts,
                              struct pv_error *err)
{
    int64_t start_ms = first_start_ms + number * hour_ms;
    const char *path =
        arena_printf(arena, "%s/application_%" PRId64 "_%04d", folder, start_ms, number);
    if (path == NULL)
        return pv_no_memory(err);
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        return pv_fail(err, PV_E_UNAVAILABLE, "%.150s: %s", path, strerror(errno));
    enum pv_code code = sample_write_eventlog(run, start_ms, number, out, arena, err);
    long bytes = ftell(out);
    if (fclose(out) != 0 && code == PV_OK)
        code = pv_fail(err, PV_E_UNAVAILABLE, "%.150s: %s", path, strerror(errno));
    counts->logs++;
    counts->bytes += bytes > 0 ? (uint64_t)bytes : 0;
    return code;
}

static enum pv_code write_application(const struct sample_application *application,
                                      const char *directory,
                                      uint64_t seed,
                                      int *number,
                                      struct sample_counts *counts,
                                      struct pv_error *err)
{
    struct arena arena;
    arena_init(&arena, 0);
    const char *folder = arena_printf(&arena, "%s/%s", directory, application->name);
    enum pv_code code = folder == NULL ? pv_no_memory(err) : make_directory(folder, err);
    for (int i = 0; i < SAMPLE_GRID_MAX && application->sizes[i] > 0; i++) {
        for (int j = 0; j < SAMPLE_GRID_MAX && application->executors[j] > 0; j++) {
            struct sample_run run;
            struct arena_mark mark = arena_mark(&arena);
            if (code == PV_OK) {
                code = sample_simulate(application, application->sizes[i],
                                       application->executors[j], seed, &arena, &run, err);
            }
            if (code == PV_OK)
                code = write_log(&run, folder, ++*number, &arena, counts, err);
            arena_rewind(&arena, mark);
        }
    }
    counts->applications++;
    arena_fini(&arena);
    return code;
}

enum pv_code sample_write_files(const char *directory,
                                uint64_t seed,
                                struct sample_counts *counts,
                                struct pv_error *err)
{
    struct sample_counts made = {0};
    int number = 0;
    PV_TRY(make_directory(directory, err));
    for (size_t i = 0; i < sample_catalogue_n; i++)
        PV_TRY(write_application(&sample_catalogue[i], directory, seed + i, &number, &made, err));
    *counts = made;
    return PV_OK;
}
