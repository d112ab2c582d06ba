#include "maintenance/pass.h"

#include <stdio.h>
#include <string.h>

#include "log/log.h"
#include "maintenance/pass_internal.h"
#include "store/maintenance/maintenance.h"
#include "threads/clock.h"

#define KIND(member) .name = #member, .offset = offsetof(struct maintenance_tally, member)
const struct maintenance_kind maintenance_kinds[] = {
    {KIND(partitions_made)},
    {KIND(partitions_dropped)},
    {KIND(runs)},
    {KIND(keys)},
    {KIND(events)},
    {KIND(deliveries)},
    {KIND(admissions)},
    {KIND(events_dropped)},
    {KIND(tokens)},
    {KIND(advice)},
    {KIND(audit)},
    {KIND(ingestions)},
    {KIND(performance)},
    {KIND(operations)},
    {KIND(quota_loops)},
    {KIND(runs_thinned)},
    {KIND(stages_thinned)},
    {KIND(recounts)},
};
const size_t maintenance_kinds_n = sizeof maintenance_kinds / sizeof *maintenance_kinds;

uint64_t maintenance_count(const struct maintenance_tally *tally,
                           const struct maintenance_kind *kind)
{
    uint64_t count;
    memcpy(&count, (const char *)tally + kind->offset, sizeof count);
    return count;
}

/* --- the lease --- */

/* Any one statement ends within its timeout, so a lease of this length is renewed in time. */
static int64_t lease_length_s(const struct config *config)
{
    return 60 + 2 * config->statement_timeout_ms / 1000;
}

static enum pv_code
pass_claim(struct pass *pass, int64_t every_s, bool *claimed, struct pv_error *err)
{
    uint64_t asked_ns = clock_monotonic_ns();
    PV_TRY(
        store_maintenance_claim(pass->store, pass->holder, every_s, pass->lease_s, claimed, err));
    pass->lost = !*claimed;
    if (*claimed)
        pass->renew_at_ns = asked_ns + (uint64_t)pass->lease_s * UINT64_C(250000000);
    return PV_OK;
}

bool pass_is_over(const struct pass *pass)
{
    return pass->lost || atomic_load(pass->stop);
}

enum pv_code pass_may_go_on(struct pass *pass, bool *go_on, struct pv_error *err)
{
    *go_on = !pass_is_over(pass);
    if (!*go_on || clock_monotonic_ns() < pass->renew_at_ns)
        return PV_OK;
    return pass_claim(pass, 0, go_on, err);
}

enum pv_code pass_unless_busy(enum pv_code code, const char *what)
{
    if (code != PV_E_RETRY)
        return code;
    LOG_EVENT(LOG_INFO, "maintenance.postponed", NULL, LOG_TEXT("step", what));
    return PV_OK;
}

/* --- batches of one team --- */

enum pv_code pass_one_batch(const struct pass *pass,
                            const char *team_id,
                            pass_batch_work work,
                            const void *of,
                            size_t *gone,
                            struct pv_error *err)
{
    struct principal team = {.scopes = SCOPE_WRITE};
    store_tx_auto_t *tx = NULL;
    size_t removed = 0;
    *gone = 0;
    (void)snprintf(team.team_id, sizeof team.team_id, "%s", team_id);
    (void)snprintf(team.actor, sizeof team.actor, "housekeeping");
    PV_TRY(store_begin(pass->store, &team, "", STORE_WRITE, &tx, err));
    PV_TRY(work(pass, tx, of, &removed, err));
    PV_TRY(store_commit(&tx, err));
    *gone = removed;
    return PV_OK;
}

enum pv_code pass_all_batches(struct pass *pass,
                              const char *team_id,
                              pass_batch_work work,
                              const void *of,
                              uint64_t *count,
                              struct pv_error *err)
{
    size_t gone = (size_t)pass->config->maintenance_batch_rows;
    while (gone >= (size_t)pass->config->maintenance_batch_rows) {
        bool go_on;
        enum pv_code code = pass_may_go_on(pass, &go_on, err);
        if (code != PV_OK || !go_on)
            return code;
        code = pass_one_batch(pass, team_id, work, of, &gone, err);
        if (code != PV_OK)
            return pass_unless_busy(code, "batch");
        *count += gone;
    }
    return PV_OK;
}

/* --- the pass --- */

static const struct {
    const char *name;
    enum pv_code (*take)(struct pass *pass, struct pv_error *err);
} steps[] = {
    {"make_partitions", partitions_make}, {"expire_runs", retention_expire_runs},
    {"thin_runs", task_summaries_make},   {"expire_of_teams", retention_expire_of_teams},
    {"drop_partitions", partitions_drop}, {"expire_audit", retention_expire_audit},
};

static enum pv_code take_steps(struct pass *pass, struct pv_error *err)
{
    enum pv_code first = PV_OK;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !pass_is_over(pass); i++) {
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
    enum pv_code code = pass_claim(&pass, every_s, &claimed, err);
    if (code != PV_OK || !claimed)
        return code;
    code = take_steps(&pass, err);
    tally->done = true;
    struct pv_error why = {.code = PV_OK};
    if (store_maintenance_end(store, pass.holder, &why) != PV_OK) /* it runs out by itself */
        LOG_EVENT(LOG_INFO, "maintenance.lease_left", NULL, LOG_TEXT("reason", why.detail));
    return code;
}
