#ifndef CODEC_MODELS_DIAGNOSIS_H
#define CODEC_MODELS_DIAGNOSIS_H

#include "base/json_writer.h"
#include "core/diagnosis/bottlenecks.h"
#include "core/diagnosis/diagnosis.h"

/* GET /v1/applications/{name}/diagnosis. */
struct codec_diagnosis {
    struct strview application;
    int64_t history_version;
    int64_t runs;
    size_t looked_at;
    size_t failed;
    size_t without_problem_size;
    size_t without_executors;
    size_t without_duration;
    size_t unmeasured;
    const struct diagnosis *diagnosis;
    const struct bottlenecks *bottlenecks; /* NULL: no run has stages */
    int64_t cores;                         /* of that run; RUN_UNKNOWN */
};

void codec_diagnosis_encode(struct writer *w, const struct codec_diagnosis *all);

#endif
