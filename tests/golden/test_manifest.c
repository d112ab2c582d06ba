/*
 * Every log of the shared data set against its row of manifest.tsv, whose figures were computed by
 * other programs (a JSON parser and plain text matching, which agree). Each figure that a run
 * carries must be equal, none within a tolerance. Rolling logs are fed part after part.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read_log.h"

enum { COLUMNS_MAX = 32, PATH_MAX_BYTES = 1024, SKIPPED = 77 };

struct table {
    char *names[COLUMNS_MAX];
    char *cells[COLUMNS_MAX];
    size_t n;
};

struct check {
    const struct table *table;
    const char *file;
    int faults;
};

static size_t split(char *line, char *cells[COLUMNS_MAX])
{
    size_t n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *cell = line; cell != NULL && n < COLUMNS_MAX; n++) {
        char *tab = strchr(cell, '\t');
        if (tab != NULL)
            *tab++ = '\0';
        cells[n] = cell;
        cell = tab;
    }
    return n;
}

static const char *cell(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->n; i++) {
        if (strcmp(table->names[i], name) == 0)
            return table->cells[i];
    }
    fprintf(stderr, "manifest.tsv has no column %s\n", name);
    exit(1);
}

/* An empty cell is a value that the log does not hold. */
static void expect_int(struct check *check, const char *column, int64_t got, int64_t unknown)
{
    const char *text = cell(check->table, column);
    int64_t want = text[0] == '\0' ? unknown : strtoll(text, NULL, 10);
    if (got == want)
        return;
    check->faults++;
    printf("# %s: %s is %" PRId64 ", want %" PRId64 "\n", check->file, column, got, want);
}

static void expect_text(struct check *check, const char *column, struct strview got)
{
    const char *want = cell(check->table, column);
    if (strview_is(got, want) && (want[0] != '\0' || got.at == NULL))
        return;
    check->faults++;
    printf("# %s: %s is '%.*s', want '%s'\n", check->file, column, (int)got.n, got.at, want);
}

/* Seconds of a run back to the milliseconds they were made of. */
static int64_t to_ms(double s)
{
    return (int64_t)llround(s * 1000.0);
}

static void expect(struct check *check, bool holds, const char *what)
{
    if (holds)
        return;
    check->faults++;
    printf("# %s: %s\n", check->file, what);
}

static int64_t warning(const struct run *run, const char *code)
{
    const struct finding *found = finding_find(&run->warnings, code);
    return found == NULL ? 0 : (int64_t)finding_value(found, "count");
}

static void check_counts(struct check *check, const struct run *run)
{
    expect_int(check, "jobs", run->jobs, 0);
    expect_int(check, "stages_completed", run->stages_completed, 0);
    expect_int(check, "stages_failed", run->stages_failed, 0);
    expect_int(check, "tasks_ok", run->tasks_succeeded, 0);
    expect_int(check, "tasks_failed", run->tasks_failed, 0);
    expect_int(check, "tasks_ended", run->tasks_succeeded + run->tasks_failed, 0);
    expect_int(check, "sum_ok_task_ms", to_ms(run->task_time_s), 0);
    expect_int(check, "executors_added", run->executors_added, 0);
    expect_int(check, "max_cores_per_executor", run->cores_per_executor, RUN_UNKNOWN);
    expect_int(check, "job_ends_failed", warning(run, "failed_jobs"), 0);
    expect_int(check, "unparsed_lines", warning(run, "damaged_lines"), 0);
}

static void check_times(struct check *check, const struct run *run)
{
    int64_t start_ms = run->started_us / 1000;
    expect_int(check, "app_start_ms", start_ms, 0);
    bool ends = cell(check->table, "app_end_ms")[0] != '\0';
    /* Without an end a log counts as succeeded where all its jobs ended well. */
    bool all_well = atoi(cell(check->table, "jobs")) == atoi(cell(check->table, "job_ends_ok")) &&
                    strcmp(cell(check->table, "jobs"), "0") != 0;
    expect(check, run->ended == ends && run->succeeded == (ends || all_well),
           "ended and succeeded disagree");
    expect(check, (warning(run, "no_application_end") == 1) != ends, "no_application_end");
    if (ends)
        expect_int(check, "app_end_ms", start_ms + to_ms(run->duration_s), 0);
    bool staged = !isnan(run->initialization_s);
    int64_t first = staged ? start_ms + to_ms(run->initialization_s) : RUN_UNKNOWN;
    expect_int(check, "first_stage_submit_ms", first, RUN_UNKNOWN);
}

