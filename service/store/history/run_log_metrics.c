/* The columns of a run and its stages that only logs fill. */
#include "store/history/run_internal.h"

static void add_metrics(struct sql *sql, const struct run_metrics *metrics)
{
#define ADD_COUNT(name) sql_count(sql, metrics->name);
#define ADD_SECONDS(name) sql_double(sql, metrics->name);
    RUN_METRICS(ADD_COUNT, ADD_SECONDS)
#undef ADD_COUNT
#undef ADD_SECONDS
}

static void read_metrics(struct row *row, struct run_metrics *metrics)
{
#define READ_COUNT(name) metrics->name = row_int(row);
#define READ_SECONDS(name) metrics->name = row_double(row);
    RUN_METRICS(READ_COUNT, READ_SECONDS)
#undef READ_COUNT
#undef READ_SECONDS
}

/* An exit code may well be -1. */
static void add_exit_code(struct sql *sql, int64_t exit_code)
{
    if (exit_code == RUN_NO_EXIT_CODE)
        sql_count(sql, RUN_UNKNOWN);
    else
        sql_int(sql, exit_code);
}

static int64_t read_exit_code(struct row *row)
{
    bool known = !row_is_null(row);
    int64_t exit_code = row_int(row);
    return known ? exit_code : RUN_NO_EXIT_CODE;
}

static void add_resources(struct sql *sql, const struct run_resources resources[], size_t n)
{
    const struct run_resources none = {0};
    const struct run_resources *r = n == 0 ? &none : resources;
    sql_counts(sql, &r->id, n, sizeof *r);
    sql_counts(sql, &r->executors, n, sizeof *r);
    sql_counts(sql, &r->cores_per_executor, n, sizeof *r);
    sql_counts(sql, &r->executor_memory_bytes, n, sizeof *r);
    sql_counts(sql, &r->cores_per_task, n, sizeof *r);
}

static void read_resources(struct row *row, struct run *run)
{
    size_t n[5];
    const int64_t *columns[5];
    for (size_t i = 0; i < 5; i++) {
        columns[i] = row_counts(row, &n[i]);
        row->failed = row->failed || n[i] != n[0];
    }
    run->resources = arena_array(row->arena, n[0], sizeof *run->resources);
    if (run->resources == NULL || row->failed) {
        row->failed = true;
        return;
    }
    for (size_t i = 0; i < n[0]; i++)
        run->resources[i] = (struct run_resources){columns[0][i], columns[1][i], columns[2][i],
                                                   columns[3][i], columns[4][i]};
    run->n_resources = n[0];
}

void run_figures_add(struct sql *sql, const struct run *run)
{
    add_exit_code(sql, run->exit_code);
    sql_count(sql, run->tasks_killed);
    sql_count(sql, run->tasks_resubmitted);
    sql_count(sql, run->tasks_speculative);
    sql_count(sql, run->executors_removed);
    sql_count(sql, run->executors_excluded);
    sql_count(sql, run->nodes_excluded);
    sql_double(sql, run->core_s);
    sql_double(sql, run->job_time_s);
    sql_double(sql, run->stage_time_s);
    sql_count(sql, run->peak_driver_heap_bytes);
    add_metrics(sql, &run->metrics);
    add_resources(sql, run->resources, run->n_resources);
}

void run_figures_read(struct row *row, struct run *run)
{
    run->exit_code = read_exit_code(row);
    run->tasks_killed = row_int(row);
    run->tasks_resubmitted = row_int(row);
    run->tasks_speculative = row_int(row);
    run->executors_removed = row_int(row);
    run->executors_excluded = row_int(row);
    run->nodes_excluded = row_int(row);
    run->core_s = row_double(row);
    run->job_time_s = row_double(row);
    run->stage_time_s = row_double(row);
    run->peak_driver_heap_bytes = row_int(row);
    read_metrics(row, &run->metrics);
    read_resources(row, run);
}

void stage_figures_add(struct sql *sql, const struct run_stage stages[], size_t n)
{
    const struct run_stage *s = stages;
    sql_counts(sql, &s->attempts, n, sizeof *s);
    sql_counts(sql, &s->tasks_failed, n, sizeof *s);
    sql_counts(sql, &s->resource_profile_id, n, sizeof *s);
#define ADD_COUNTS(name) sql_counts(sql, &s->metrics.name, n, sizeof *s);
#define ADD_SECONDS(name) sql_doubles(sql, &s->metrics.name, n, sizeof *s);
    RUN_METRICS(ADD_COUNTS, ADD_SECONDS)
#undef ADD_COUNTS
#undef ADD_SECONDS
}

void stage_figures_read(struct row *row, struct run_stage *stage)
{
    stage->attempts = row_int(row);
    stage->tasks_failed = row_int(row);
    stage->resource_profile_id = row_int(row);
    read_metrics(row, &stage->metrics);
}
