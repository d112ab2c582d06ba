#ifndef CORE_ADVICE_CACHED_DATA_H
#define CORE_ADVICE_CACHED_DATA_H

#include <stdbool.h>

#include "core/history/run.h"

/*
 * Cached data (RDDs and tables that Spark keeps in the memory of its executors): how much a run
 * cached, what share of it fits on other executors, and what a task costs that does not find its
 * block.
 *
 * Spark does not evict a block for another block of the same RDD. So if an application wants to cache
 * D bytes on m executors that hold C bytes each, the share min(1, m C / D) of the blocks stays in
 * memory, and in every stage that reads them the tasks of the other blocks miss: they compute their
 * block again. D grows in proportion to the problem size.
 */
struct cached_data {
    double wanted_bytes; /* that the run wanted to cache at its size; NAN: unknown */
    double held_bytes;   /* that one executor can hold; NAN: unknown */
};

/* What the run's log says; all unknown if no stage of it reads cached data. */
struct cached_data cached_data_of(const struct run *run);

/* Did the executors of the run hold all that it wanted to cache? */
bool cached_data_fits(const struct cached_data *data, int64_t executors);

/* Share of the blocks in memory on `executors` at `size_ratio` times the run's problem size; 1 if
 * the cached data or the memory is unknown. */
double cached_data_hit(const struct cached_data *data, double size_ratio, int64_t executors);

/*
 * Of n task times, ascending: how many are of tasks that found their block. Times that form two
 * groups, apart by more than half of the shorter, are divided between them; else 0 is returned.
 */
size_t cached_data_split(const double ascending_s[], size_t n);

#endif
