#ifndef CODEC_HISTORY_SOURCE_RUN_H
#define CODEC_HISTORY_SOURCE_RUN_H

#include "base/json_writer.h"
#include "core/history/run_profile.h"

/* The member `source_runs`: the runs that a profile was drawn from, newest first. */
void codec_source_runs_encode(struct writer *w, const struct run_source runs[], size_t n);

#endif
