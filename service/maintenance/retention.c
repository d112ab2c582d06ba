#include <stddef.h>
#include <string.h>

#include "log/log.h"
#include "maintenance/pass_internal.h"
#include "store/clusters/admission.h"
#include "store/clusters/performance.h"
#include "store/control/quota_loop.h"
#include "store/history/ingestion.h"
#include "store/maintenance/maintenance.h"
#include "store/operations/operation.h"
#include "store/usage/usage.h"

/* --- runs past their retention --- */

struct expiry {
    const struct retention *retention;
    struct arena *arena;
    const char **application; /* what it is called, in the arena, from the first run that went */
};

static enum pv_code expire_runs_once(const struct pass *pass,
                                     struct store_tx *tx,
                                     const void *of,
                                     size_t *gone,
                                     struct pv_error *err)
{
    const struct expiry *expiry = of;
    struct arena arena;
    struct strview name = {0};
    arena_init(&arena, 0);
    enum pv_code code =
        store_run_expire(tx, &arena, expiry->retention,
                         (size_t)pass->config->maintenance_batch_rows, &name, gone, err);
    if (code == PV_OK && *gone > 0 && *expiry->application == NULL) {
        *expiry->application = arena_strndup(expiry->arena, name.at, name.n);
        if (*expiry->application == NULL)
            code = pv_no_memory(err);
    }
    arena_fini(&arena);
    return code;
}

/* Once, at the end: a fit after each batch would be one for nothing. Also after a failure, which
 * may have come after some batches. */
static void notify_listener(const struct pass *pass, const char *team_id, const char *application)
{
    if (pass->listener != NULL && application != NULL)
        pass->listener->history_changed(pass->listener->context, team_id, application);
}

static enum pv_code
expire_of_application(struct pass *pass, const struct retention *retention, struct pv_error *err)
{
    struct arena arena;
    const char *application = NULL;
    const struct expiry expiry = {retention, &arena, &application};
    uint64_t before = pass->tally->runs;
    arena_init(&arena, 0);
    enum pv_code code = pass_all_batches(pass, retention->team_id, expire_runs_once, &expiry,
                                         &pass->tally->runs, err);
    uint64_t gone = pass->tally->runs - before;
    if (gone > 0)
        notify_listener(pass, retention->team_id, application);
    arena_fini(&arena);
    if (code == PV_OK && gone > 0)
        LOG_EVENT(LOG_INFO, "maintenance.runs_expired", NULL,
                  LOG_TEXT("team_id", retention->team_id),
                  LOG_TEXT("application_id", retention->application_id), LOG_COUNT("runs", gone));
    return code;
}

/* An application whose runs cannot be removed keeps no other from losing its own. */
static enum pv_code
expire_listed(struct pass *pass, const struct retention_list *list, struct pv_error *err)
{
    for (size_t i = 0; i < list->n && !pass_is_over(pass); i++) {
        if (!list->items[i].due)
            continue;
        struct pv_error why = {.code = PV_OK}; /* each application has a reason of its own */
        enum pv_code code = expire_of_application(pass, &list->items[i], &why);
        if (code == PV_E_UNAVAILABLE)
            return pv_fail(err, code, "%s", why.detail);
        if (code != PV_OK)
            LOG_EVENT(LOG_WARN, "maintenance.application_not_expired", NULL,
                      LOG_TEXT("application_id", list->items[i].application_id),
                      LOG_TEXT("reason", why.detail));
    }
    return PV_OK;
}

enum pv_code retention_expire_runs(struct pass *pass, struct pv_error *err)
{
    struct retention last;
    bool first = true, go_on = true;
    enum pv_code code = PV_OK;
    for (size_t n = PASS_LISTED; code == PV_OK && go_on && n == PASS_LISTED; first = false) {
        struct arena arena;
        struct retention_list list = {0};
        arena_init(&arena, 0);
        code = store_retention_list(pass->store, &arena, first ? NULL : &last, PASS_LISTED,
                                    pass->config->retention_days, pass->config->retention_runs,
                                    &list, err);
        if (code == PV_OK)
            code = expire_listed(pass, &list, err);
        if (code == PV_OK)
            code = pass_may_go_on(pass, &go_on, err);
        n = list.n;
        if (code == PV_OK && n > 0)
            last = list.items[n - 1];
        arena_fini(&arena);
    }
    return code;
}

/* --- what else ages, team by team --- */

/* Rows of one kind: what expires by itself, or what is older than a setting says. */
struct ageing {
    enum pv_code (*expire)(struct store_tx *tx, size_t batch, size_t *gone, struct pv_error *err);
    enum pv_code (*expire_after)(
        struct store_tx *tx, int64_t days, size_t batch, size_t *gone, struct pv_error *err);
    size_t days_at;     /* offset of the setting: days, or how many, or seconds */
    size_t count_at;    /* offset of the count in the tally */
    bool keeps_at_zero; /* 0 days: for ever */
    bool uncounted;     /* they were counted when they expired */
};

