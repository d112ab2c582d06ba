#include "api/advice/advice_load.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "api/clusters/cluster_room.h"
#include "api/clusters/named_cluster.h"
#include "base/fault_text.h"
#include "core/advice/beside_running.h"
#include "metrics/registry.h"
#include "store/advice/advised_jobs.h"
#include "store/clusters/price_book.h"
#include "store/history/application.h"
#include "store/history/name_rules.h"
#include "store/history/run_durations.h"
#include "store/name_hint.h"
#include "threads/clock.h"

METRIC_COUNTER(searches,
               "provisor_process_searches_total",
               "Predictions that pool label groups, by the search for the process over them: kept "
               "(the fitter had made it) or made (while the request waited).",
               "outcome");

struct advice_limits advice_limits_of(const struct config *config)
{
    return (struct advice_limits){.executors = config->executors_max,
                                  .cores = config->cores_max,
                                  .task_budget = (uint64_t)config->advice_task_budget,
                                  .joint_task_budget = (uint64_t)config->remedy_task_budget,
                                  .extrapolation = (double)config->advice_extrapolation_max,
                                  .error_percent = (double)config->advice_error_percent_max,
                                  .memory_per_core_bytes = config->advice_memory_per_core_bytes,
                                  .memory_cut_runs = (size_t)config->advice_memory_cut_runs};
}

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
        return pv_fault(err, PV_PLACE_POINTER, pointer, "unknown_application", "%.*s", 190,
                        why.detail);
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
}

/* --- clusters --- */

static enum pv_code check_copy_clusters(struct store_tx *tx,
                                        struct arena *arena,
                                        const struct advice_question *question,
                                        struct pv_error *err)
{
    size_t n = question->n_clusters;
    enum pv_code code = PV_OK;
    struct cluster *clusters = arena_array(arena, n, sizeof *clusters);
    if (clusters == NULL)
        return pv_no_memory(err);
    PV_TRY(store_cluster_of_names(tx, arena, question->clusters, n, clusters, err));
    for (size_t i = 0; i < n; i++) {
        char at[64];
        (void)snprintf(at, sizeof at, "/copy_plan/clusters/%zu", i);
        if (clusters[i].id[0] == '\0')
            code = pv_fault(
                err, PV_PLACE_POINTER, at, "unknown_cluster", "there is no cluster %s%s",
                fault_quote(question->clusters[i].at).text,
                store_name_hint(tx, arena, STORE_NAMES_CLUSTERS, question->clusters[i].at));
    }
    return code;
}

/*
 * As many executors as are free at every instant up to the deadline, or from now on where there is
 * none: with those the job makes nobody late who has reserved.
 */
static enum pv_code bound_by_admissions(struct store_tx *tx,
                                        struct arena *arena,
                                        const struct cluster *named,
                                        struct advice_question *question,
                                        struct pv_error *err)
{
    static const double for_ever_s = 1e9;
    static const char at[] = "/constraints/cluster";
    const struct cluster_traits *traits = &named->traits;
    struct cluster_room room = {.least = {0, 0}};
    int64_t earliest_us;
    PV_TRY(cluster_need(named, traits->executors, "executors", at, err));
    PV_TRY(cluster_need(named, traits->cores_per_executor, "cores_per_executor", at, err));
    PV_TRY(store_admission_holdings(tx, arena, named->id, "", &room.held, err));
    const double seconds =
        isnan(question->goal.deadline_s) ? for_ever_s : fmin(for_ever_s, question->goal.deadline_s);
    const int64_t now_us = room.held.now_us, length_us = 1 + (int64_t)(seconds * 1e6);
    const int64_t own = question->cores_per_executor == RUN_UNKNOWN ? traits->cores_per_executor
                                                                    : question->cores_per_executor;
    const int64_t fewest = question->goal.min_executors < traits->executors
                               ? question->goal.min_executors
                               : traits->executors;
    const int64_t each_bytes = traits->memory_bytes_per_executor;
    const struct reservation_amounts least = {
        .quanta = reservation_quanta((double)own * (double)question->goal.min_executors),
        .memory_bytes = each_bytes == RUN_UNKNOWN         ? RUN_UNKNOWN
                        : each_bytes > INT64_MAX / fewest ? INT64_MAX
                                                          : each_bytes * fewest};
    room.capacity = reservation_capacity(traits);
    PV_TRY(cluster_room_look(&room, now_us, now_us + length_us, arena, err));
    if (least.quanta <= room.capacity.quanta && !cluster_room_has(&room, least)) {
        if (!reservations_earliest(room.held.items, room.held.n, room.capacity, least, now_us,
                                   length_us, arena, &earliest_us))
            return pv_no_memory(err);
        return cluster_room_refuse(
            &room, isnan(question->goal.deadline_s) ? "from now on" : "up to the deadline",
            earliest_us, err);
    }
    question->free_cores = room.least.quanta / reservation_quanta(1);
    question->free_memory_bytes = room.least.memory_bytes;
    int64_t most = room.least.quanta / reservation_quanta((double)own);
    if (each_bytes != RUN_UNKNOWN && room.least.memory_bytes / each_bytes < most)
        most = room.least.memory_bytes / each_bytes;
    if (most >= 1 && most < question->goal.max_executors) {
        question->goal.max_executors = most;
        question->goal.limited_by = "what admissions leave free of the cluster";
    }
    return PV_OK;
}

