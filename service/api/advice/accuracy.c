#include <stdio.h>

#include "api/routes.h"
#include "api/shared/list.h"
#include "store/advice/accuracy.h"

/* GET /v1/applications/{name}/accuracy: what advice predicted, and how long runs that followed it
 * took. */

static void write_side(struct writer *w,
                       const char *key,
                       double problem_size,
                       int64_t executors,
                       int64_t cores_per_executor)
{
    writer_key(w, key);
    writer_begin_object(w);
    writer_member_number(w, "problem_size", problem_size);
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

enum pv_code accuracy_list(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    struct application application;
    struct accuracy_list page;
    api_list_auto_t list = {0};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    struct accuracy_filter filter = {.limit = list.limit, .before_us = list.after.instant_us};
    (void)snprintf(filter.before_id, sizeof filter.before_id, "%.36s", list.after.text);
    PV_TRY(store_application_find(list.tx, request->arena, http_path_parameter(request, "name"),
                                  &application, err));
    PV_TRY(store_accuracy_list(list.tx, request->arena, &application, &filter, &page, err));
    encode_summary(&list.w, &page.summary);
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        encode_item(&list.w, &page.items[i]);
    const struct accuracy_row *last = page.more ? &page.items[page.n - 1] : NULL;
    return api_list_reply(context, request, response, &list, last == NULL ? NULL : last->run_id,
                          last == NULL ? RUN_NO_INSTANT : last->instant_us, err);
}
