#include <stdio.h>

#include "api/routes.h"
#include "api/shared/reply.h"
#include "base/uuid.h"
#include "store/advice/accuracy.h"

/* GET /v1/applications/{name}/accuracy: what advice predicted, and what its
 * followers took. */

static void write_side(struct writer *w,
                       const char *key,
                       int64_t problem_size,
                       int64_t executors,
                       int64_t cores_per_executor)
{
    writer_key(w, key);
    writer_begin_object(w);
    writer_member_count(w, "problem_size", problem_size);
    writer_member_count(w, "executors", executors);
    writer_member_count(w, "cores_per_executor", cores_per_executor);
}

static void encode_item(struct writer *w, const struct accuracy_row *item)
{
    writer_begin_object(w);
    writer_member_string(w, "run_id", item->run_id);
    writer_member_string(w, "advice_id", item->advice_id);
    writer_member_instant(w, "at", item->instant_us);
    writer_member_boolean(w, "succeeded", item->succeeded);
    write_side(w, "advised", item->advised_problem_size, item->advised_executors,
               item->advised_cores_per_executor);
    writer_member_text(w, "model", item->model_kind);
    writer_member_number(w, "predicted_duration_s", item->predicted_duration_s);
    writer_key(w, "interval_s");
    writer_begin_array(w);
    writer_number(w, item->lower_s);
    writer_number(w, item->upper_s);
    writer_end_array(w);
    writer_member_number(w, "confidence", item->confidence);
    writer_end_object(w);
    write_side(w, "measured", item->problem_size, item->executors, item->cores_per_executor);
    writer_member_number(w, "duration_s", item->duration_s);
    writer_end_object(w);
    writer_member_boolean(w, "compared", item->compared);
    writer_member_number(w, "error_percent", item->error_percent);
    writer_key(w, "within_interval");
    if (item->inside_known)
        writer_boolean(w, item->inside);
    else
        writer_null(w);
    writer_end_object(w);
}

static void encode_summary(struct writer *w, const struct accuracy_summary *summary)
{
    writer_key(w, "summary");
    writer_begin_object(w);
    if (summary->newest_only)
        writer_member_integer(w, "newest", ACCURACY_SUMMARY_RUNS);
    writer_member_integer(w, "count", summary->runs);
    writer_member_integer(w, "runs_compared", summary->compared);
    writer_member_number(w, "mape_percent", summary->mape_percent);
    writer_member_number(w, "mean_error_percent", summary->mean_error_percent);
    writer_member_number(w, "interval_coverage", summary->inside_interval);
    writer_member_number(w, "confidence", summary->confidence);
    writer_end_object(w);
}

static enum pv_code write_page(struct api *api,
                               struct http_request *request,
                               struct http_response *response,
                               const char *scope,
                               const struct accuracy_list *list,
                               struct pv_error *err)
{
    struct writer w;
    struct cursor last = {.instant_us = RUN_NO_INSTANT};
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    encode_summary(&w, &list->summary);
    writer_key(&w, "items");
    writer_begin_array(&w);
    for (size_t i = 0; i < list->n; i++)
        encode_item(&w, &list->items[i]);
    if (list->more) {
        last.instant_us = list->items[list->n - 1].instant_us;
        (void)snprintf(last.text, sizeof last.text, "%s", list->items[list->n - 1].run_id);
    }
    return api_reply_page(api, request, response, &w, scope, list->more ? &last : NULL, err);
}

static enum pv_code load(struct api *api,
                         struct http_request *request,
                         const struct accuracy_filter *filter,
                         struct accuracy_list *list,
                         struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct application application;
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(store_application_find(tx, request->arena, http_path_parameter(request, "name"),
                                  &application, err));
    return store_accuracy_list(tx, request->arena, &application, filter, list, err);
}

enum pv_code accuracy_list(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    struct api *api = context;
    struct accuracy_filter filter = {.before_us = RUN_NO_INSTANT};
    struct accuracy_list list = {.items = NULL};
    struct cursor cursor;
    bool has = false;
    PV_TRY(http_check_query(request, allowed, err));
    const char *scope = arena_printf(request->arena, "/v1/applications/accuracy name=%s",
                                     http_path_parameter(request, "name"));
    if (scope == NULL)
        return pv_no_memory(err);
    PV_TRY(cursor_read(api, request, scope, &filter.limit, &cursor, &has, err));
    if (has) {
        filter.before_us = cursor.instant_us;
        if (!uuid_parse(cursor.text, filter.before_id))
            return pv_fail(err, PV_E_SYNTAX, "the cursor is damaged");
    }
    PV_TRY(load(api, request, &filter, &list, err));
    return write_page(api, request, response, scope, &list, err);
}
