#include <stdio.h>
#include <string.h>

#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "core/history/accuracy.h"
#include "store/advice/team_accuracy.h"

/* GET /v1/accuracy: how advice held over all applications of the team. */

struct asked {
    int64_t since_us;
    int64_t until_us;
    size_t limit;
    const char *after; /* name of the last application seen; NULL: first page */
};

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
    struct team_accuracy seen;
    struct accuracy total;
    struct accuracy_groups by_model;
    struct accuracy_groups by_application;
};

static enum pv_code sum_up(struct arena *arena, struct team_record *made, struct pv_error *err)
{
    const struct team_accuracy *seen = &made->seen;
    PV_TRY(accuracy_of(seen->entries, seen->n, arena, &made->total, err));
    PV_TRY(accuracy_by_model(seen->entries, seen->n, arena, &made->by_model, err));
    return accuracy_by_application(seen->entries, seen->n, arena, &made->by_application, err);
}

static enum pv_code load(struct api *api,
                         struct http_request *request,
                         const struct asked *asked,
                         struct team_record *made,
                         struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(store_team_accuracy(tx, request->arena, asked->since_us, asked->until_us, &made->seen,
                               err));
    store_rollback(&tx);
    return sum_up(request->arena, made, err);
}

static void write_head(struct writer *w, const struct asked *asked, const struct team_record *made)
{
    writer_member_instant(w, "since", asked->since_us);
    writer_member_instant(w, "until", asked->until_us);
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

static enum pv_code write_page(struct api *api,
                               struct http_request *request,
                               struct http_response *response,
                               const char *scope,
                               const struct asked *asked,
                               const struct team_record *made,
                               struct pv_error *err)
{
    const struct accuracy_groups *all = &made->by_application;
    struct writer w;
    struct cursor last = {.instant_us = RUN_NO_INSTANT};
    size_t at = 0;
    size_t written = 0;
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    write_head(&w, asked, made);
    writer_key(&w, "items");
    writer_begin_array(&w);
    /* Names stand bytewise, and so do C strings in strcmp. */
    while (asked->after != NULL && at < all->n && strcmp(all->items[at].name.at, asked->after) <= 0)
        at++;
    for (; at < all->n && written < asked->limit; at++, written++)
        write_group(&w, "application", &all->items[at]);
    bool more = at < all->n && written > 0;
    if (more)
        (void)snprintf(last.text, sizeof last.text, "%s", all->items[at - 1].name.at);
    return api_reply_page(api, request, response, &w, scope, more ? &last : NULL, err);
}

enum pv_code team_accuracy_list(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    static const char *const allowed[] = {"since", "until", "limit", "cursor", NULL};
    struct api *api = context;
    struct asked asked = {.after = NULL};
    struct team_record made = {.seen = {.n = 0}};
    struct cursor cursor;
    bool has = false;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_instant(request, "since", &asked.since_us, err));
    PV_TRY(api_query_instant(request, "until", &asked.until_us, err));
    const char *scope = arena_printf(request->arena, "/v1/accuracy since=%lld until=%lld",
                                     (long long)asked.since_us, (long long)asked.until_us);
    if (scope == NULL)
        return pv_no_memory(err);
    PV_TRY(cursor_read(api, request, scope, &asked.limit, &cursor, &has, err));
    asked.after = has ? cursor.text : NULL;
    PV_TRY(load(api, request, &asked, &made, err));
    return write_page(api, request, response, scope, &asked, &made, err);
}
