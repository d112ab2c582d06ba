#ifndef CODEC_DEADLINES_LAUNCHES_H
#define CODEC_DEADLINES_LAUNCHES_H

#include "base/json_writer.h"
#include "core/deadline/launches.h"

/* The member `memory`: LaunchMemory. */
void codec_launches_encode(struct writer *w,
                           const struct edf_memory *memory,
                           const struct launches *launches);

#endif
