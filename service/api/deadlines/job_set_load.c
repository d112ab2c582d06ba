#include "api/deadlines/job_set_load.h"

#include <math.h>
#include <stdio.h>

#include "api/advice/advice_load.h"
#include "api/clusters/named_cluster.h"
#include "api/shared/reply.h"
#include "base/fault_text.h"
#include "base/plural.h"
#include "core/cluster/reservations.h"
#include "core/deadline/job_from_run.h"
#include "core/history/run_profile.h"
#include "store/history/run.h"

/* The cores of the cluster that is only named. */
enum pv_code job_set_load_cluster(struct api *api,
                                  struct http_request *request,
                                  struct codec_job_set *set,
                                  struct pv_error *err)
{
    static const char at[] = "/cluster";
    struct cluster cluster;
    int64_t cores = 0;
    if (set->cluster.at == NULL)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    PV_TRY(named_cluster_load(api, request, set->cluster, at, &cluster, err));
    int64_t executors = cluster.traits.executors;
    int64_t each = cluster.traits.cores_per_executor;
    PV_TRY(cluster_need(&cluster, executors, "executors", at, err));
    PV_TRY(cluster_need(&cluster, each, "cores_per_executor", at, err));
    PV_TRY(cluster_count_cores(executors, each, api->config->cores_max, at, &cores, err));
    set->cores = (size_t)cores;
    set->size = (struct codec_cluster_size){executors, each,
                                            reservation_capacity(&cluster.traits).memory_bytes};
    return PV_OK;
}

/* --- jobs from history --- */

static enum pv_code
fault_at_application(struct pv_error *err, size_t i, const char *code, const char *detail)
{
    char pointer[64];
    (void)snprintf(pointer, sizeof pointer, "/jobs/%zu/application", i);
    return pv_fault(err, PV_PLACE_POINTER, pointer, code, "%s", detail);
}

/* The average nominal rate of the run, as a profile of it alone defines it. Speeds of 0 say nothing. */
static enum pv_code
take_rate(const struct run *run, struct arena *arena, double *rate, struct pv_error *err)
{
    struct run_profile profile;
    PV_TRY(run_profile_build(run, 1, arena, &profile, err));
    *rate =
        profile.average_nominal_rate_per_s > 0 ? profile.average_nominal_rate_per_s : (double)NAN;
    return PV_OK;
}

/* Fault at the application of job i if its history is not enough; else *why unchanged. */
static enum pv_code
fault_no_history(struct pv_error *err, size_t i, enum pv_code code, const struct pv_error *why)
{
    if (code == PV_E_TOO_FEW || code == PV_E_LIMIT)
        return fault_at_application(err, i, "no_history", why->detail);
    *err = *why;
    return code;
}

/* A job's application as it is loaded. */
struct job_set_loaded {
    struct run_list runs;          /* with task times, nearest in size and cores first */
    struct advice_history history; /* that advice predicts from */
};

/* Those whose stages have task times, in their order. */
static void keep_timed(struct run_list *runs, struct arena *arena)
{
    size_t kept = 0;
    for (size_t i = 0; i < runs->n; i++) {
        struct edf_job job;
        struct pv_error why = {0};
        struct arena_mark mark = arena_mark(arena);
        if (edf_job_from_run(&runs->items[i], arena, &job, &why) == PV_OK)
            runs->items[kept++] = runs->items[i];
        arena_rewind(arena, mark);
    }
    runs->n = kept;
}

/* The question to advice for all cores of the cluster. cores_per_executor RUN_UNKNOWN: those of the
 * latest run. */
static struct advice_question question_of(const struct config *config,
                                          const struct codec_job_set *set,
                                          size_t i,
                                          int64_t cores_per_executor)
{
    const int64_t each =
        cores_per_executor == RUN_UNKNOWN ? set->size.cores_per_executor : cores_per_executor;
    struct advice_question question = advice_question_open(config->executors_max);
    question.application = set->sources[i].application;
    question.problem_size = set->sources[i].problem_size;
    question.cores_per_executor = cores_per_executor;
    if ((int64_t)set->cores / each < config->executors_max)
        question.goal.max_executors = (int64_t)set->cores / each;
    return question;
}

static enum pv_code load_job(struct store_tx *tx,
                             struct arena *arena,
                             const struct config *config,
                             struct codec_job_set *set,
                             size_t i,
                             struct pv_error *err)
{
    const struct codec_job_sent *source = &set->sources[i];
    struct job_set_loaded *loaded = &set->loaded[i];
    const size_t most = (size_t)config->nearest_runs;
    const struct advice_question question =
        question_of(config, set, i, set->size.cores_per_executor);
    struct application application;
    struct pv_error why = {0};
    enum pv_code code =
        store_application_find(tx, arena, source->application.at, &application, &why);
    char no_application[128];
    (void)snprintf(no_application, sizeof no_application, "there is no application %s",
                   fault_quote(source->application.at).text);
    if (code == PV_E_NOT_FOUND)
        return fault_at_application(err, i, "unknown_application", no_application);
    if (code == PV_OK)
        code = store_run_nearest_in_cores(tx, arena, &application, source->problem_size,
                                          (int64_t)set->cores, most, &loaded->runs, &why);
    if (code == PV_OK)
        keep_timed(&loaded->runs, arena);
    if (code == PV_OK)
        code =
            advice_history_load(tx, arena, &application, &question, most, &loaded->history, &why);
    return code == PV_OK ? PV_OK : fault_no_history(err, i, code, &why);
}

