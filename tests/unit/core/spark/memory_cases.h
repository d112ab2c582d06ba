#ifndef MEMORY_CASES_H
#define MEMORY_CASES_H

#include "core/spark/memory_plan.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

/* A run that ended well, with a peak of the heap if it is known. */
struct run run_with(struct run_label *properties, size_t n, int64_t peak_heap);

/* Without a bound of the cluster; no memory is fixed. */
struct memory_question question_of(int64_t executors, int64_t cores);

/* Value of a property that the plan sets; NULL if it sets no such property. */
const char *property_in(const struct memory_plan *plan, const char *key);

#endif
