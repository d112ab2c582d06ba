#include "database.h"

#include <math.h>
#include <string.h>

#include "core/history/run_metrics.h"
#include "threads/clock.h"

void database_fail(const char *file, int line, const char *what, const struct pv_error *err)
{
    (void)fprintf(stderr, "%s:%d: %s\n", file, line, what);
    if (err != NULL)
        (void)fprintf(stderr, "  %s: %s\n", pv_code_name(err->code), err->detail);
    exit(1);
}

struct database database_open(unsigned connections)
{
    struct database d = {.url = getenv("PROVISOR_DATABASE_URL"),
                         .owner_url = getenv("PROVISOR_DATABASE_OWNER_URL")};
    if (d.url == NULL || d.owner_url == NULL) {
        (void)puts("skipped: PROVISOR_DATABASE_URL and PROVISOR_DATABASE_OWNER_URL are not set");
        exit(EXIT_SKIPPED);
    }
    struct pv_error err = {0};
    unsigned applied;
    const struct store_migrate_options how = {
        .conninfo = d.owner_url, .lock_timeout_ms = 1000, .lock_wait_s = 60};
    DO(store_migrate(&how, &applied, &err));
    DO(store_open(&(struct store_options){.conninfo = d.url,
                                          .connections_max = connections,
                                          .wait_ms = 5000,
                                          .statement_timeout_ms = 10000},
                  &d.store, &err));
    return d;
}

void database_close(struct database *database)
{
    store_close(database->store);
    database->store = NULL;
}

struct principal database_team(const struct database *database, const char *name)
{
    struct pv_error err = {0};
    struct principal who = {.scopes = SCOPE_READ | SCOPE_WRITE | SCOPE_ADMIN, .actor = "test"};
    clock_uuid7(who.token_id);
    char team[80];
    (void)snprintf(team, sizeof team, "%s %s", name, who.token_id);
    struct token token = {
        .name = strview_of("test"), .scopes = 7, .hash = {1, 2, 3}, .expires_us = RUN_NO_INSTANT};
    memcpy(token.id, who.token_id, sizeof token.id);
    DO(store_bootstrap_token(database->owner_url, team, &token, &err));
    memcpy(who.team_id, token.team_id, sizeof who.team_id);
    return who;
}

static const double tasks[] = {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, 2.5};
static const int64_t parents[] = {0};

/* Each different, none a round number: a column in the wrong place shows. */
static struct run_metrics database_metrics(void)
{
    int64_t count = INT64_MAX;
    double seconds = 0.1;
    struct run_metrics metrics;
#define METRIC_COUNT(name) metrics.name = (count -= 3);
#define METRIC_SECONDS(name) metrics.name = (seconds += 1.0 / 3.0);
    RUN_METRICS(METRIC_COUNT, METRIC_SECONDS)
#undef METRIC_COUNT
#undef METRIC_SECONDS
    return metrics;
}

struct run database_run(struct arena *arena, int64_t problem_size, int64_t executors)
{
    struct run run = {.problem_size = (double)problem_size,
                      .executors = executors,
                      .cores_per_executor = 4,
                      .duration_s = 412.7000000000001,
                      .initialization_s = (double)NAN,
                      .started_us = INT64_C(1767607200000001),
                      .recorded_us = RUN_NO_INSTANT,
                      .succeeded = true,
                      .ended = true,
                      .has_stages = true};
    run_clear_log(&run);
    run.stages = arena_calloc(arena, 3, sizeof *run.stages);
    CHECK(run.stages != NULL);
    run.n_stages = 3;
    run.stages[0] = (struct run_stage){.id = 0,
                                       .name = strview_of("map \"é\"\n"),
                                       .n_tasks = 5,
                                       .task_durations_s = tasks,
                                       .task_duration_s = 0.7,
                                       .task_time_s = 9.000000000000002,
                                       .duration_s = 5.2,
                                       .started_s = 0.25,
                                       .input_records = 1e6,
                                       .nominal_rate_per_s = 41352.5};
    run.stages[1] = (struct run_stage){.id = 1,
                                       .parents = parents,
                                       .n_parents = 1,
                                       .n_tasks = 7,
                                       .task_duration_s = 1.5,
                                       .task_time_s = (double)NAN,
                                       .duration_s = (double)NAN,
                                       .started_s = (double)NAN,
                                       .input_records = (double)NAN,
                                       .nominal_rate_per_s = (double)NAN};
    run.stages[2] = (struct run_stage){.id = 7,
                                       .n_tasks = RUN_UNKNOWN,
                                       .task_duration_s = (double)NAN,
                                       .task_time_s = (double)NAN,
                                       .duration_s = (double)NAN,
                                       .started_s = (double)NAN,
                                       .input_records = (double)NAN,
                                       .nominal_rate_per_s = (double)NAN,
                                       .skipped = true};
    for (size_t i = 1; i < 3; i++)
        run_stage_clear_log(&run.stages[i]);
    run.stages[0].attempts = 2;
    run.stages[0].tasks_failed = 3;
    run.stages[0].resource_profile_id = 0;
    run.stages[0].barrier = true;
    run.stages[0].metrics = database_metrics();
    return run;
}

static struct run_resources resources[] = {{.id = 0,
                                            .executors = 1,
                                            .cores_per_executor = 2,
                                            .executor_memory_bytes = 3,
                                            .cores_per_task = 4,
                                            .resource_per_executor = RUN_UNKNOWN,
                                            .resource_per_task = (double)NAN},
                                           {.id = 7,
                                            .executors = 5,
                                            .cores_per_executor = RUN_UNKNOWN,
                                            .executor_memory_bytes = RUN_UNKNOWN,
                                            .cores_per_task = 6,
                                            .resource = {"gpu", 3},
                                            .resource_per_executor = 2,
                                            .resource_per_task = 0.25}};

struct run database_log_run(struct arena *arena, const char *spark_application_id, bool ended)
{
    struct run run = database_run(arena, 64, 8);
    run.from_log = true;
    run.ended = ended;
    run.spark_application_id = strview_of(spark_application_id);
    run.spark_version = strview_of("3.5.1");
    double next = 10.1; /* each different */
#define FIGURE_COUNT(name) run.name = (int64_t)(next += 1);
#define FIGURE_SECONDS(name) run.name = (next += 1);
    RUN_FIGURES(FIGURE_COUNT, FIGURE_SECONDS, FIGURE_COUNT)
#undef FIGURE_COUNT
#undef FIGURE_SECONDS
    run.exit_code = -1; /* not unknown */
    run.metrics = database_metrics();
    run.resources = resources;
    run.n_resources = sizeof resources / sizeof *resources;
    return run;
}
