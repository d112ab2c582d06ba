#ifndef CODEC_DEADLINES_JOB_SOURCE_H
#define CODEC_DEADLINES_JOB_SOURCE_H

#include "codec/history/run.h"

/*
 * Where the stages of a job come from: the members `stages`, or `application` with or without
 * `problem_size`. check finds fault with what a stage may not hold here. True: the request has the
 * stages, and the run is one that consists of them, in ascending order of id.
 */
bool codec_job_source_decode(const struct codec_node *node,
                             const struct codec_run_limits *limits,
                             void (*check)(const struct codec_node *stage),
                             struct strview *application,
                             double *problem_size,
                             struct run *run);

#endif
