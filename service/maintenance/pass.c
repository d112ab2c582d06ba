#include "maintenance/pass.h"

#include <stdio.h>
#include <string.h>

#include "log/log.h"
#include "store/clusters/performance.h"
#include "store/history/run_task_summary.h"
#include "store/maintenance/maintenance.h"
#include "store/operations/operation.h"
#include "threads/clock.h"

#define KIND(member)                                                                               \
    {                                                                                              \
#member, offsetof(struct maintenance_tally, member)                                        \
    }
const struct maintenance_kind maintenance_kinds[] = {KIND(partitions_made),
                                                     KIND(partitions_dropped),
                                                     KIND(runs),
                                                     KIND(keys),
                                                     KIND(events),
                                                     KIND(advice),
                                                     KIND(audit),
                                                     KIND(performance),
                                                     KIND(operations),
                                                     KIND(runs_thinned),
                                                     KIND(stages_thinned)};
const size_t maintenance_kinds_n = sizeof maintenance_kinds / sizeof *maintenance_kinds;

uint64_t maintenance_count(const struct maintenance_tally *tally,
                           const struct maintenance_kind *kind)
{
    uint64_t count;
    memcpy(&count, (const char *)tally + kind->offset, sizeof count);
    return count;
}

enum { LISTED = 500 /* applications, teams or runs looked up at once */ };

struct pass {
    struct store *store;
    const struct config *config;
    const struct maintenance_listener *listener; /* or NULL */
    const atomic_bool *stop;
    struct maintenance_tally *tally;
    char holder[37];
    int64_t lease_s;
    uint64_t renew_at_ns;
};

/* --- the lease --- */

/* Any one statement ends within its timeout, so a lease of this length is renewed in time. */
static int64_t lease_length_s(const struct config *config)
{
    return 60 + 2 * config->statement_timeout_ms / 1000;
}

static enum pv_code claim(struct pass *pass, int64_t every_s, bool *claimed, struct pv_error *err)
{
    pass->renew_at_ns = clock_monotonic_ns() + (uint64_t)pass->lease_s * UINT64_C(250000000);
    return store_maintenance_claim(pass->store, pass->holder, every_s, pass->lease_s, claimed, err);
}

/* Asked before each transaction. *go_on is false when the process is ending or the lease is gone.
 */
static enum pv_code may_go_on(struct pass *pass, bool *go_on, struct pv_error *err)
{
    *go_on = !atomic_load(pass->stop);
    if (!*go_on || clock_monotonic_ns() < pass->renew_at_ns)
        return PV_OK;
    return claim(pass, 0, go_on, err);
}

/* --- steps for the whole database --- */

/* A lock that is not free at once is left for the next pass. */
static enum pv_code unless_busy(enum pv_code code, const char *what)
{
    if (code != PV_E_RETRY)
        return code;
    LOG_EVENT(LOG_INFO, "maintenance.postponed", NULL, LOG_TEXT("step", what));
    return PV_OK;
}

static enum pv_code make_partitions(struct pass *pass, struct pv_error *err)
{
    for (;;) {
        struct arena arena;
        struct strview name = {0};
        bool go_on;
        enum pv_code code = may_go_on(pass, &go_on, err);
        if (code != PV_OK || !go_on)
            return code;
        arena_init(&arena, 0);
        code = store_partition_make(pass->store, &arena, pass->config->partition_months_ahead,
                                    &name, err);
        bool made = code == PV_OK && name.at != NULL;
        pass->tally->partitions_made += made;
        if (made)
            LOG_EVENT(LOG_INFO, "maintenance.partition_made", NULL, LOG_TEXT("name", name.at));
        arena_fini(&arena);
        if (!made)
            return unless_busy(code, "make_partitions");
    }
}

static enum pv_code drop_partitions(struct pass *pass, struct pv_error *err)
{
    for (;;) {
        struct arena arena;
        struct strview name = {0};
        bool go_on;
        enum pv_code code = may_go_on(pass, &go_on, err);
        if (code != PV_OK || !go_on)
            return code;
        arena_init(&arena, 0);
        code = store_partition_drop(pass->store, &arena, pass->config->audit_retention_days,
                                    pass->config->advice_retention_days, &name, err);
        bool dropped = code == PV_OK && name.at != NULL;
        pass->tally->partitions_dropped += dropped;
        if (dropped)
            LOG_EVENT(LOG_INFO, "maintenance.partition_dropped", NULL, LOG_TEXT("name", name.at));
        arena_fini(&arena);
        if (!dropped)
            return unless_busy(code, "drop_partitions");
    }
}

