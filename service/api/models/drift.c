#include "api/models/drift.h"

#include <math.h>

/* Rows are newest first, the watch goes with time. */
static size_t turned(const struct run_observations *seen, size_t i)
{
    return seen->n - 1 - i;
}

static struct codec_watched_run name_run(const struct run_observations *seen, size_t i)
{
    const struct run_evidence *evidence = &seen->evidence[turned(seen, i)];
    return (struct codec_watched_run){evidence->run_id, evidence->instant_us};
}

static struct codec_light_run describe(const struct observation *row,
                                       const struct run_evidence *evidence,
                                       const struct drift_verdict *verdict)
{
    bool outlier = verdict->reason == DRIFT_OUTLYING;
    bool starved = verdict->reason == DRIFT_STARVED;
    bool few = starved && evidence->executors_asked > row->executors;
    return (struct codec_light_run){
        .run = {evidence->run_id, evidence->instant_us},
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

static struct codec_light_run describe_failure(const struct run_evidence *evidence)
{
    double unknown = (double)NAN;
    return (struct codec_light_run){.run = {evidence->run_id, evidence->instant_us},
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

/* Runs that count less than in full, newest first, and those that failed: two lists merged. */
static void list_light(const struct run_observations *seen,
                       const struct drift_verdict verdicts[],
                       struct codec_light_run light[],
                       struct codec_watch *watch)
{
    size_t f = 0;
    for (size_t i = 0; i < seen->n || f < seen->failed;) {
        bool failure = f < seen->failed && (i == seen->n || seen->failures[f].instant_us >=
                                                                seen->evidence[i].instant_us);
        struct codec_light_run item;
        if (failure) {
            item = describe_failure(&seen->failures[f++]);
        } else {
            const struct drift_verdict *verdict = &verdicts[turned(seen, i)];
            item = describe(&seen->rows[i], &seen->evidence[i], verdict);
            i++;
            watch->faded += verdict->reason == DRIFT_FADED;
            if (verdict->reason == DRIFT_FULL || verdict->reason == DRIFT_FADED)
                continue;
        }
        watch->light_in_all++;
        if (watch->n_light < HISTORY_WATCH_LISTED)
            light[watch->n_light++] = item;
    }
    watch->light = light;
}

/* Executors of other sizes are compared by themselves, like other contexts. */
static struct drift_run watched(const struct observation *row, const struct run_evidence *evidence)
{
    struct drift_run run = {*row, evidence->executors_asked, evidence->executors_share,
                            evidence->failed_share};
    if (evidence->cores_per_executor >= 1)
        run.seen.context =
            run.seen.context * 1024U + (unsigned)(evidence->cores_per_executor % 1024);
    return run;
}

enum pv_code history_watch(struct run_observations *seen,
                           struct arena *arena,
                           struct codec_watch *watch,
                           struct pv_error *err)
{
    struct codec_watch made = {.n_light = 0};
    struct drift_run *runs = arena_array(arena, seen->n, sizeof *runs);
    struct drift_verdict *verdicts = arena_array(arena, seen->n, sizeof *verdicts);
    struct codec_light_run *light = arena_array(arena, HISTORY_WATCH_LISTED, sizeof *light);
    if (runs == NULL || verdicts == NULL || light == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < seen->n; i++)
        runs[i] = watched(&seen->rows[turned(seen, i)], &seen->evidence[turned(seen, i)]);
    PV_TRY(drift_watch(runs, seen->n, arena, verdicts, &made.drift, err));
    for (size_t i = 0; i < seen->n; i++)
        seen->rows[turned(seen, i)].weight = verdicts[i].weight;
    if (made.drift.drifts > 0) {
        made.since = name_run(seen, made.drift.since);
        made.detected = name_run(seen, made.drift.detected);
    }
    list_light(seen, verdicts, light, &made);
    *watch = made;
    return PV_OK;
}

enum pv_code history_watch_durations(struct run_duration_list *list,
                                     const unsigned of[],
                                     struct arena *scratch,
                                     struct codec_watch *watch,
                                     struct pv_error *err)
{
    struct run_observations seen = {.n = list->n,
                                    .rows = arena_array(scratch, list->n, sizeof *seen.rows),
                                    .evidence =
                                        arena_array(scratch, list->n, sizeof *seen.evidence)};
    if (seen.rows == NULL || seen.evidence == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < list->n; i++) {
        const struct run_duration *run = &list->items[i];
        seen.evidence[i] = run->evidence;
        seen.rows[i] = model_seen((double)run->problem_size, (double)run->executors,
                                  run->duration_s, run->initialization_s);
        seen.rows[i].context = of == NULL ? 0 : of[i];
    }
    PV_TRY(history_watch(&seen, scratch, watch, err));
    for (size_t i = 0; i < list->n; i++)
        list->items[i].weight = seen.rows[i].weight;
    watch->light = NULL;
    watch->since.run_id = watch->detected.run_id = NULL;
    watch->n_light = 0;
    return PV_OK;
}