static struct advice_running
running_of(const struct advised_job_row *row, int64_t each_bytes, int64_t now_us)
{
    int64_t bytes = row->memory_bytes;
    if (bytes == RUN_UNKNOWN && each_bytes != RUN_UNKNOWN)
        bytes = each_bytes > INT64_MAX / row->executors ? INT64_MAX : each_bytes * row->executors;
    return (struct advice_running){
        .application = row->application,
        .problem_size = row->problem_size,
        .release_s = (double)(row->starts_us - now_us) / 1e6,
        .deadline_s = fmax(1e-6, (double)(row->due_us - row->starts_us) / 1e6),
        .progress = (double)NAN,
        .memory_bytes = bytes,
        .advice_id = row->advice_id,
        .admission_id = row->admission_id[0] == '\0' ? NULL : row->admission_id,
        .cores = (int64_t)ceil(row->cores),
        .duration_s = row->predicted_duration_s};
}

/* The jobs that were advised for the cluster and have not reported back, behind those of the request.
 * Those that hold an admission count by it, unless admissions are left out of the cluster anyway. */
static enum pv_code add_advised(struct store_tx *tx,
                                struct arena *arena,
                                const struct cluster *named,
                                size_t most,
                                struct advice_question *question,
                                struct pv_error *err)
{
    struct advised_job_list list;
    const int64_t now_us = clock_wall_us();
    const size_t listed = question->n_running;
    if (question->running_from != RUNNING_ADVISED)
        return PV_OK;
    PV_TRY(store_advised_jobs(tx, arena, named->name, question->beside_admissions, now_us, most,
                              &list, err));
    struct advice_running *all = arena_array(arena, listed + list.n, sizeof *all);
    if (all == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < listed; i++)
        all[i] = question->running[i];
    for (size_t i = 0; i < list.n; i++)
        all[listed + i] =
            running_of(&list.items[i], named->traits.memory_bytes_per_executor, now_us);
    question->running = all;
    question->n_running = listed + list.n;
    question->advised_are_cut = list.more;
    return PV_OK;
}

/* What jobs that were advised need is a size. */
static enum pv_code
need_size(const struct cluster *named, const struct advice_question *question, struct pv_error *err)
{
    static const char at[] = "/constraints/cluster";
    const struct cluster_traits *traits = &named->traits;
    if (question->running_from != RUNNING_ADVISED)
        return PV_OK;
    PV_TRY(cluster_need(named, traits->executors, "executors", at, err));
    return cluster_need(named, traits->cores_per_executor, "cores_per_executor", at, err);
}

