#include "codec/models/drift.h"

#include <math.h>

static void encode_run(struct writer *w, const char *key, const struct codec_watched_run *run)
{
    if (!writer_member_object_or_null(w, key, run->run_id != NULL))
        return;
    writer_member_string(w, "run_id", run->run_id);
    writer_member_instant(w, "at", run->instant_us);
    writer_end_object(w);
}

/* Which way, since when, by how much; null where nothing ever drifted. */
static void encode_change(struct writer *w, const struct codec_watch *watch)
{
    const struct drift *drift = &watch->drift;
    bool drifted = drift->drifts > 0;
    writer_member_string(w, "direction", !drifted ? NULL : drift->slower ? "slower" : "faster");
    writer_member_number(w, "change_percent", drifted ? drift->change_percent : (double)NAN);
    encode_run(w, "since_run", &watch->since);
    encode_run(w, "detected_run", &watch->detected);
    writer_key(w, "runs_since");
    if (drifted)
        writer_integer(w, (int64_t)drift->runs_since);
    else
        writer_null(w);
}

static void encode_drift(struct writer *w, const struct codec_watch *watch)
{
    const struct drift *drift = &watch->drift;
    writer_member_object(w, "drift");
    writer_member_string(w, "state", drift_state_name(drift->state));
    encode_change(w, watch);
    writer_member_integer(w, "drifts", (int64_t)drift->drifts);
    writer_member_integer(w, "runs_compared", (int64_t)drift->judged);
    writer_member_integer(w, "runs_discounted", (int64_t)watch->faded);
    writer_member_object(w, "cusum");
    writer_member_number(w, "slower", drift->up);
    writer_member_number(w, "faster", drift->down);
    writer_member_number(w, "reference_value", drift->rule.reference);
    writer_member_number(w, "threshold", drift->rule.threshold);
    writer_member_number(w, "in_control_run_length", DRIFT_RUN_LENGTH);
    writer_end_object(w);
    writer_end_object(w);
}

static void encode_known(struct writer *w, const char *key, double value)
{
    if (!isnan(value))
        writer_member_number(w, key, value);
}

static void encode_light(struct writer *w, const struct codec_light_run *light)
{
    writer_begin_object(w);
    writer_member_string(w, "run_id", light->run.run_id);
    writer_member_instant(w, "at", light->run.instant_us);
    writer_member_string(w, "reason", light->reason);
    writer_member_number(w, "weight", light->weight);
    writer_member_object(w, "evidence");
    encode_known(w, "duration_s", light->duration_s);
    encode_known(w, "expected_duration_s", light->promised_s);
    encode_known(w, "deviations", light->deviations);
    encode_known(w, "executors", light->executors);
    encode_known(w, "executors_requested", light->executors_asked);
    encode_known(w, "executors_share", light->executors_share);
    encode_known(w, "failed_share", light->failed_share);
    writer_end_object(w);
    writer_end_object(w);
}

void codec_watch_encode(struct writer *w, const struct codec_watch *watch)
{
    encode_drift(w, watch);
    writer_member_integer(w, "down_weighted_count", (int64_t)watch->light_in_all);
    writer_member_array(w, "down_weighted");
    for (size_t i = 0; i < watch->n_light; i++)
        encode_light(w, &watch->light[i]);
    writer_end_array(w);
}

void codec_drift_event_encode(struct writer *w,
                              struct strview application,
                              int64_t history_version,
                              const struct codec_watch *watch)
{
    writer_begin_object(w);
    writer_member_text(w, "application", application);
    writer_member_integer(w, "history_version", history_version);
    encode_change(w, watch);
    writer_end_object(w);
}
