#ifndef TESTS_UNIT_CORE_MEMORY_CASES_H
#define TESTS_UNIT_CORE_MEMORY_CASES_H

#include "core/spark/memory_plan.h"

/* Runs, questions and plans for the tests of executor memory. */

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

#define PROPERTY(k, v)                                                                             \
    {                                                                                              \
        .key = {k, sizeof k - 1}, .value = { v, sizeof v - 1 }                                     \
    }

extern struct run_label eight_gib[1], twelve_gib[1], ten_gib[1], sixteen_and_overhead[2];

/* Of the plans. */
extern struct arena memory_arena;
void memory_set_up(void);
void memory_tear_down(void);

/* A run that ended well, with a peak of the heap if that is known. */
struct run run_with(struct run_label *properties, size_t n, int64_t peak_heap);

struct memory_question question_of(int64_t executors, int64_t cores);

struct memory_plan
plan_for(const struct run runs[], size_t n, double size, const struct memory_question *question);

/* The plan for 4 executors of 4 cores and a problem size of 64. */
struct memory_plan plan_of(const struct run runs[], size_t n);

/* The value that the plan gives the property; NULL: it does not change the property. */
const char *property_in(const struct memory_plan *plan, const char *key);

#endif