/* Bound the question by its cluster, and take the price of a registered one. */
static enum pv_code take_cluster(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct advice_limits *limits,
                                 size_t advised_most,
                                 struct advice_question *question,
                                 struct advice_cluster *cluster,
                                 struct pv_error *err)
{
    struct cluster named;
    struct price_found price;
    bool has_price = false;
    const bool is_named = question->cluster.at != NULL;
    const bool is_sized = !is_named && question->sized_cluster != NULL;
    if (is_named)
        PV_TRY(
            named_cluster_find(tx, arena, question->cluster, "/constraints/cluster", &named, err));
    else if (is_sized)
        named = (struct cluster){.traits = *question->sized_cluster};
    if (is_named && question->beside_admissions)
        PV_TRY(bound_by_admissions(tx, arena, &named, question, err));
    if (is_named) {
        PV_TRY(need_size(&named, question, err));
        PV_TRY(add_advised(tx, arena, &named, advised_most, question, err));
    }
    if (is_named && !question->has_price && named.price_book.at != NULL)
        PV_TRY(store_price_find(tx, arena, named.price_book_id, named.name,
                                named.traits.machine_type, &price, &has_price, err));
    return advice_cluster_apply(is_named || is_sized ? &named : NULL, has_price ? &price : NULL,
                                limits, question, cluster, err);
}

/* --- the prediction --- */

static void advice_load_absorb(crypto_generichash_state *state, struct strview text)
{
    uint64_t n = text.n;
    (void)crypto_generichash_update(state, (const unsigned char *)&n, sizeof n);
    (void)crypto_generichash_update(state, (const unsigned char *)text.at, n);
}

/* Of labels, and of what a task is to take; zeros for neither. */
static void digest_labels(const struct advice_question *question, unsigned char digest[32])
{
    crypto_generichash_state state;
    const struct run_asked asked = stage_slots_asked(&question->spark_constraints);
    bool as_recorded =
        asked.task_cores == 0 && asked.gpus_per_executor == 0 && asked.gpus_per_task == 0.0;
    memset(digest, 0, 32);
    if (question->n_labels == 0 && as_recorded)
        return;
    (void)crypto_generichash_init(&state, NULL, 0, 32);
    for (size_t i = 0; i < question->n_labels; i++) {
        advice_load_absorb(&state, question->labels[i].key);
        advice_load_absorb(&state, question->labels[i].value);
    }
    if (!as_recorded)
        (void)crypto_generichash_update(&state, (const unsigned char *)&asked, sizeof asked);
    (void)crypto_generichash_final(&state, digest, 32);
}

static struct prediction_key key_of(const struct http_request *request,
                                    const struct advice_question *question)
{
    struct prediction_key key = {.team_id = request->principal.team_id,
                                 .application = question->application.at,
                                 .problem_size = question->problem_size,
                                 .cores_per_executor = question->cores_per_executor,
                                 .min_executors = question->goal.min_executors,
                                 .max_executors = question->goal.max_executors};
    digest_labels(question, key.labels);
    return key;
}

/* The runs of the label group that can be replayed, where labels make one. item: keeps which; or
 * NULL. */