#define DAYS(member) .days_at = offsetof(struct config, member)
#define COUNT(member) .count_at = offsetof(struct maintenance_tally, member)

static const struct ageing ageing[] = {
    {.expire = store_keys_expire, COUNT(keys)},
    {.expire_after = store_events_expire,
     DAYS(outbox_retention_days),
     .keeps_at_zero = true,
     COUNT(events)},
    {.expire_after = store_events_trim,
     DAYS(outbox_events_max),
     .keeps_at_zero = true,
     COUNT(events_dropped)},
    {.expire_after = store_events_drop,
     DAYS(outbox_retention_days),
     .keeps_at_zero = true,
     COUNT(events_dropped)},
    {.expire_after = store_deliveries_expire_ended,
     DAYS(webhook_delivery_retention_days),
     .keeps_at_zero = true,
     COUNT(deliveries)},
    {.expire_after = store_admissions_delete_ended,
     DAYS(admission_retention_days),
     .keeps_at_zero = true,
     COUNT(admissions)},
    {.expire_after = store_tokens_expire,
     DAYS(token_retention_days),
     .keeps_at_zero = true,
     COUNT(tokens)},
    {.expire_after = store_advice_expire,
     DAYS(advice_retention_days),
     .keeps_at_zero = true,
     COUNT(advice)},
    {.expire_after = store_ingestions_expire,
     DAYS(audit_retention_days),
     .keeps_at_zero = true,
     COUNT(ingestions)},
    {.expire_after = store_quota_loops_expire,
     DAYS(quota_loop_retention_days),
     .keeps_at_zero = true,
     COUNT(quota_loops)},
    {.expire = store_performance_expire, COUNT(performance)},
    /* Tombstones first become such; how long they stand counts from when what they held expired. */
    {.expire = store_operations_expire, COUNT(operations)},
    {.expire_after = store_operations_remove, DAYS(operation_tombstone_days), .uncounted = true},
    /* Last, so that it counts what is left. */
    {.expire_after = store_usage_recount, DAYS(usage_recount_s), COUNT(recounts)},
};

static int64_t days_of(const struct ageing *kind, const struct config *config)
{
    int64_t days;
    memcpy(&days, (const char *)config + kind->days_at, sizeof days);
    return days;
}

static enum pv_code expire_aged(const struct pass *pass,
                                struct store_tx *tx,
                                const void *of,
                                size_t *gone,
                                struct pv_error *err)
{
    const struct ageing *kind = of;
    size_t batch = (size_t)pass->config->maintenance_batch_rows;
    return kind->expire != NULL
               ? kind->expire(tx, batch, gone, err)
               : kind->expire_after(tx, days_of(kind, pass->config), batch, gone, err);
}

static enum pv_code expire_of_team(struct pass *pass, const char *team_id, struct pv_error *err)
{
    for (size_t i = 0; i < sizeof ageing / sizeof *ageing; i++) {
        const struct ageing *kind = &ageing[i];
        uint64_t uncounted = 0;
        uint64_t *count = kind->uncounted
                              ? &uncounted
                              : (uint64_t *)(void *)((char *)pass->tally + kind->count_at);
        if (kind->keeps_at_zero && days_of(kind, pass->config) <= 0)
            continue;
        PV_TRY(pass_all_batches(pass, team_id, expire_aged, kind, count, err));
    }
    return PV_OK;
}

enum pv_code retention_expire_of_teams(struct pass *pass, struct pv_error *err)
{
    char last[37] = "";
    bool go_on = true;
    enum pv_code code = PV_OK;
    for (size_t n = PASS_LISTED; code == PV_OK && go_on && n == PASS_LISTED;) {
        struct arena arena;
        struct team_id *ids = NULL;
        n = 0;
        arena_init(&arena, 0);
        code = store_team_ids(pass->store, &arena, last, PASS_LISTED, &ids, &n, err);
        for (size_t i = 0; code == PV_OK && i < n; i++)
            code = expire_of_team(pass, ids[i].text, err);
        if (code == PV_OK && n > 0)
            memcpy(last, ids[n - 1].text, sizeof last);
        if (code == PV_OK)
            code = pass_may_go_on(pass, &go_on, err);
        arena_fini(&arena);
    }
    return code;
}

/* --- the audit of all teams --- */

enum pv_code retention_expire_audit(struct pass *pass, struct pv_error *err)
{
    size_t batch = (size_t)pass->config->maintenance_batch_rows;
    size_t gone = batch;
    while (pass->config->audit_retention_days > 0 && gone == batch) {
        bool go_on;
        enum pv_code code = pass_may_go_on(pass, &go_on, err);
        if (code != PV_OK || !go_on)
            return code;
        code =
            store_audit_expire(pass->store, pass->config->audit_retention_days, batch, &gone, err);
        if (code != PV_OK)
            return code;
        pass->tally->audit += gone;
    }
    return PV_OK;
}
