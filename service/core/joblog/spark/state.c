/* What a reader gathers while the log passes: its life, stages, and what tasks moved and used. */
#include "core/joblog/spark/state.h"

#include "base/plural.h"

void sparklog_init(struct log_reader *reader)
{
    struct sparklog *log = (struct sparklog *)reader;
    log->application.start_ms = NO_TIME;
    log->application.end_ms = NO_TIME;
    log->part = RUN_UNKNOWN;
    log->last_part = RUN_UNKNOWN;
    log->first_stage_ms = NO_TIME;
    log->last_work_ms = NO_TIME;
    log->cores_most = RUN_UNKNOWN;
    log->first_job = RUN_UNKNOWN;
    log->last_job = RUN_UNKNOWN;
    log->driver_heap = RUN_UNKNOWN;
    log->blocks_dropped = RUN_UNKNOWN;
    log->storage_memory[0] = log->storage_memory[1] = RUN_UNKNOWN;
    log->first_executor_ms = NO_TIME;
    log->application.exit_code = RUN_NO_EXIT_CODE;
}

static void stage_fini(struct stage *stage, struct budget *budget)
{
    budget_free(budget, stage->name, stage->name_capacity, 1);
    budget_free(budget, stage->parents, stage->parents_capacity, sizeof *stage->parents);
    budget_free(budget, stage->attempts, stage->attempts_capacity, sizeof *stage->attempts);
    tasks_fini(&stage->tasks, budget);
}

void sparklog_fini(struct log_reader *reader)
{
    struct sparklog *log = (struct sparklog *)reader;
    struct budget *budget = &reader->budget;
    for (size_t i = 0; i < log->n_stages; i++)
        stage_fini(&log->stages[i], budget);
    budget_free(budget, log->tasks_seen, log->tasks_seen_capacity, sizeof *log->tasks_seen);
    budget_free(budget, log->raw_properties, log->raw_properties_capacity, 1);
    budget_free(budget, log->stages, log->stages_capacity, sizeof *log->stages);
    idmap_fini(&log->stage_at, budget);
    budget_free(budget, log->executors, log->executors_capacity, sizeof *log->executors);
    budget_free(budget, log->lifetimes, log->lifetimes_capacity, sizeof *log->lifetimes);
    idmap_fini(&log->executor_at, budget);
    idmap_fini(&log->nodes_excluded, budget);
    log_nodes_fini(&log->nodes, budget);
    idmap_fini(&log->cached_blocks, budget);
    idmap_fini(&log->rdds_unwanted, budget);
    idmap_fini(&log->rdd_cached_by, budget);
    budget_free(budget, log->jobs_seen, log->jobs_capacity, sizeof *log->jobs_seen);
    idmap_fini(&log->job_at, budget);
    budget_free(budget, log->sql_executions, log->sql_executions_capacity,
                sizeof *log->sql_executions);
    idmap_fini(&log->sql_at, budget);
    idmap_fini(&log->streaming_at, budget);
}

int64_t sparklog_see_work(struct sparklog *log, int64_t ms)
{
    int64_t seen = log_reader_see_time(&log->reader, ms);
    if (seen > log->last_work_ms)
        log->last_work_ms = seen;
    return seen;
}

enum pv_code
sparklog_get_stage(struct sparklog *log, int64_t id, struct stage **stage, struct pv_error *err)
{
    const uint32_t *known = idmap_find(&log->stage_at, id);
    if (known != NULL) {
        *stage = &log->stages[*known];
        return PV_OK;
    }
    if (log->n_attempts >= log->reader.limits.stages || log->n_stages >= UINT32_MAX)
        return pv_fail(err, PV_E_LIMIT, "the log holds more than %zu stage%s",
                       log->reader.limits.stages, PLURAL(log->reader.limits.stages));
    PV_TRY(budget_grow(&log->reader.budget, log->stages, log->stages_capacity, log->n_stages + 1,
                       err));
    PV_TRY(idmap_insert(&log->stage_at, &log->reader.budget, id, (uint32_t)log->n_stages, err));
    *stage = &log->stages[log->n_stages++];
    **stage = (struct stage){.id = id,
                             .tasks_planned = RUN_UNKNOWN,
                             .resource_profile = RUN_UNKNOWN,
                             .cache_source = RUN_UNKNOWN,
                             .longest_ms = RUN_UNKNOWN,
                             .longest_bytes = RUN_UNKNOWN,
                             .amounts = amounts_unknown};
    log->n_attempts++;
    return PV_OK;
}

int64_t sparklog_times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

const struct amounts amounts_unknown = {
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}};
_Static_assert(AMOUNT_COUNT == 22, "amounts_unknown has as many members");

void sparklog_raise(struct sparklog *log, int64_t *peak, int64_t bytes)
{
    if (bytes > *peak && bytes > 0)
        *peak = bytes;
    log->reader.notices[NOTICE_BAD_AMOUNT] += bytes < -1;
}

void sparklog_add_amounts(struct sparklog *log,
                          struct amounts *to,
                          const struct amounts *of,
                          bool succeeded)
{
    for (size_t i = AMOUNT_SUMS; i < AMOUNT_COUNT; i++)
        sparklog_raise(log, &to->of[i], of->of[i]);
    for (size_t i = 0; succeeded && i < AMOUNT_SUMS; i++) {
        int64_t amount = of->of[i];
        if (amount >= 0)
            to->of[i] = to->of[i] < 0 ? amount : log_add(to->of[i], amount);
        else
            log->reader.notices[NOTICE_BAD_AMOUNT] += amount != -1;
    }
}