static enum pv_code load_own(struct store_tx *tx,
                             struct arena *arena,
                             const struct application *application,
                             double problem_size,
                             size_t most,
                             struct prediction_item *item,
                             struct advice_history *history,
                             struct pv_error *err)
{
    size_t n = 0, *rows = NULL;
    struct run_list own = {.items = NULL};
    PV_TRY(label_group_nearest(&history->group, &history->seen, problem_size, most, arena, &rows,
                               &n, err));
    if (n == 0)
        return PV_OK;
    struct run_id *ids = arena_array(item == NULL ? arena : &item->arena, n, sizeof *ids);
    if (ids == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        memcpy(ids[i].text, history->seen.evidence[rows[i]].run_id, sizeof ids[i].text);
    if (item != NULL) {
        item->replayed = ids;
        item->n_replayed = n;
    }
    PV_TRY(store_run_of_ids(tx, arena, application, ids, n, &own, err));
    history->own = own.items;
    history->n_own = own.n;
    return PV_OK;
}

/* Loads the latest runs with their configuration. Streaming runs are left out, because they do not
 * resemble batch jobs. */
static enum pv_code load_latest(struct store_tx *tx,
                                struct arena *arena,
                                const struct application *application,
                                struct advice_history *history,
                                struct pv_error *err)
{
    enum { LATEST = PROBLEM_SIZE_PREVAILING_RUNS };
    const struct run_filter filter = {.since_us = RUN_NO_INSTANT,
                                      .until_us = RUN_NO_INSTANT,
                                      .before_us = RUN_NO_INSTANT,
                                      .limit = LATEST};
    struct run_list list;
    PV_TRY(store_run_list(tx, arena, application, &filter, &list, err));
    history->latest = list.items;
    history->size_measure = problem_size_prevailing(list.items, list.n);
    for (size_t i = 0; i < list.n; i++) {
        struct run *run = &list.items[i];
        if (run->streaming_queries > 0)
            continue;
        if (!problem_size_compares(run, history->size_measure)) {
            run->problem_size = (double)NAN;
            history->n_measured_otherwise += run->succeeded;
        }
        history->latest[history->n_latest++] = *run;
    }
    return PV_OK;
}

static enum pv_code load_history(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 const struct advice_question *question,
                                 size_t most,
                                 struct prediction_item *item,
                                 struct advice_history *history,
                                 struct pv_error *err)
{
    struct run_list nearest = {.items = NULL};
    struct missing_counts counts;
    struct pv_error lack = {0};
    PV_TRY(load_latest(tx, arena, application, history, err));
    history->session = name_is_session(application->name);
    PV_TRY(store_run_durations(tx, arena, application, MODEL_RUNS_MAX, &history->seen, err));
    PV_TRY(label_group_of_explaining(&history->seen, question->labels, question->n_labels, arena,
                                     &history->group, err));
    PV_TRY(load_own(tx, arena, application, question->problem_size, most, item, history, err));
    if (history->n_own > 0)
        return PV_OK;
    PV_TRY(store_run_nearest(tx, arena, application, question->problem_size, true, most, &nearest,
                             err));
    history->nearest = nearest.items;
    history->n_nearest = nearest.n;
    history->lack = "none of the runs with labels like these has stages, executors and cores";
    if (nearest.n > 0)
        return PV_OK;
    PV_TRY(store_run_missing_counts(tx, application, &counts, err));
    (void)missing_counts_refuse(&counts, application->runs, &lack);
    history->streaming = counts.streaming > 0 && history->seen.n == 0;
    history->lack = arena_strdup(arena, lack.detail);
    return history->lack == NULL ? pv_no_memory(err) : PV_OK;
}

enum pv_code advice_history_load(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 const struct advice_question *question,
                                 size_t most,
                                 struct advice_history *history,
                                 struct pv_error *err)
{
    *history = (struct advice_history){.own = NULL};
    return load_history(tx, arena, application, question, most, NULL, history, err);
}

static void forget_loaded(struct advice_prediction *prediction)
{
    if (prediction->is_loaded)
        arena_fini(&prediction->loaded);
    prediction->is_loaded = false;
    prediction_item_release(prediction->making);
    prediction->making = NULL;
}

void advice_prediction_end(struct advice_prediction *prediction)
{
    forget_loaded(prediction);
    prediction_item_release(prediction->item);
    prediction->item = NULL;
}

/* An empty item, and memory for what is loaded. */
static enum pv_code begin_item(struct api *api,
                               struct advice_prediction *prediction,
                               struct arena *beside,
                               struct pv_error *err)
{
    size_t memory_max = (size_t)api->config->request_memory_bytes_max;
    forget_loaded(prediction);
    prediction->making = prediction_item_create(memory_max);
    if (prediction->making == NULL)
        return pv_no_memory(err);
    arena_init_beside(&prediction->loaded, beside, memory_max);
    prediction->is_loaded = true;
    return PV_OK;
}

/* The application of the question; where there is none of that name, the one that the rules fold it
 * into, as logs are. */
static enum pv_code find_asked(struct store_tx *tx,
                               struct arena *arena,
                               struct advice_question *question,
                               struct application *application,
                               struct pv_error *err)
{
    struct name_folding folding;
    struct pv_error missing = {0}, why = {0};
    enum pv_code code = find_application(tx, arena, question->application.at, "/application",
                                         application, &missing);
    if (code == PV_E_INVALID) {
        PV_TRY(store_name_fold(tx, arena, question->application, &folding, err));
        const char *name = arena_strndup(arena, folding.application.at, folding.application.n);
        if (name == NULL)
            return pv_no_memory(err);
        if (folding.n_applied > 0 &&
            store_application_find(tx, arena, name, application, &why) == PV_OK) {
            question->folded_from = question->application;
            question->application = strview_of(name);
            return PV_OK;
        }
    }
    if (code != PV_OK && err != NULL)
        *err = missing;
    return code;
}

/* What is behind in the cache, or NULL, is let go, or confirmed and handed on. */
static enum pv_code renew_item(struct api *api,
                               struct http_request *request,
                               struct store_tx *tx,
                               struct advice_question *question,
                               const struct prediction_item *behind,
                               struct advice_prediction *prediction,
                               struct pv_error *err)
{
    struct application application;
    enum pv_code code = find_asked(tx, request->arena, question, &application, err);
    if (code == PV_OK && behind != NULL && strcmp(behind->application_id, application.id) == 0 &&
        behind->history_version == application.history_version) {
        prediction_cache_confirm(api->history, behind, prediction->read_ns);
        prediction->item = behind;
        return PV_OK;
    }
    prediction_item_release(behind);
    PV_TRY(code);
    PV_TRY(begin_item(api, prediction, request->arena, err));
    struct prediction_item *making = prediction->making;
    prediction->history = (struct advice_history){.own = NULL};
    memcpy(making->application_id, application.id, sizeof making->application_id);
    making->history_version = application.history_version;
    return load_history(tx, &prediction->loaded, &application, question,
                        (size_t)api->config->nearest_runs, making, &prediction->history, err);
}

/* What the cluster and those of a copy plan say, with *tx begun where they are named. */
static enum pv_code load_clusters(struct api *api,
                                  struct http_request *request,
                                  struct store_tx **tx,
                                  struct advice_question *question,
                                  struct advice_cluster *cluster,
                                  struct pv_error *err)
{
    const struct advice_limits limits = advice_limits_of(api->config);
    if (question->n_clusters > 0 || question->cluster.at != NULL) {
        PV_TRY(http_move(request, HTTP_IO));
        PV_TRY(api_read(api, request, tx, err));
    }
    if (question->n_clusters > 0)
        PV_TRY(check_copy_clusters(*tx, request->arena, question, err));
    return take_cluster(*tx, request->arena, &limits, (size_t)api->config->advised_jobs_max,
                        question, cluster, err);
}

enum pv_code advice_prediction_load(struct api *api,
                                    struct http_request *request,
                                    struct advice_question *question,
                                    struct advice_cluster *cluster,
                                    struct advice_prediction *prediction,
                                    struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    const struct prediction_item *found = NULL;
    prediction->read_ns = clock_monotonic_ns();
    prediction->epoch = prediction_cache_epoch(api->history);
    PV_TRY(load_clusters(api, request, &tx, question, cluster, err));
    if (question->application.at == NULL)
        return PV_OK;
    struct prediction_key key = key_of(request, question);
    if (prediction_cache_find(api->history, &key, prediction->read_ns, &found) ==
        PREDICTION_FRESH) {
        prediction->item = found;
        return PV_OK;
    }
    enum pv_code code = http_move(request, HTTP_IO);
    if (code == PV_OK && tx == NULL)
        code = api_read(api, request, &tx, err);
    if (code == PV_OK)
        return renew_item(api, request, tx, question, found, prediction, err);
    prediction_item_release(found);
    return code;
}

static void count_search(enum predictor_search search)
{
    if (search == PREDICTOR_SEARCH_KEPT)
        metric_add(&searches, 1, METRIC_LABELS("kept"));
    else if (search == PREDICTOR_SEARCHED)
        metric_add(&searches, 1, METRIC_LABELS("made"));
}

static enum pv_code fill_item(struct api *api,
                              const struct advice_question *question,
                              struct advice_prediction *prediction,
                              struct arena *scratch,
                              struct pv_error *err)
{
    const struct advice_limits limits = advice_limits_of(api->config);
    struct prediction_item *item = prediction->making;
    if (question->application.at == NULL)
        return profile_predict(question, &limits, &item->arena, scratch, &item->prediction, err);
    PV_TRY(history_predict(question, &limits, &prediction->history, &item->arena, scratch,
                           &item->prediction, err));
    count_search(item->prediction.predictor.search);
    if (!item->prediction.from_own)
        item->n_replayed = 0;
    return PV_OK;
}

enum pv_code advice_prediction_make(struct api *api,
                                    struct http_request *request,
                                    const struct advice_question *question,
                                    struct advice_prediction *prediction,
                                    struct pv_error *err)
{
    struct arena scratch;
    if (prediction->item != NULL)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_COMPUTE));
    if (prediction->making == NULL)
        PV_TRY(begin_item(api, prediction, request->arena, err));
    arena_init_beside(&scratch, request->arena, (size_t)api->config->request_memory_bytes_max);
    enum pv_code code = fill_item(api, question, prediction, &scratch, err);
    arena_fini(&scratch);
    if (code == PV_OK && question->application.at != NULL) {
        struct prediction_key key = key_of(request, question);
        prediction_cache_publish(api->history, &key, prediction->making, prediction->read_ns,
                                 prediction->epoch);
    }
    if (code == PV_OK) {
        prediction->item = prediction->making;
        prediction->making = NULL;
    }
    forget_loaded(prediction);
    return code;
}

