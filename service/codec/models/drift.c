#include "codec/models/drift.h"

#include <math.h>

static void encode_run(struct writer *w, const char *key, const struct run_evidence *run)
{
    if (!writer_member_object_or_null(w, key, run != NULL))
        return;
    writer_member_string(w, "run_id", run->run_id);
    writer_member_instant(w, "at", run->instant_us);
    writer_end_object(w);
}

/* Which way, since when, by how much; null where nothing ever drifted. */
static void encode_change(struct writer *w, const struct history_drift *found)
{
    const struct drift *drift = &found->drift;
    bool drifted = drift->drifts > 0;
    writer_member_string(w, "direction", !drifted ? NULL : drift->slower ? "slower" : "faster");
    writer_member_number(w, "change_percent", drifted ? drift->change_percent : (double)NAN);
    encode_run(w, "since_run", found->since);
    encode_run(w, "detected_run", found->detected);
    writer_key(w, "runs_since");
    if (drifted)
        writer_integer(w, (int64_t)drift->runs_since);
    else
        writer_null(w);
}

static void encode_drift(struct writer *w, const struct history_drift *found)
{
    const struct drift *drift = &found->drift;
    writer_member_object(w, "drift");
    writer_member_string(w, "state", drift_state_name(drift->state));
    encode_change(w, found);
    writer_member_integer(w, "drifts", (int64_t)drift->drifts);
    writer_member_integer(w, "runs_compared", (int64_t)drift->judged);
    writer_member_integer(w, "runs_discounted", (int64_t)found->faded);
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

static void encode_down_weighted(struct writer *w, const struct down_weighted_run *item)
{
    writer_begin_object(w);
    writer_member_string(w, "run_id", item->run->run_id);
    writer_member_instant(w, "at", item->run->instant_us);
    writer_member_string(w, "reason", item->reason);
    writer_member_number(w, "weight", item->weight);
    writer_member_object(w, "evidence");
    encode_known(w, "duration_s", item->duration_s);
    encode_known(w, "expected_duration_s", item->promised_s);
    encode_known(w, "deviations", item->deviations);
    encode_known(w, "executors", item->executors);
    encode_known(w, "executors_requested", item->executors_asked);
    encode_known(w, "executors_share", item->executors_share);
    encode_known(w, "failed_share", item->failed_share);
    writer_end_object(w);
    writer_end_object(w);
}

void codec_drift_encode(struct writer *w, const struct history_drift *found)
{
    unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
    encode_drift(w, found);
    writer_member_integer(w, "down_weighted_count", (int64_t)found->down_weighted_in_all);
    writer_member_array(w, "down_weighted");
    for (size_t i = 0; i < found->n_down_weighted; i++)
        encode_down_weighted(w, &found->down_weighted[i]);
    writer_end_array(w);
    w->digits = digits;
}

void codec_drift_event_encode(struct writer *w,
                              struct strview application,
                              int64_t history_version,
                              const struct history_drift *found)
{
    writer_begin_object(w);
    writer_member_text(w, "application", application);
    writer_member_integer(w, "history_version", history_version);
    encode_change(w, found);
    writer_end_object(w);
}
