#ifndef CODEC_MODELS_DRIFT_H
#define CODEC_MODELS_DRIFT_H

#include "base/json_writer.h"
#include "core/scaling/drift/drift.h"

/* Whether an application has drifted, and which of its runs count less (GET .../models, .../advice,
 * the event model.drifted). */

/* A run as it is named on the wire. */
struct codec_watched_run {
    const char *run_id; /* NULL: none */
    int64_t instant_us;
};

struct codec_light_run {
    struct codec_watched_run run;
    const char *reason; /* a word */
    double weight;
    /* What it is read off; NAN: does not apply. */
    double duration_s;
    double promised_s;
    double deviations;
    double executors;
    double executors_asked;
    double executors_share;
    double failed_share;
};

struct codec_watch {
    struct drift drift;
    struct codec_watched_run since;
    struct codec_watched_run detected;
    const struct codec_light_run *light; /* newest first */
    size_t n_light;
    size_t light_in_all; /* n_light of them are listed */
    size_t faded;        /* runs from before a drift, which are not listed */
};

/* The members "drift", "down_weighted" and "down_weighted_count" of an open object. */
void codec_watch_encode(struct writer *w, const struct codec_watch *watch);

/* What the event model.drifted tells. */
void codec_drift_event_encode(struct writer *w,
                              struct strview application,
                              int64_t history_version,
                              const struct codec_watch *watch);

#endif