/* --- runs --- */

/* Running job i: as it was advised, or with the recorded runs nearest to it on so many cores. */
static enum pv_code load_running(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct advice_running *running,
                                 size_t i,
                                 int64_t cores,
                                 size_t most,
                                 struct joint_running *job,
                                 struct pv_error *err)
{
    char pointer[64];
    struct application application;
    struct run_list runs;
    *job = (struct joint_running){
        .release_s = running->release_s,
        .deadline_s = running->deadline_s,
        .progress = running->progress,
        .cores = running->cores,
        .duration_s = running->duration_s,
        .problem_size = running->problem_size,
        .memory_bytes = running->memory_bytes == RUN_UNKNOWN ? 0 : running->memory_bytes};
    if (running->advice_id != NULL)
        return PV_OK;
    (void)snprintf(pointer, sizeof pointer, "/running/%zu/application", i);
    PV_TRY(find_application(tx, arena, running->application.at, pointer, &application, err));
    PV_TRY(store_run_nearest_in_cores(tx, arena, &application, running->problem_size, cores, most,
                                      &runs, err));
    if (runs.n == 0)
        return pv_fault(err, PV_PLACE_POINTER, pointer, "no_history",
                        "has no successful run with stages, executors and cores");
    job->runs = runs.items;
    job->n_runs = runs.n;
    return PV_OK;
}