/* --- jobs from the loaded runs --- */

/* The counts of a curve ascend. NULL: all are above most. */
static const struct curve_point *find_below(const struct curve *curve, int64_t most)
{
    const struct curve_point *found = NULL;
    for (size_t p = 0; p < curve->n_points && curve->points[p].executors <= most; p++)
        found = &curve->points[p];
    return found;
}

/* Advice's prediction for the cluster's executors, as a curve; prediction->lack: why there is none. */
static enum pv_code predict(const struct config *config,
                            const struct codec_job_set *set,
                            size_t i,
                            int64_t cores_per_executor,
                            struct arena *arena,
                            struct arena *scratch,
                            struct history_prediction *prediction,
                            struct pv_error *err)
{
    const struct advice_limits limits = advice_limits_of(config);
    const struct advice_question question = question_of(config, set, i, cores_per_executor);
    struct pv_error why = {0};
    enum pv_code code = history_predict(&question, &limits, &set->loaded[i].history, arena, scratch,
                                        prediction, &why);
    if (code == PV_E_LIMIT) /* too many tasks to replay for all counts */
        prediction->lack = arena_strdup(arena, why.detail);
    else if (code != PV_OK)
        *err = why;
    return code == PV_E_LIMIT && prediction->lack != NULL ? PV_OK : code;
}

/* How much longer than predicted the job may take there; NAN: the runs do not bound it. */
static double longer_of(const struct curve *curve, const struct curve_point *point)
{
    return curve_quantile(curve, point, RECORDED_CONFIDENCE) / point->duration_s;
}

/* Advice's predicted duration on all executors of the cluster, and how much longer it may take; NAN if
 * advice predicts none. */
static enum pv_code predict_duration(const struct config *config,
                                     const struct codec_job_set *set,
                                     size_t i,
                                     struct arena *arena,
                                     struct arena *scratch,
                                     double *duration_s,
                                     double *longer,
                                     struct pv_error *err)
{
    struct history_prediction prediction;
    PV_TRY(predict(config, set, i, set->size.cores_per_executor, arena, scratch, &prediction, err));
    const struct curve_point *point =
        prediction.lack == NULL ? curve_find(&prediction.curve, set->size.executors) : NULL;
    *duration_s = point == NULL ? (double)NAN : point->duration_s;
    *longer = point == NULL ? (double)NAN : longer_of(&prediction.curve, point);
    return PV_OK;
}

/* A job without stages: a block of the executors and the duration that advice predicts; if no run
 * had such executors, for executors like those of the latest run on as many cores. */
static enum pv_code make_block(const struct config *config,
                               const struct codec_job_set *set,
                               size_t i,
                               struct arena *arena,
                               struct arena *scratch,
                               struct recorded_job *made,
                               struct pv_error *err)
{
    struct history_prediction prediction;
    const struct curve *curve = &prediction.curve;
    PV_TRY(predict(config, set, i, set->size.cores_per_executor, arena, scratch, &prediction, err));
    if (prediction.lack != NULL)
        PV_TRY(predict(config, set, i, RUN_UNKNOWN, arena, scratch, &prediction, err));
    if (prediction.lack != NULL)
        return pv_fail(err, PV_E_TOO_FEW, "%s", prediction.lack);
    const struct curve_point *point =
        find_below(curve, (int64_t)set->cores / curve->cores_per_executor);
    if (point == NULL)
        return pv_fail(
            err, PV_E_TOO_FEW, "an executor has %lld core%s, and the cluster has only %zu",
            (long long)curve->cores_per_executor, PLURAL(curve->cores_per_executor), set->cores);
    *made = (struct recorded_job){.overhead = JOB_OVERHEAD_NONE,
                                  .block_executors = point->executors,
                                  .longer = longer_of(curve, point),
                                  .warned = curve->warned};
    return recorded_job_block(point->executors * curve->cores_per_executor, point->duration_s,
                              arena, &made->job, err);
}

static enum pv_code make_recorded(const struct config *config,
                                  const struct codec_job_set *set,
                                  size_t i,
                                  struct arena *arena,
                                  struct arena *scratch,
                                  struct recorded_job *made,
                                  struct pv_error *err)
{
    const struct codec_job_sent *source = &set->sources[i];
    struct recorded_job_question question = {
        .runs = set->loaded[i].runs.items,
        .n_runs = set->loaded[i].runs.n,
        .target = {source->problem_size, set->size.executors, set->size.cores_per_executor},
        .predicted_duration_s = (double)NAN,
        .idle_time = source->overhead == JOB_OVERHEAD_IDLE_TIME,
        .overhead_s = source->overhead_s};
    double longer = (double)NAN;
    if (question.n_runs == 0)
        return make_block(config, set, i, arena, scratch, made, err);
    if (!question.idle_time)
        PV_TRY(predict_duration(config, set, i, arena, scratch, &question.predicted_duration_s,
                                &longer, err));
    PV_TRY(recorded_job_make(&question, arena, made, err));
    made->longer = longer;
    return take_rate(made->run, arena, &set->nominal_rates[i], err);
}

