#include <string.h>

#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "core/history/accuracy.h"
#include "store/advice/team_accuracy.h"

/* GET /v1/accuracy: how advice held over all applications of the team. */

/* --- encoding --- */

static void write_promises(struct writer *w, const struct accuracy_promises *promises)
{
    writer_member_integer(w, "count", (int64_t)promises->runs);
    writer_member_number(w, "predicted_probability", promises->promised);
    writer_member_number(w, "observed_rate", promises->met);
}

static void write_record(struct writer *w, const struct accuracy *record)
{
    writer_member_integer(w, "count", (int64_t)record->count);
    writer_member_integer(w, "runs_compared", (int64_t)record->compared);
    writer_member_number(w, "mape_percent", record->mape_percent);
    writer_member_number(w, "median_ape_percent", record->median_ape_percent);
    writer_member_number(w, "mean_error_percent", record->mean_error_percent);
    writer_member_number(w, "interval_coverage", record->inside_interval);
    writer_member_number(w, "confidence", record->nominal);
    writer_key(w, "deadlines");
    writer_begin_object(w);
    write_promises(w, &record->deadlines);
    writer_end_object(w);
}

static void write_calibration(struct writer *w, const struct accuracy *record)
{
    writer_key(w, "calibration");
    writer_begin_array(w);
    for (size_t i = 0; i < ACCURACY_BINS; i++) {
        writer_begin_object(w);
        writer_member_number(w, "probability_from", (double)i / ACCURACY_BINS);
        writer_member_number(w, "probability_to", (double)(i + 1) / ACCURACY_BINS);
        write_promises(w, &record->bins[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void write_group(struct writer *w, const char *key, const struct accuracy_group *group)
{
    writer_begin_object(w);
    writer_member_text(w, key, group->name);
    write_record(w, &group->record);
    writer_end_object(w);
}

/* --- what it is made of --- */

struct team_record {
    int64_t since_us;
    int64_t until_us;
    struct team_accuracy seen;
    struct accuracy total;
    struct accuracy_groups by_model;
    struct accuracy_groups by_application;
};

static enum pv_code
summarize_team(struct arena *arena, struct team_record *made, struct pv_error *err)
{
    const struct team_accuracy *seen = &made->seen;
    PV_TRY(accuracy_of(seen->entries, seen->n, arena, &made->total, err));
    PV_TRY(accuracy_by_model(seen->entries, seen->n, arena, &made->by_model, err));
    return accuracy_by_application(seen->entries, seen->n, arena, &made->by_application, err);
}

static void write_head(struct writer *w, const struct team_record *made)
{
    writer_member_instant(w, "since", made->since_us);
    writer_member_instant(w, "until", made->until_us);
    if (made->seen.newest_only)
        writer_member_integer(w, "newest", TEAM_ACCURACY_RUNS);
    writer_member_instant(w, "oldest_at", made->seen.oldest_us);
    writer_key(w, "overall");
    writer_begin_object(w);
    write_record(w, &made->total);
    write_calibration(w, &made->total);
    writer_end_object(w);
    writer_key(w, "by_model");
    writer_begin_array(w);
    for (size_t i = 0; i < made->by_model.n; i++)
        write_group(w, "model", &made->by_model.items[i]);
    writer_end_array(w);
}

enum pv_code team_accuracy_list(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    static const char *const allowed[] = {"since", "until", "limit", "cursor", NULL};
    struct team_record made = {.seen = {.n = 0}};
    const struct accuracy_groups *all = &made.by_application;
    api_list_auto_t list = {0};
    size_t at = 0;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_instant(request, "since", &made.since_us, err));
    PV_TRY(api_query_instant(request, "until", &made.until_us, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_team_accuracy(list.tx, request->arena, made.since_us, made.until_us, &made.seen,
                               err));
    store_rollback(&list.tx);
    PV_TRY(summarize_team(request->arena, &made, err));
    write_head(&list.w, &made);
    api_list_items(&list);
    /* Names are sorted by bytes, which is the order of strcmp. */
    while (list.continued && at < all->n && strcmp(all->items[at].name.at, list.after.text) <= 0)
        at++;
    size_t end = all->n - at > list.limit ? at + list.limit : all->n;
    for (; at < end; at++)
        write_group(&list.w, "application", &all->items[at]);
    return api_list_reply(context, request, response, &list,
                          end < all->n ? all->items[end - 1].name.at : NULL, RUN_NO_INSTANT, err);
}
