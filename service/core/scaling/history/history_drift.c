#include "core/scaling/history/history_drift.h"

#include <math.h>

static struct down_weighted_run history_drift_describe(const struct observation *row,
                                                       const struct run_evidence *evidence,
                                                       const struct drift_verdict *verdict)
{
    bool outlier = verdict->reason == DRIFT_OUTLYING;
    bool starved = verdict->reason == DRIFT_STARVED;
    bool few = starved && evidence->executors_asked > row->executors;
    return (struct down_weighted_run){
        .run = evidence,
        .reason = drift_reason_name(verdict->reason),
        .weight = verdict->weight,
        .duration_s = outlier ? row->duration_s : (double)NAN,
        .promised_s = verdict->promised_s,
        .deviations = verdict->deviations,
        .executors = starved ? row->executors : (double)NAN,
        .executors_asked = few ? evidence->executors_asked : (double)NAN,
        .executors_share = starved ? evidence->executors_share : (double)NAN,
        .failed_share = verdict->reason == DRIFT_FAILURES ? evidence->failed_share : (double)NAN};
}

static struct down_weighted_run describe_failure(const struct run_evidence *evidence)
{
    double unknown = (double)NAN;
    return (struct down_weighted_run){.run = evidence,
                                      .reason = "failed",
                                      .weight = 0,
                                      .duration_s = unknown,
                                      .promised_s = unknown,
                                      .deviations = unknown,
                                      .executors = unknown,
                                      .executors_asked = unknown,
                                      .executors_share = unknown,
                                      .failed_share = evidence->failed_share};
}

/* Runs that count less than in full, newest first, and those that failed: two lists merged.
 * verdicts: in the order of time, the reverse of the rows'. */
static void list_down_weighted(const struct run_observations *seen,
                               const struct drift_verdict verdicts[],
                               struct down_weighted_run list[],
                               struct history_drift *found)
{
    for (size_t i = 0, f = 0; i < seen->n || f < seen->failed;) {
        bool failure = f < seen->failed && (i == seen->n || seen->failures[f].instant_us >=
                                                                seen->evidence[i].instant_us);
        struct down_weighted_run item;
        if (failure) {
            item = describe_failure(&seen->failures[f++]);
        } else {
            const struct drift_verdict *verdict = &verdicts[seen->n - 1 - i];
            item = history_drift_describe(&seen->rows[i], &seen->evidence[i], verdict);
            i++;
            found->faded += verdict->reason == DRIFT_FADED;
            if (verdict->reason == DRIFT_FULL || verdict->reason == DRIFT_FADED)
                continue;
        }
        found->down_weighted_in_all++;
        if (found->n_down_weighted < HISTORY_DRIFT_LISTED)
            list[found->n_down_weighted++] = item;
    }
    found->down_weighted = list;
}

/* Cores too many for 32 bits, which no machine has, pass for unknown. */
static struct drift_run watched(const struct observation *row, const struct run_evidence *evidence)
{
    int64_t cores = evidence->cores_per_executor;
    bool may_starve = !evidence->dynamic_allocation;
    uint64_t known = cores >= 1 && cores <= UINT32_MAX ? (uint64_t)cores : 0;
    return (struct drift_run){.seen = *row,
                              .group = (uint64_t)row->context << 32 | known,
                              .executors_asked = evidence->executors_asked,
                              .executors_share =
                                  may_starve ? evidence->executors_share : (double)NAN,
                              .failed_share = evidence->failed_share};
}

enum pv_code history_drift_find(struct run_observations *seen,
                                struct arena *arena,
                                struct history_drift *found,
                                struct pv_error *err)
{
    struct history_drift made = {.n_down_weighted = 0};
    size_t n = seen->n;
    struct drift_run *runs = arena_array(arena, n, sizeof *runs);
    struct drift_verdict *verdicts = arena_array(arena, n, sizeof *verdicts);
    struct down_weighted_run *list = arena_array(arena, HISTORY_DRIFT_LISTED, sizeof *list);
    if (runs == NULL || verdicts == NULL || list == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        runs[n - 1 - i] = watched(&seen->rows[i], &seen->evidence[i]);
    PV_TRY(drift_watch(runs, n, arena, verdicts, &made.drift, err));
    for (size_t i = 0; i < n; i++) {
        seen->rows[i].weight = verdicts[n - 1 - i].weight;
        seen->evidence[i].far_off = verdicts[n - 1 - i].reason == DRIFT_OUTLYING;
    }
    if (made.drift.drifts > 0) {
        made.since = &seen->evidence[n - 1 - made.drift.since];
        made.detected = &seen->evidence[n - 1 - made.drift.detected];
    }
    list_down_weighted(seen, verdicts, list, &made);
    *found = made;
    return PV_OK;
}

bool history_drift_is_reported(const struct history_drift *found, bool fitted_before)
{
    return found->drift.drifts > 0 && (found->drift.state == DRIFT_PRESENT || fitted_before);
}
