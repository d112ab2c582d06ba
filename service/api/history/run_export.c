#include <stdio.h>
#include <stdlib.h>

#include "api/routes.h"
#include "api/shared/query.h"
#include "codec/history/run.h"
#include "store/history/run.h"
#include "threads/clock.h"

/*
 * GET /v1/applications/{name}/runs/export: whole runs, one a line, in the order of the list. Pages
 * are read by keyset inside one transaction, so the file is the history as it stood when the export
 * began, and memory holds one page. The transaction takes a connection while the client reads:
 * hence the bound on exports at once (exports_max) and on the time of each (export_timeout_s).
 */
enum { PAGE_RUNS = 200 };

struct run_export {
    struct api *api;
    struct store_tx *tx;
    struct application application;
    struct run_filter filter; /* its labels are the request's, which lives as long as the answer */
    uint64_t deadline_ns;
    struct arena arena; /* of the page */
    bool more;          /* there is a page behind the one in `text` */
    const char *text;   /* made and not given away yet */
    size_t n;
};

static enum pv_code run_export_read_filter(struct api *api,
                                           struct http_request *request,
                                           struct run_filter *filter,
                                           struct pv_error *err)
{
    static const char *const allowed[] = {"label*", "since", "until", NULL};
    struct run_label *labels = NULL;
    *filter = (struct run_filter){.before_us = RUN_NO_INSTANT,
                                  .limit = PAGE_RUNS,
                                  .with = RUN_WITH_STAGES | RUN_WITH_TASKS | RUN_WITH_DIGEST,
                                  .stages_most = (size_t)api->config->stages_max,
                                  .tasks_most = (size_t)api->config->tasks_max / 4 + 1};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_labels(api, request, &labels, &filter->n_labels, err));
    PV_TRY(api_query_instant(request, "since", &filter->since_us, err));
    PV_TRY(api_query_instant(request, "until", &filter->until_us, err));
    filter->labels = labels;
    return PV_OK;
}

/* The next page as text; the cursor moves behind it. */
static enum pv_code make_page(struct run_export *export, struct pv_error *err)
{
    struct run_list list = {.items = NULL};
    arena_fini(&export->arena);
    PV_TRY(store_run_list(export->tx, &export->arena, &export->application, &export->filter, &list,
                          err));
    struct writer w;
    writer_init(&w, &export->arena);
    for (size_t i = 0; i < list.n; i++) {
        codec_run_encode(&w, &list.items[i], export->application.name,
                         CODEC_RUN_TASKS | CODEC_RUN_RECORD);
        writer_end_line(&w);
    }
    export->text = writer_finish(&w, &export->n);
    if (export->text == NULL)
        return pv_fail(err, PV_E_MEMORY, "a page of the export does not fit into memory");
    export->more = list.more;
    if (list.n > 0) {
        export->filter.before_us = list.instants_us[list.n - 1];
        (void)snprintf(export->filter.before_id, sizeof export->filter.before_id, "%s",
                       list.items[list.n - 1].id);
    }
    return PV_OK;
}

static enum pv_code
run_export_next(void *state, const char **bytes, size_t *n, struct pv_error *err)
{
    struct run_export *export = state;
    *n = 0;
    if (export->text == NULL && !export->more)
        return PV_OK;
    if (clock_monotonic_ns() > export->deadline_ns)
        return pv_fail(err, PV_E_TIMEOUT, "the export took longer than %lld s (export_timeout_s)",
                       (long long)export->api->config->export_timeout_s);
    if (export->text == NULL)
        PV_TRY(make_page(export, err));
    *bytes = export->text;
    *n = export->n;
    export->text = NULL;
    if (!export->more)
        store_rollback(&export->tx);
    return PV_OK;
}

static void run_export_end(void *state)
{
    struct run_export *export = state;
    store_rollback(&export->tx);
    arena_fini(&export->arena);
    (void)atomic_fetch_sub(&export->api->exports, 1);
    free(export);
}

static const struct http_source source = {.next = run_export_next, .end = run_export_end};

static enum pv_code take_place(struct api *api, struct pv_error *err)
{
    if (atomic_fetch_add(&api->exports, 1) < api->config->exports_max)
        return PV_OK;
    (void)atomic_fetch_sub(&api->exports, 1);
    err->retry_after_s = 5;
    return pv_fail(err, PV_E_UNAVAILABLE, "%lld exports are under way already (exports_max)",
                   (long long)api->config->exports_max);
}

/* *made is the caller's to end, also after a failure. */
static enum pv_code run_export_begin(struct api *api,
                                     struct http_request *request,
                                     struct run_export **made,
                                     struct pv_error *err)
{
    PV_TRY(take_place(api, err));
    struct run_export *export = calloc(1, sizeof *export);
    if (export == NULL) {
        (void)atomic_fetch_sub(&api->exports, 1);
        return pv_no_memory(err);
    }
    *made = export;
    export->api = api;
    export->deadline_ns =
        clock_monotonic_ns() + (uint64_t)api->config->export_timeout_s * 1000000000u;
    arena_init_beside(&export->arena, request->arena,
                      (size_t)api->config->request_memory_bytes_max);
    return api_read(api, request, &export->tx, err);
}

/* The first page is made before the answer begins, so that what can fail at once has its status.
 * *made is the caller's to end, also after a failure. */
static enum pv_code run_export_start(struct api *api,
                                     struct http_request *request,
                                     struct run_export **made,
                                     struct pv_error *err)
{
    struct run_filter filter;
    PV_TRY(run_export_read_filter(api, request, &filter, err));
    PV_TRY(run_export_begin(api, request, made, err));
    struct run_export *export = *made;
    export->filter = filter;
    PV_TRY(store_application_find(export->tx, request->arena, http_path_parameter(request, "name"),
                                  &export->application, err));
    PV_TRY(store_allow_idle(export->tx, api->config->export_timeout_s * 1000, err));
    return make_page(export, err);
}

enum pv_code runs_export(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err)
{
    struct run_export *export = NULL;
    enum pv_code code = run_export_start(context, request, &export, err);
    if (code != PV_OK && export != NULL)
        run_export_end(export);
    PV_TRY(code);
    response->status = 200;
    response->content_type = "application/x-ndjson";
    response->source = &source;
    response->source_state = export;
    return PV_OK;
}
