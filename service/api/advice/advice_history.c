#include "api/advice/advice_history.h"

#include <stdio.h>
#include <string.h>

#include "api/advice/advice_context.h"
#include "api/advice/advice_curve.h"
#include "api/models/drift.h"
#include "store/history/application.h"
#include "store/history/run.h"
#include "threads/clock.h"

static enum pv_code find_application(struct store_tx *tx,
                                     struct arena *arena,
                                     const char *name,
                                     const char *pointer,
                                     struct application *application,
                                     struct pv_error *err)
{
    struct pv_error why = {0};
    enum pv_code code = store_application_find(tx, arena, name, application, &why);
    if (code == PV_E_NOT_FOUND)
        return pv_fault(err, PV_PLACE_POINTER, pointer, "unknown_application",
                        "there is no application of this name");
    if (code != PV_OK && err != NULL)
        *err = why;
    return code;
}

/* --- the curve --- */

static struct history_key key_of(const struct http_request *request,
                                 const struct codec_advice_request *asked)
{
    struct history_key key = {.team_id = request->principal.team_id,
                              .application = asked->application.at,
                              .problem_size = asked->problem_size,
                              .cores_per_executor = asked->cores_per_executor,
                              .min_executors = asked->question.min_executors,
                              .max_executors = asked->question.max_executors};
    advice_context_digest(asked, key.labels);
    return key;
}

/* ": without executors 2, stages 1; failed 1" in `text`; what no run lacks is not named. */
static void list_lacks(const struct run_lacks *lacks, char *text, size_t room)
{
    const struct {
        int64_t n;
        const char *what;
    } parts[] = {{lacks->executors, "executors"},
                 {lacks->cores_per_executor, "cores_per_executor"},
                 {lacks->problem_size, "problem_size"},
                 {lacks->stages, "stages"}};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].n == 0 || used >= room)
            continue;
        int n = snprintf(text + used, room - used, "%s%s %lld", used == 0 ? ": without " : ", ",
                         parts[i].what, (long long)parts[i].n);
        used += n > 0 ? (size_t)n : 0;
    }
    if (lacks->failed > 0 && used < room)
        (void)snprintf(text + used, room - used, "%s failed %lld", used == 0 ? ":" : ";",
                       (long long)lacks->failed);
}

/* Why no run of the application can be replayed, counted over its latest runs. */
static enum pv_code
refuse_history(struct store_tx *tx, const struct application *application, struct pv_error *err)
{
    struct run_lacks lacks;
    char missing[200], among[64] = "";
    enum pv_code code = store_run_count_lacks(tx, application, &lacks, err);
    if (code != PV_OK)
        return code;
    if (lacks.runs == 0)
        return pv_fail(err, PV_E_TOO_FEW, "the application has no runs yet");
    list_lacks(&lacks, missing, sizeof missing);
    if (lacks.runs < application->runs)
        (void)snprintf(among, sizeof among, "; of the %lld latest", (long long)lacks.runs);
    return pv_fail(err, PV_E_TOO_FEW,
                   "the application has %lld run%s, but none that succeeded with executors, "
                   "cores_per_executor, problem_size and stages known%s%s",
                   (long long)application->runs, application->runs == 1 ? "" : "s", among, missing);
}

/* The nearest runs have what the store can ask for, and yet `why`. */
static enum pv_code refuse_runs(size_t looked_at, const char *why, struct pv_error *err)
{
    if (looked_at == 1)
        return pv_fail(err, PV_E_TOO_FEW, "the only run near enough cannot be replayed: %s", why);
    return pv_fail(err, PV_E_TOO_FEW, "none of the %zu nearest runs can be replayed: %s", looked_at,
                   why);
}

/* What an application's history holds, as loaded; `lack`: why no run can be replayed. */
struct history {
    struct advice_context context;
    struct run_list own;  /* the nearest of the context; none where there is but one */
    struct run_list runs; /* the nearest of all, where there are no own ones */
    struct run_duration_list durations;
    struct pv_error lack;
};

/* The runs of the context that can be replayed, where labels make one. */
static enum pv_code load_own(struct api *api,
                             struct store_tx *tx,
                             const struct codec_advice_request *asked,
                             const struct application *application,
                             struct arena *arena,
                             struct history_item *item,
                             struct history *history,
                             struct pv_error *err)
{
    PV_TRY(advice_context_find(&history->durations, asked, arena, &item->arena, &history->context,
                               err));
    PV_TRY(advice_context_nearest(&history->context, &history->durations, asked->problem_size,
                                  (size_t)api->config->nearest_runs, &item->arena, &item->replayed,
                                  &item->n_replayed, err));
    if (item->n_replayed > 0)
        PV_TRY(store_run_of_ids(tx, arena, application, item->replayed, item->n_replayed,
                                &history->own, err));
    return PV_OK;
}

