#ifndef CODEC_MODELS_EXPERIMENTS_H
#define CODEC_MODELS_EXPERIMENTS_H

#include "base/json_writer.h"
#include "core/cluster/billing.h"
#include "core/history/warned_runs.h"
#include "core/scaling/experiments/design.h"
#include "core/scaling/experiments/region.h"

/* GET .../next-experiments, and the member next_experiments of advice. Borrowed. */
struct codec_experiments {
    struct strview application;
    int64_t history_version;
    size_t runs;               /* that could be used */
    struct warned_runs warned; /* of them */
    const char *model;         /* the kind followed; NULL: none */
    const char *no_model;      /* why there is none; NULL */
    double max_cost;           /* NAN: none; only reported */
    struct billing billing;    /* its price NAN: unknown */
    const struct experiments_question *question;
    const struct experiment_region *region;
    const struct experiments_plan *plan;
};

/* The whole reply. */
void codec_experiments_encode(struct writer *w, const struct codec_experiments *experiments);

/* The list of runs to make, as a value. */
void codec_experiments_encode_items(struct writer *w, const struct codec_experiments *experiments);

/* Words of enum experiments_criterion, NULL-terminated. */
extern const char *const codec_experiments_criteria[];

#endif