/* A job before i that comes from the same runs with the same overhead, or i. */
static size_t find_same(const struct codec_job_set *set, size_t i)
{
    const struct codec_job_sent *source = &set->sources[i];
    for (size_t k = 0; k < i; k++) {
        const struct codec_job_sent *other = &set->sources[k];
        const bool same_overhead = isnan(source->overhead_s)
                                       ? isnan(other->overhead_s)
                                       : other->overhead_s == source->overhead_s;
        const bool same_size = isnan(source->problem_size)
                                   ? isnan(other->problem_size)
                                   : other->problem_size == source->problem_size;
        if (other->application.at != NULL && same_overhead && same_size &&
            other->overhead == source->overhead &&
            strview_equal(other->application, source->application))
            return k;
    }
    return i;
}

/* Stages and overhead; the rest of the job is the request's. */
static void take_recorded(struct codec_job_set *set, size_t i)
{
    const struct edf_job *recorded = &set->recorded[i].job;
    set->jobs[i].stages = recorded->stages;
    set->jobs[i].n_stages = recorded->n_stages;
    set->jobs[i].overhead_per_task_s = recorded->overhead_per_task_s;
}

static enum pv_code check_tasks(const struct codec_job_set *set, int64_t most, struct pv_error *err)
{
    if (codec_job_set_tasks(set) <= (size_t)most)
        return PV_OK;
    return pv_fault(err, PV_PLACE_POINTER, "/jobs", "too_many_items",
                    "with the jobs from history there are more than %lld task%s (tasks_max)",
                    (long long)most, PLURAL(most));
}

enum pv_code job_set_load_from(struct store_tx *tx,
                               struct arena *arena,
                               const struct config *config,
                               struct codec_job_set *set,
                               struct pv_error *err)
{
    set->loaded = arena_calloc(arena, set->n_jobs, sizeof *set->loaded);
    if (set->loaded == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < set->n_jobs; i++)
        if (set->sources[i].application.at != NULL && find_same(set, i) == i)
            PV_TRY(load_job(tx, arena, config, set, i, err));
    return PV_OK;
}

enum pv_code job_set_make_jobs(const struct config *config,
                               struct arena *arena,
                               struct codec_job_set *set,
                               struct pv_error *err)
{
    struct arena scratch;
    struct pv_error why = {0};
    enum pv_code code = PV_OK;
    if (!job_set_has_history(set))
        return PV_OK;
    set->recorded = arena_calloc(arena, set->n_jobs, sizeof *set->recorded);
    set->nominal_rates = arena_array(arena, set->n_jobs, sizeof *set->nominal_rates);
    if (set->recorded == NULL || set->nominal_rates == NULL)
        return pv_no_memory(err);
    arena_init_beside(&scratch, arena, (size_t)config->request_memory_bytes_max);
    for (size_t i = 0; code == PV_OK && i < set->n_jobs; i++) {
        const size_t same = find_same(set, i);
        set->nominal_rates[i] = (double)NAN;
        if (set->sources[i].application.at == NULL)
            continue;
        if (same == i)
            code = make_recorded(config, set, i, arena, &scratch, &set->recorded[i], &why);
        if (code != PV_OK)
            code = fault_no_history(err, i, code, &why);
        set->recorded[i] = set->recorded[same];
        if (same != i)
            set->recorded[i].warned = (struct warned_runs){.runs = 0};
        set->nominal_rates[i] = set->nominal_rates[same];
        take_recorded(set, i);
    }
    arena_fini(&scratch);
    return code == PV_OK ? check_tasks(set, config->tasks_max, err) : code;
}

void job_set_warn(const struct codec_job_set *set, struct findings *warnings)
{
    struct strview *names = arena_array(warnings->arena, set->n_jobs, sizeof *names);
    warnings->failed = warnings->failed || names == NULL;
    for (size_t i = 0; names != NULL && i < set->n_jobs; i++)
        names[i] = set->sources[i].name;
    if (names != NULL && set->recorded != NULL)
        recorded_jobs_warn(names, set->recorded, set->n_jobs, warnings);
}

bool job_set_has_history(const struct codec_job_set *set)
{
    for (size_t i = 0; i < set->n_jobs; i++)
        if (set->sources[i].application.at != NULL)
            return true;
    return false;
}

enum pv_code job_set_load_jobs(struct api *api,
                               struct http_request *request,
                               struct codec_job_set *set,
                               struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    if (!job_set_has_history(set))
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    PV_TRY(api_read(api, request, &tx, err));
    return job_set_load_from(tx, request->arena, api->config, set, err);
}