static enum pv_code load_history(struct api *api,
                                 struct store_tx *tx,
                                 const struct codec_advice_request *asked,
                                 const struct application *application,
                                 struct arena *arena,
                                 struct history_item *item,
                                 struct history *history,
                                 struct pv_error *err)
{
    enum pv_code code = store_run_durations(tx, arena, application, ADVICE_MODEL_RUNS_MAX,
                                            &history->durations, err);
    if (code == PV_OK)
        code = load_own(api, tx, asked, application, arena, item, history, err);
    if (code == PV_OK && history->own.n == 0)
        code = store_run_nearest(tx, arena, application, asked->problem_size, true,
                                 (size_t)api->config->nearest_runs, &history->runs, err);
    if (code == PV_OK && history->own.n == 0 && history->runs.n > 0)
        (void)pv_fail(&history->lack, PV_E_TOO_FEW,
                      "none of the runs with labels like these has stages, executors and cores");
    if (code != PV_OK || history->own.n + history->runs.n > 0)
        return code;
    code = refuse_history(tx, application, &history->lack);
    return code == PV_E_TOO_FEW ? PV_OK : pv_fail(err, code, "%s", history->lack.detail);
}

/* Runs from before a drift, starved ones and outliers count as little in a replay as in a fit. */
static void weigh(struct run_list *runs, const struct run_duration_list *durations, bool faded)
{
    double oldest = durations->n == 0 ? 1 : durations->items[durations->n - 1].weight;
    for (size_t i = 0; i < runs->n; i++) {
        struct run *run = &runs->items[i];
        run->weight = faded ? oldest : 1;
        for (size_t j = 0; j < durations->n; j++)
            if (strcmp(durations->items[j].evidence.run_id, run->id) == 0)
                run->weight = durations->items[j].weight;
    }
}

static enum pv_code weigh_runs(struct history *history,
                               struct arena *scratch,
                               struct codec_watch *watch,
                               struct pv_error *err)
{
    PV_TRY(history_watch_durations(&history->durations, history->context.of, scratch, watch, err));
    weigh(&history->own, &history->durations, watch->faded > 0);
    weigh(&history->runs, &history->durations, watch->faded > 0);
    return PV_OK;
}

/* Replay where it can be done, and whether a model does better. Stages to plan take less than a
 * replay: the nearest run has them also where it is too large for one. */
static enum pv_code predict_from(const struct config *config,
                                 const struct codec_advice_request *asked,
                                 const struct history *history,
                                 struct run_list *runs,
                                 struct history_item *item,
                                 struct pv_error *err)
{
    struct pv_error why = history->lack, lack = {0};
    enum pv_code replayed = PV_E_TOO_FEW;
    if (runs->n > 0) {
        replayed = advice_curve_replay(config, asked, runs->items, runs->n, &item->arena,
                                       &item->curve, &why);
        enum pv_code taken = quotas_take_run(&runs->items[0], &item->arena, &item->stages, &lack);
        if (taken != PV_OK)
            return pv_fail(err, taken, "%s", lack.detail);
    } else {
        item->stages.missing = arena_strdup(&item->arena, why.detail);
        if (item->stages.missing == NULL)
            return pv_no_memory(err);
    }
    if (replayed != PV_OK && replayed != PV_E_TOO_FEW && replayed != PV_E_LIMIT)
        return pv_fail(err, replayed, "%s", why.detail);
    enum pv_code code = advice_curve_choose(config, asked, &history->durations, history->context.of,
                                            replayed == PV_OK, item, &lack);
    if (code == PV_E_TOO_FEW && replayed == PV_E_TOO_FEW && runs->n > 0)
        return refuse_runs(runs->n, why.detail, err);
    if (code == PV_E_TOO_FEW) /* what a replay lacks is more useful to know */
        return pv_fail(err, replayed, "%s", why.detail);
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", lack.detail);
}

/* From the runs of the context; where they allow neither replay nor model, from all runs. */
static enum pv_code predict(const struct config *config,
                            const struct codec_advice_request *asked,
                            struct history *history,
                            struct history_item *item,
                            struct pv_error *err)
{
    struct pv_error why = {0};
    struct advice_context *context = &history->context;
    struct run_list *own = &history->own;
    bool is_one = context->of == NULL;
    enum pv_code code =
        predict_from(config, asked, history, is_one ? &history->runs : own, item, &why);
    if (!is_one && (code == PV_E_TOO_FEW || code == PV_E_LIMIT)) {
        why = (struct pv_error){.code = PV_OK};
        if (history->runs.n > 0)
            history->lack = why;
        advice_context_ignore(context);
        item->n_replayed = 0;
        item->stages = (struct quota_source){.missing = NULL};
        code = predict_from(config, asked, history, own->n > 0 ? own : &history->runs, item, &why);
    }
    item->context = context->found;
    item->context_message = context->message;
    if (code != PV_OK && err != NULL)
        *err = why;
    return code;
}

