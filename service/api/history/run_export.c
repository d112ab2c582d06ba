#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/access/authenticate.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "codec/history/run.h"
#include "ingest/spool.h"
#include "resources/resources.h"
#include "store/history/run.h"
#include "threads/clock.h"

/*
 * GET /v1/applications/{name}/runs/export: whole runs, one a line, in the order of the list.
 * However slowly the client reads, no transaction waits for it: pages are read by keyset in one
 * short transaction into a spool, and sent from there. A history larger than export_spool_bytes is
 * read in several such slices, each as the history stands then. What an export holds is disk and a
 * place among exports, both of the team's share; a client that reads too slowly for long is cut
 * off.
 */
enum { PAGE_RUNS = 200, PIECE_BYTES = 256 * 1024 };

static const uint64_t second_ns = 1000000000u;
static const uint64_t token_checked_s = 5;

struct run_export {
    struct api *api;
    const struct http_request *request; /* lives as long as the answer */
    struct application application;
    struct run_filter filter; /* its labels are the request's */
    struct ledger_account place;
    struct ledger_account disk;
    struct spool_place spool_place;
    struct spool *spool; /* of the slice; NULL: there is none */
    uint64_t spool_at;   /* bytes of it that were sent */
    uint64_t sent_bytes;
    uint64_t begun_ns;
    uint64_t checked_ns; /* when its token was last known to be good */
    struct arena arena;  /* of the page */
    char *piece;         /* PIECE_BYTES, from the spool */
    bool more;           /* there are runs behind the last page */
    const char *text;    /* a page that is all of its slice, not sent yet */
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
static enum pv_code make_page(struct run_export *export, struct store_tx *tx, struct pv_error *err)
{
    struct run_list list = {.items = NULL};
    arena_fini(&export->arena);
    PV_TRY(store_run_list(tx, &export->arena, &export->application, &export->filter, &list, err));
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

static enum pv_code spool_page(struct run_export *export, struct pv_error *err)
{
    if (export->spool == NULL)
        PV_TRY(spool_open(&export->spool_place, &export->spool, err));
    PV_TRY(spool_write(export->spool, export->text, export->n, err));
    export->text = NULL;
    return PV_OK;
}

/* Pages until the slice is full or the history ends. One page alone needs no disk. */
static enum pv_code make_pages(struct run_export *export, struct store_tx *tx, struct pv_error *err)
{
    uint64_t most = (uint64_t) export->api->config->export_spool_bytes;
    do {
        if (export->text != NULL)
            PV_TRY(spool_page(export, err));
        PV_TRY(make_page(export, tx, err));
    } while (export->more &&
             (export->spool == NULL ? 0 : spool_bytes(export->spool)) + export->n < most);
    return export->spool == NULL ? PV_OK : spool_page(export, err);
}

static enum pv_code next_slice(struct run_export *export, struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    spool_close(export->spool);
    export->spool = NULL;
    export->spool_at = 0;
    PV_TRY(api_read(export->api, export->request, &tx, err));
    return make_pages(export, tx, err);
}

/* The page that is all of its slice. */
static void send_text(struct run_export *export, const char **bytes, size_t *n)
{
    *bytes = export->text;
    *n = export->n;
    export->text = NULL;
}

static enum pv_code
send_spooled(struct run_export *export, const char **bytes, size_t *n, struct pv_error *err)
{
    ssize_t got =
        pread(spool_file(export->spool), export->piece, PIECE_BYTES, (off_t) export->spool_at);
    if (got <= 0)
        return pv_fail(err, PV_E_INTERNAL, "a spool cannot be read back");
    export->spool_at += (uint64_t)got;
    *bytes = export->piece;
    *n = (size_t)got;
    return PV_OK;
}

/* Disk and place are not for those who hardly read. */
static enum pv_code check_reader(const struct run_export *export, struct pv_error *err)
{
    const struct config *config = export->api->config;
    uint64_t seconds = (clock_monotonic_ns() - export->begun_ns) / second_ns;
    if (seconds > (uint64_t)config->export_timeout_s)
        return pv_fail(err, PV_E_TIMEOUT, "the export took longer than %lld s (export_timeout_s)",
                       (long long)config->export_timeout_s);
    uint64_t grace_s = (uint64_t)config->export_grace_s;
    uint64_t counted_s = seconds < grace_s ? 0 : seconds - grace_s;
    if (export->sent_bytes < counted_s * (uint64_t)config->export_reader_bytes_per_s)
        return pv_fail(err, PV_E_TIMEOUT,
                       "the export was read at less than %lld bytes a second "
                       "(export_reader_bytes_per_s)",
                       (long long)config->export_reader_bytes_per_s);
    return PV_OK;
}

/* As soon as the token of a request would be found out. */
static enum pv_code check_token(struct run_export *export, struct pv_error *err)
{
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns - export->checked_ns < token_checked_s * second_ns)
        return PV_OK;
    export->checked_ns = now_ns;
    return api_check_token(export->api, &export->request->principal, err);
}

static enum pv_code
run_export_next(void *state, const char **bytes, size_t *n, struct pv_error *err)
{
    struct run_export *export = state;
    bool slice_sent = export->text == NULL &&
                      (export->spool == NULL || export->spool_at == spool_bytes(export->spool));
    *n = 0;
    if (slice_sent && !export->more)
        return PV_OK;
    PV_TRY(check_reader(export, err));
    PV_TRY(check_token(export, err));
    if (slice_sent)
        PV_TRY(next_slice(export, err));
    if (export->text != NULL)
        send_text(export, bytes, n);
    else
        PV_TRY(send_spooled(export, bytes, n, err));
    export->sent_bytes += *n;
    return PV_OK;
}

static void run_export_end(void *state)
{
    struct run_export *export = state;
    spool_close(export->spool);
    resources_close(export->api->resources, &export->disk);
    resources_close(export->api->resources, &export->place);
    arena_fini(&export->arena);
    free(export->piece);
    free(export);
}

static const struct http_source source = {.next = run_export_next, .end = run_export_end};

/* *made is the caller's to end, also after a failure. */
static enum pv_code run_export_begin(struct api *api,
                                     struct http_request *request,
                                     struct run_export **made,
                                     struct pv_error *err)
{
    const char *team = request->principal.team_id;
    struct run_export *export = calloc(1, sizeof *export);
    if (export == NULL)
        return pv_no_memory(err);
    *made = export;
    export->api = api;
    export->request = request;
    export->begun_ns = export->checked_ns = clock_monotonic_ns();
    arena_init_beside(&export->arena, request->arena,
                      (size_t)api->config->request_memory_bytes_max);
    PV_TRY(resources_take(api->resources, RESOURCE_EXPORTS, team, &export->place, 1, err));
    export->piece = malloc(PIECE_BYTES);
    if (export->piece == NULL ||
        !resources_open(api->resources, RESOURCE_SPOOL, team, &export->disk))
        return pv_no_memory(err);
    spool_place_init(&export->spool_place, api->config, export->disk.share);
    return PV_OK;
}

static enum pv_code
make_first_slice(struct run_export *export, struct arena *arena, struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(export->api, export->request, &tx, err));
    PV_TRY(store_application_find(tx, arena, http_path_parameter(export->request, "name"),
                                  &export->application, err));
    return make_pages(export, tx, err);
}

/* The first slice is made before the answer begins, so that what can fail at once has its status.
 * *made is the caller's to end, also after a failure. */
static enum pv_code run_export_start(struct api *api,
                                     struct http_request *request,
                                     struct run_export **made,
                                     struct pv_error *err)
{
    struct run_filter filter;
    PV_TRY(run_export_read_filter(api, request, &filter, err));
    PV_TRY(run_export_begin(api, request, made, err));
    (*made)->filter = filter;
    return make_first_slice(*made, request->arena, err);
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
