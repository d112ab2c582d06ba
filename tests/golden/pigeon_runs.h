#ifndef TESTS_GOLDEN_PIGEON_RUNS_H
#define TESTS_GOLDEN_PIGEON_RUNS_H

#include "core/scheduling/tasks/tasks_simulation.h"

/* Simulations of a trace under one scheduler with different seeds. */

/* Percentiles of completions of short jobs, of long ones, and the mean of all; seconds. */
enum { PIGEON_FIGURES = 7 };

/* Of each figure over the seeds. */
struct pigeon_spread {
    double least[PIGEON_FIGURES];
    double median[PIGEON_FIGURES];
    double most[PIGEON_FIGURES];
};

/* A complete model of a trace, "NGO" or "NYH", whose load is `percent` of its nominal cluster: the
 * arrivals of its trace of 90 percent, stretched. Aborts where there is no memory. false: there is
 * no such trace. */
bool pigeon_model(const char *shared,
                  const char *trace,
                  double percent,
                  uint32_t workers,
                  struct arena *arena,
                  struct tasks_model *model);

/* Seeds 1 to `seeds` <= 20. Aborts where it fails. */
void pigeon_simulate(const struct tasks_model *model,
                     const struct tasks_terms *terms,
                     unsigned seeds,
                     struct pigeon_spread *spread);

#endif