/* The nearest runs and the curve from them; the application is known. */
static enum pv_code compute(struct api *api,
                            struct store_tx **tx,
                            const struct codec_advice_request *asked,
                            const struct application *application,
                            struct history_item *item,
                            struct pv_error *err)
{
    struct history history = {.runs = {.items = NULL}};
    struct codec_watch watch = {.n_light = 0};
    struct arena loaded;
    arena_init(&loaded, (size_t)api->config->request_memory_bytes_max);
    enum pv_code code = load_history(api, *tx, asked, application, &loaded, item, &history, err);
    store_rollback(tx); /* the connection is not held while computing */
    if (code == PV_OK)
        code = weigh_runs(&history, &loaded, &watch, err);
    if (code == PV_OK)
        code = predict(api->config, asked, &history, item, err);
    if (code == PV_OK) {
        item->predictor.drift = watch.drift;
        item->predictor.runs_watched = history.durations.n;
        item->predictor.runs_light = watch.light_in_all;
    }
    arena_fini(&loaded);
    memcpy(item->application_id, application->id, sizeof item->application_id);
    item->history_version = application->history_version;
    return code;
}

static enum pv_code load(struct api *api,
                         struct http_request *request,
                         const struct codec_advice_request *asked,
                         const struct history_item *stale,
                         const struct history_item **item,
                         struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct application application;
    struct history_key key = key_of(request, asked);
    uint64_t read_ns = clock_monotonic_ns();
    uint64_t epoch = history_cache_epoch(api->history);
    enum pv_code code = api_read(api, request, &tx, err);
    if (code == PV_OK)
        code = find_application(tx, request->arena, asked->application.at, "/application",
                                &application, err);
    if (code == PV_OK && stale != NULL && strcmp(stale->application_id, application.id) == 0 &&
        stale->history_version == application.history_version) {
        store_rollback(&tx);
        history_cache_confirm(api->history, stale, read_ns);
        *item = stale;
        return PV_OK;
    }
    struct history_item *made = NULL;
    if (code == PV_OK && !request->may_compute)
        code = PV_E_DEFER;
    if (code == PV_OK) {
        made = history_item_create((size_t)api->config->request_memory_bytes_max);
        code = made == NULL ? pv_no_memory(err) : compute(api, &tx, asked, &application, made, err);
    }
    store_rollback(&tx);
    history_item_release(stale);
    if (code != PV_OK) {
        history_item_release(made);
        return code;
    }
    history_cache_publish(api->history, &key, made, read_ns, epoch);
    *item = made;
    return PV_OK;
}

static enum pv_code curve_of_profile(struct api *api,
                                     const struct codec_advice_request *asked,
                                     const struct history_item **item,
                                     struct pv_error *err)
{
    struct history_item *made = history_item_create((size_t)api->config->request_memory_bytes_max);
    if (made == NULL)
        return pv_no_memory(err);
    struct pv_error why = {0};
    enum pv_code code = advice_curve_replay(api->config, asked, &asked->profile, 1, &made->arena,
                                            &made->curve, &why);
    if (code == PV_OK)
        code = quotas_take_run(&asked->profile, &made->arena, &made->stages, &why);
    if (code == PV_OK) {
        *item = made;
        return PV_OK;
    }
    history_item_release(made);
    if (code == PV_E_TOO_FEW)
        return pv_fault(err, PV_PLACE_POINTER, "/profile", "too_few_observations", "%s",
                        why.detail);
    if (err != NULL)
        *err = why;
    return code;
}

enum pv_code advice_history_curve(struct api *api,
                                  struct http_request *request,
                                  const struct codec_advice_request *asked,
                                  const struct history_item **item,
                                  struct pv_error *err)
{
    if (!request->may_compute && (asked->application.at == NULL || asked->n_running > 0))
        return PV_E_DEFER;
    if (asked->application.at == NULL)
        return curve_of_profile(api, asked, item, err);
    const struct history_item *found = NULL;
    struct history_key key = key_of(request, asked);
    if (history_cache_find(api->history, &key, clock_monotonic_ns(), &found) == HISTORY_FRESH) {
        *item = found;
        return PV_OK;
    }
    return load(api, request, asked, found, item, err);
}