/* The stages must add up to the totals, and name each parent. */
static void check_stages(struct check *check, const struct run *run)
{
    int64_t tasks = 0;
    int64_t ms = 0;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        expect(check, i == 0 || stage->id > run->stages[i - 1].id, "stages do not ascend");
        if (stage->skipped)
            continue;
        tasks += stage->n_tasks;
        for (int64_t k = 0; k < stage->n_tasks; k++)
            ms += to_ms(stage->task_durations_s[k]);
        expect(check, !(stage->duration_s < 0), "a stage lasts less than nothing");
    }
    expect_int(check, "tasks_ok", tasks, 0);
    expect_int(check, "sum_ok_task_ms", ms, 0);
}

static void
check_run(struct check *check, const struct run *run, const struct joblog_counts *counts)
{
    expect_int(check, "lines", (int64_t)counts->lines, 0);
    expect_int(check, "uncompressed_bytes", (int64_t)counts->bytes, 0);
    expect_text(check, "spark_version", run->spark_version);
    expect_text(check, "app_id", run->spark_application_id);
    expect_text(check, "app_attempt", run->spark_attempt_id);
    expect(check, warning(run, "truncated") == 0, "no stream is cut");
    check_counts(check, run);
    check_times(check, run);
    check_stages(check, run);
}

static void join(char path[PATH_MAX_BYTES], const char *root, const char *file)
{
    if (snprintf(path, PATH_MAX_BYTES, "%s/%s", root, file) >= PATH_MAX_BYTES) {
        fprintf(stderr, "%s/%s: the path is too long\n", root, file);
        exit(1);
    }
}

/* The parts of a rolling log follow its own row in the manifest, in order. */
static enum pv_code feed_parts(const char *root,
                               const char *directory,
                               FILE *manifest,
                               struct log_reader *log,
                               struct pv_error *err)
{
    long here = ftell(manifest);
    char line[4096];
    enum pv_code code = PV_OK;
    while (code == PV_OK && fgets(line, sizeof line, manifest) != NULL &&
           strncmp(line, directory, strlen(directory)) == 0) {
        char path[PATH_MAX_BYTES];
        line[strcspn(line, "\t")] = '\0';
        join(path, root, line);
        code = read_log(path, 65536, log, err);
    }
    (void)fseek(manifest, here, SEEK_SET);
    return code;
}

static enum pv_code feed_row(const char *root,
                             const char *file,
                             FILE *manifest,
                             struct log_reader *log,
                             struct pv_error *err)
{
    if (file[strlen(file) - 1] == '/')
        return feed_parts(root, file, manifest, log, err);
    char path[PATH_MAX_BYTES];
    join(path, root, file);
    return read_log(path, 65536, log, err);
}

/* A later part of a rolling log alone has no start: refused with its own code. */
static void check_refusal(struct check *check, enum pv_code code, const struct pv_error *err)
{
    expect(check,
           code == PV_E_INVALID && err->n_faults == 1 &&
               strcmp(err->faults[0].code, "no_application_start") == 0,
           "a log without application start must be refused as such");
}

static int check_row(const char *root, const struct table *table, FILE *manifest)
{
    struct check check = {table, cell(table, "file"), 0};
    struct log_reader *log = log_reader_create(&sparklog_kind, &wide_limits);
    struct arena arena;
    arena_init(&arena, 0);
    struct pv_error err;
    pv_error_clear(&err);
    struct run run;
    enum pv_code code = feed_row(root, check.file, manifest, log, &err);
    expect(&check, code == PV_OK, err.detail);
    if (code == PV_OK) {
        code = log_reader_finish(log, &arena, &run, &err);
        struct joblog_counts counts = log_reader_counts(log);
        if (cell(table, "app_start_ms")[0] == '\0')
            check_refusal(&check, code, &err);
        else if (code != PV_OK)
            expect(&check, false, err.detail);
        else
            check_run(&check, &run, &counts);
    }
    arena_fini(&arena);
    log_reader_destroy(log);
    return check.faults;
}

int main(void)
{
    char root[PATH_MAX_BYTES];
    char path[PATH_MAX_BYTES + 16];
    (void)snprintf(root, sizeof root, "%s/data/spark-eventlogs", shared_directory());
    (void)snprintf(path, sizeof path, "%s/manifest.tsv", root);
    FILE *manifest = fopen(path, "r");
    if (manifest == NULL) {
        printf("1..0 # SKIP no %s: set PROVISOR_SHARED\n", path);
        return SKIPPED;
    }
    char header[4096];
    char line[4096];
    struct table table;
    table.n = fgets(header, sizeof header, manifest) == NULL ? 0 : split(header, table.names);
    int rows = 0;
    int failed = 0;
    while (fgets(line, sizeof line, manifest) != NULL) {
        if (split(line, table.cells) != table.n) {
            failed++;
            printf("# row %d has another number of cells\n", rows);
            continue;
        }
        int faults = check_row(root, &table, manifest);
        rows++;
        failed += faults > 0;
        printf("%sok %d - %s\n", faults > 0 ? "not " : "", rows, table.cells[0]);
    }
    (void)fclose(manifest);
    printf("1..%d\n", rows);
    return failed > 0 || rows == 0;
}
