#ifndef CORE_DEADLINE_LAUNCHES_H
#define CORE_DEADLINE_LAUNCHES_H

#include "base/finding.h"
#include "base/strview.h"
#include "core/deadline/clairvoyant_edf.h"

/* What a schedule shows of the memory that its jobs were launched in (docs/design.md, "Memory"). */
struct launches {
    size_t holding;      /* jobs that hold memory */
    size_t fits_at_once; /* of those, launched at the instant at which the first is released */
    size_t waited;       /* launched later than they were released */
    size_t longest;      /* index of the one that waited longest; the first of several */
    double longest_s;
    int64_t longest_bytes;
    int64_t memory_bytes; /* that they are launched in; 0: none holds any */
};

struct launches
launches_count(const struct edf_job jobs[], const struct edf_outcome outcomes[], size_t n);

/* The reason `waited_for_memory`, where some job did. longest: the name of the one that waited
 * longest. */
void launches_explain(const struct launches *launches,
                      struct strview longest,
                      struct findings *reasons);

#endif