/* --- with running jobs --- */

/* The recorded run that stands for running job i. */
static enum pv_code load_running(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct codec_advice_running *running,
                                 size_t i,
                                 struct joint_running *job,
                                 struct pv_error *err)
{
    char pointer[64];
    struct application application;
    struct run_list runs;
    (void)snprintf(pointer, sizeof pointer, "/running/%zu/application", i);
    PV_TRY(find_application(tx, arena, running->application.at, pointer, &application, err));
    PV_TRY(store_run_nearest(tx, arena, &application, running->problem_size, true, 1, &runs, err));
    if (runs.n == 0)
        return pv_fault(err, PV_PLACE_POINTER, pointer, "no_history",
                        "has no successful run with stages, executors and cores");
    *job = (struct joint_running){.run = &runs.items[0],
                                  .release_s = running->release_s,
                                  .deadline_s = running->deadline_s,
                                  .progress = running->progress};
    return PV_OK;
}

/* The runs that `history` is from: those that labels chose, else the nearest. */
static enum pv_code load_runs(struct api *api,
                              struct store_tx *tx,
                              struct arena *arena,
                              const struct codec_advice_request *asked,
                              const struct history_item *history,
                              int64_t problem_size,
                              struct run_list *runs,
                              struct pv_error *err)
{
    struct application application;
    PV_TRY(find_application(tx, arena, asked->application.at, "/application", &application, err));
    if (history->n_replayed > 0)
        return store_run_of_ids(tx, arena, &application, history->replayed, history->n_replayed,
                                runs, err);
    return store_run_nearest(tx, arena, &application, problem_size, true,
                             (size_t)api->config->nearest_runs, runs, err);
}

enum pv_code advice_history_runs(struct api *api,
                                 struct http_request *request,
                                 const struct codec_advice_request *asked,
                                 const struct history_item *history,
                                 int64_t problem_size,
                                 struct run_list *runs,
                                 struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    *runs = (struct run_list){.items = NULL};
    PV_TRY(api_read(api, request, &tx, err));
    return load_runs(api, tx, request->arena, asked, history, problem_size, runs, err);
}

static enum pv_code load_all(struct api *api,
                             struct http_request *request,
                             const struct codec_advice_request *asked,
                             const struct history_item *history,
                             int64_t problem_size,
                             struct joint_question *question,
                             struct pv_error *err)
{
    struct arena *arena = request->arena;
    store_tx_auto_t *tx = NULL;
    struct joint_running *jobs = arena_calloc(arena, asked->n_running, sizeof *jobs);
    if (jobs == NULL)
        return pv_no_memory(err);
    PV_TRY(api_read(api, request, &tx, err));
    for (size_t i = 0; i < asked->n_running; i++)
        PV_TRY(load_running(tx, arena, &asked->running[i], i, &jobs[i], err));
    question->running = jobs;
    question->n_running = asked->n_running;
    question->runs = &asked->profile;
    question->n_runs = 1;
    struct run_list runs = {0};
    if (asked->application.at != NULL) {
        PV_TRY(load_runs(api, tx, arena, asked, history, problem_size, &runs, err));
        question->runs = runs.items;
        question->n_runs = runs.n;
        if (runs.n == 0)
            return pv_fault(err, PV_PLACE_POINTER, "/running", "no_history",
                            "takes a successful run of the new job's application with stages, "
                            "executors and cores");
    }
    return PV_OK;
}

enum pv_code advice_history_beside(struct api *api,
                                   struct http_request *request,
                                   const struct codec_advice_request *asked,
                                   const struct history_item *history,
                                   const struct curve *curve,
                                   const struct advice *advice,
                                   struct joint_question *question,
                                   struct joint_outcome *outcome,
                                   struct pv_error *err)
{
    *question = (struct joint_question){
        .target = {curve->problem_size, advice->recommendation.executors,
                   curve->cores_per_executor},
        .predicted_duration_s = advice->recommendation.predicted_duration_s,
        .deadline_s = asked->question.deadline_s,
        .cores = asked->cluster_cores != RUN_UNKNOWN
                     ? (size_t)asked->cluster_cores
                     : (size_t)asked->question.max_executors * (size_t)curve->cores_per_executor,
        .task_budget = (uint64_t)api->config->remedy_task_budget};
    enum pv_code code = load_all(api, request, asked, history, curve->problem_size, question, err);
    if (code != PV_OK)
        return code;
    struct arena scratch;
    arena_init(&scratch, (size_t)api->config->request_memory_bytes_max);
    code = joint_feasibility_check(question, request->arena, &scratch, outcome, err);
    arena_fini(&scratch);
    return code;
}