/* The runs that the prediction is from: those that labels chose, else the nearest. */
static enum pv_code load_own_runs(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct advice_question *question,
                                  const struct prediction_item *item,
                                  size_t most,
                                  struct advice_runs *runs,
                                  struct pv_error *err)
{
    struct application application;
    struct run_list list;
    PV_TRY(
        find_application(tx, arena, question->application.at, "/application", &application, err));
    if (item->n_replayed > 0)
        PV_TRY(store_run_of_ids(tx, arena, &application, item->replayed, item->n_replayed, &list,
                                err));
    else
        PV_TRY(store_run_nearest(tx, arena, &application, item->prediction.curve.problem_size, true,
                                 most, &list, err));
    for (size_t i = 0; i < list.n; i++)
        list.items[i].asked = stage_slots_asked(&question->spark_constraints);
    runs->own = list.items;
    runs->n_own = list.n;
    return PV_OK;
}

enum pv_code advice_load_runs(struct api *api,
                              struct http_request *request,
                              const struct advice_question *question,
                              const struct prediction_item *item,
                              struct advice_runs *runs,
                              struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct arena *arena = request->arena;
    const size_t most = (size_t)api->config->nearest_runs;
    const int64_t cores = beside_running_cores(question, item->prediction.curve.cores_per_executor);
    *runs = (struct advice_runs){.own = &question->profile, .n_own = 1};
    if (question->n_running == 0 && question->application.at == NULL)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    runs->running = arena_calloc(arena, question->n_running, sizeof *runs->running);
    if (runs->running == NULL)
        return pv_no_memory(err);
    PV_TRY(api_read(api, request, &tx, err));
    for (size_t i = 0; i < question->n_running; i++)
        PV_TRY(
            load_running(tx, arena, &question->running[i], i, cores, most, &runs->running[i], err));
    if (question->application.at != NULL)
        PV_TRY(load_own_runs(tx, arena, question, item, most, runs, err));
    if (question->n_running > 0 && question->running_from == RUNNING_LISTED && runs->n_own == 0)
        return pv_fault(
            err, PV_PLACE_POINTER, "/running", "no_history",
            "needs a successful run of the new job's application with stages, executors and cores");
    return PV_OK;
}