static enum pv_code expire_audit(struct pass *pass, struct pv_error *err)
{
    size_t batch = (size_t)pass->config->maintenance_batch_rows;
    size_t gone = batch;
    while (pass->config->audit_retention_days > 0 && gone == batch) {
        bool go_on;
        enum pv_code code = may_go_on(pass, &go_on, err);
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

/* --- batches of one team --- */

/* One transaction of the team; *gone is set only when it is committed. */
typedef enum pv_code (*batch_work)(const struct pass *pass,
                                   struct store_tx *tx,
                                   const void *of,
                                   size_t *gone,
                                   struct pv_error *err);

static enum pv_code one_batch(const struct pass *pass,
                              const char *team_id,
                              batch_work work,
                              const void *of,
                              size_t *gone,
                              struct pv_error *err)
{
    struct principal team = {.scopes = SCOPE_WRITE};
    struct store_tx *tx = NULL;
    size_t removed = 0;
    (void)snprintf(team.team_id, sizeof team.team_id, "%s", team_id);
    (void)snprintf(team.actor, sizeof team.actor, "housekeeping");
    enum pv_code code = store_begin(pass->store, &team, "", STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = work(pass, tx, of, &removed, err);
    if (code == PV_OK)
        code = store_commit(&tx, err);
    store_rollback(&tx);
    *gone = code == PV_OK ? removed : 0;
    return code;
}

/* Batch after batch until one is not full. */
static enum pv_code all_batches(struct pass *pass,
                                const char *team_id,
                                batch_work work,
                                const void *of,
                                uint64_t *count,
                                struct pv_error *err)
{
    size_t gone = (size_t)pass->config->maintenance_batch_rows;
    while (gone >= (size_t)pass->config->maintenance_batch_rows) {
        bool go_on;
        enum pv_code code = may_go_on(pass, &go_on, err);
        if (code != PV_OK || !go_on)
            return code;
        code = one_batch(pass, team_id, work, of, &gone, err);
        if (code != PV_OK)
            return unless_busy(code, "batch");
        *count += gone;
    }
    return PV_OK;
}

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

/* Told once, at the end: a fit after each batch would be one for nothing. Also of a failure, which
 * may have come after some batches. */
static void tell_history(const struct pass *pass, const char *team_id, const char *application)
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
    enum pv_code code =
        all_batches(pass, retention->team_id, expire_runs_once, &expiry, &pass->tally->runs, err);
    uint64_t gone = pass->tally->runs - before;
    if (gone > 0)
        tell_history(pass, retention->team_id, application);
    arena_fini(&arena);
    if (code == PV_OK)
        LOG_EVENT(LOG_INFO, "maintenance.runs_expired", NULL,
                  LOG_TEXT("team_id", retention->team_id),
                  LOG_TEXT("application_id", retention->application_id), LOG_COUNT("runs", gone));
    return code;
}

/* An application whose runs cannot be removed keeps no other from losing its own. */
static enum pv_code
expire_listed(struct pass *pass, const struct retention_list *list, struct pv_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
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

static enum pv_code expire_runs(struct pass *pass, struct pv_error *err)
{
    struct retention last;
    bool first = true, go_on = true;
    enum pv_code code = PV_OK;
    for (size_t n = LISTED; code == PV_OK && go_on && n == LISTED; first = false) {
        struct arena arena;
        struct retention_list list = {0};
        arena_init(&arena, 0);
        code = store_retention_list(pass->store, &arena, first ? NULL : &last, LISTED,
                                    pass->config->retention_days, pass->config->retention_runs,
                                    &list, err);
        if (code == PV_OK)
            code = expire_listed(pass, &list, err);
        if (code == PV_OK)
            code = may_go_on(pass, &go_on, err);
        n = list.n;
        if (n > 0)
            last = list.items[n - 1];
        arena_fini(&arena);
    }
    return code;
}

/* --- what else ages, team by team --- */

static enum pv_code expire_keys(const struct pass *pass,
                                struct store_tx *tx,
                                const void *of,
                                size_t *gone,
                                struct pv_error *err)
{
    (void)of;
    return store_keys_expire(tx, (size_t)pass->config->maintenance_batch_rows, gone, err);
}

static enum pv_code expire_events(const struct pass *pass,
                                  struct store_tx *tx,
                                  const void *of,
                                  size_t *gone,
                                  struct pv_error *err)
{
    (void)of;
    return store_events_expire(tx, pass->config->outbox_retention_days,
                               (size_t)pass->config->maintenance_batch_rows, gone, err);
}

static enum pv_code expire_advice(const struct pass *pass,
                                  struct store_tx *tx,
                                  const void *of,
                                  size_t *gone,
                                  struct pv_error *err)
{
    (void)of;
    return store_advice_expire(tx, pass->config->advice_retention_days,
                               (size_t)pass->config->maintenance_batch_rows, gone, err);
}

static enum pv_code expire_performance(const struct pass *pass,
                                       struct store_tx *tx,
                                       const void *of,
                                       size_t *gone,
                                       struct pv_error *err)
{
    (void)of;
    return store_performance_expire(tx, (size_t)pass->config->maintenance_batch_rows, gone, err);
}

/* Tombstones first become such; how long they stand is counted from when what they held expired. */
static enum pv_code expire_operations(const struct pass *pass,
                                      struct store_tx *tx,
                                      const void *of,
                                      size_t *gone,
                                      struct pv_error *err)
{
    (void)of;
    return store_operations_expire(tx, (size_t)pass->config->maintenance_batch_rows, gone, err);
}

static enum pv_code remove_operations(const struct pass *pass,
                                      struct store_tx *tx,
                                      const void *of,
                                      size_t *gone,
                                      struct pv_error *err)
{
    (void)of;
    return store_operations_remove(tx, pass->config->operation_tombstone_days,
                                   (size_t)pass->config->maintenance_batch_rows, gone, err);
}

static enum pv_code expire_of_team(struct pass *pass, const char *team_id, struct pv_error *err)
{
    struct maintenance_tally *t = pass->tally;
    enum pv_code code = all_batches(pass, team_id, expire_keys, NULL, &t->keys, err);
    if (code == PV_OK && pass->config->outbox_retention_days > 0)
        code = all_batches(pass, team_id, expire_events, NULL, &t->events, err);
    if (code == PV_OK && pass->config->advice_retention_days > 0)
        code = all_batches(pass, team_id, expire_advice, NULL, &t->advice, err);
    if (code == PV_OK)
        code = all_batches(pass, team_id, expire_performance, NULL, &t->performance, err);
    if (code == PV_OK)
        code = all_batches(pass, team_id, expire_operations, NULL, &t->operations, err);
    uint64_t removed = 0; /* counted when they expired */
    if (code == PV_OK)
        code = all_batches(pass, team_id, remove_operations, NULL, &removed, err);
    return code;
}

static enum pv_code expire_of_teams(struct pass *pass, struct pv_error *err)
{
    char last[37] = "";
    bool go_on = true;
    enum pv_code code = PV_OK;
    for (size_t n = LISTED; code == PV_OK && go_on && n == LISTED;) {
        struct arena arena;
        struct team_id *ids = NULL;
        n = 0;
        arena_init(&arena, 0);
        code = store_team_ids(pass->store, &arena, last, LISTED, &ids, &n, err);
        for (size_t i = 0; code == PV_OK && i < n; i++)
            code = expire_of_team(pass, ids[i].text, err);
        if (code == PV_OK && n > 0)
            memcpy(last, ids[n - 1].text, sizeof last);
        if (code == PV_OK)
            code = may_go_on(pass, &go_on, err);
        arena_fini(&arena);
    }
    return code;
}

/* --- task times of old runs --- */

static enum pv_code
sketch_stages(struct run_stage stages[], size_t n, struct arena *arena, struct pv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct task_group *groups = arena_array(arena, TASK_SKETCH_GROUPS_MAX, sizeof *groups);
        if (groups == NULL)
            return pv_no_memory(err);
        enum pv_code code = task_sketch_make(stages[i].task_durations_s, (size_t)stages[i].n_tasks,
                                             arena, groups, &stages[i].n_task_sketch, err);
        if (code != PV_OK)
            return code;
        stages[i].task_sketch = groups;
    }
    return PV_OK;
}

/* *thinned counts stages. */
static enum pv_code thin_once(const struct pass *pass,
                              struct store_tx *tx,
                              const void *of,
                              size_t *thinned,
                              struct pv_error *err)
{
    (void)pass;
    const struct unthinned *run = of;
    struct arena arena;
    struct run_stage *stages = NULL;
    size_t n = 0;
    arena_init(&arena, 0);
    enum pv_code code = store_run_long_stages(tx, &arena, run, TASK_SKETCH_LEAST, &stages, &n, err);
    if (code == PV_OK)
        code = sketch_stages(stages, n, &arena, err);
    if (code == PV_OK)
        code = store_run_thin(tx, run, stages, n, err);
    *thinned = n;
    arena_fini(&arena);
    return code;
}

static enum pv_code thin_one(struct pass *pass, const struct unthinned *run, struct pv_error *err)
{
    size_t stages = 0;
    enum pv_code code = one_batch(pass, run->team_id, thin_once, run, &stages, err);
    pass->tally->runs_thinned += stages > 0;
    pass->tally->stages_thinned += stages;
    if (code != PV_OK)
        LOG_EVENT(LOG_WARN, "maintenance.run_not_thinned", NULL, LOG_TEXT("run_id", run->run_id),
                  LOG_TEXT("reason", err->detail));
    return code;
}

/*
 * One run a transaction: its tasks may be a million. One that fails stands at the head of every
 * list to come, so it must not keep the others from their turn; the first failure is told in the
 * end. *go_on is false when there is no more, or no more that can be done.
 */
static enum pv_code
thin_listed(struct pass *pass, struct arena *arena, bool *go_on, struct pv_error *err)
{
    struct unthinned *runs = NULL;
    size_t n = 0;
    size_t done = 0;
    enum pv_code first = store_unthinned_list(
        pass->store, arena, pass->config->task_summary_after_days, LISTED, &runs, &n, err);
    bool sound = first == PV_OK;
    for (size_t i = 0; sound && *go_on && i < n; i++) {
        struct pv_error why = {.code = PV_OK};
        enum pv_code code = may_go_on(pass, go_on, &why);
        sound = code == PV_OK;
        if (sound && *go_on)
            code = thin_one(pass, &runs[i], &why);
        done += code == PV_OK && *go_on;
        sound = sound && code != PV_E_UNAVAILABLE;
        if (code != PV_OK && first == PV_OK) {
            first = code;
            *err = why;
        }
    }
    *go_on = sound && *go_on && n == LISTED && done > 0;
    return first;
}

static enum pv_code thin_runs(struct pass *pass, struct pv_error *err)
{
    bool go_on = pass->config->task_summary_after_days > 0;
    enum pv_code first = PV_OK;
    while (go_on) {
        struct arena arena;
        struct pv_error why = {.code = PV_OK};
        arena_init(&arena, 0);
        enum pv_code code = thin_listed(pass, &arena, &go_on, &why);
        arena_fini(&arena);
        if (code != PV_OK && first == PV_OK) {
            first = code;
            *err = why;
        }
    }
    return unless_busy(first, "thin_runs");
}

/* --- the pass --- */

static const struct {
    const char *name;
    enum pv_code (*take)(struct pass *pass, struct pv_error *err);
} steps[] = {
    {"make_partitions", make_partitions},
    {"expire_runs", expire_runs},
    {"thin_runs", thin_runs},
    {"expire_of_teams", expire_of_teams},
    {"drop_partitions", drop_partitions},
    {"expire_audit", expire_audit},
};

static enum pv_code take_steps(struct pass *pass, struct pv_error *err)
{
    enum pv_code first = PV_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !atomic_load(pass->stop); i++) {
        struct pv_error why = {.code = PV_OK};
        enum pv_code code = steps[i].take(pass, &why);
        if (code == PV_OK)
            continue;
        LOG_EVENT(LOG_WARN, "maintenance.step_failed", NULL, LOG_TEXT("step", steps[i].name),
                  LOG_TEXT("reason", why.detail));
        if (first == PV_OK)
            first = pv_fail(err, code, "%s: %s", steps[i].name, why.detail);
        if (code == PV_E_UNAVAILABLE)
            break;
    }
    return first;
}

enum pv_code maintenance_pass(struct store *store,
                              const struct config *config,
                              const struct maintenance_listener *listener,
                              int64_t every_s,
                              const atomic_bool *stop,
                              struct maintenance_tally *tally,
                              struct pv_error *err)
{
    struct pass pass = {.store = store,
                        .config = config,
                        .listener = listener,
                        .stop = stop,
                        .tally = tally,
                        .lease_s = lease_length_s(config)};
    *tally = (struct maintenance_tally){.done = false};
    clock_uuid7(pass.holder);
    bool claimed = false;
    enum pv_code code = claim(&pass, every_s, &claimed, err);
    if (code != PV_OK || !claimed)
        return code;
    code = take_steps(&pass, err);
    tally->done = true;
    struct pv_error why = {.code = PV_OK};
    if (store_maintenance_end(store, pass.holder, &why) != PV_OK) /* it runs out by itself */
        LOG_EVENT(LOG_INFO, "maintenance.lease_left", NULL, LOG_TEXT("reason", why.detail));
    return code;
}
