#ifndef CORE_DIAGNOSIS_SERIAL_STAGES_H
#define CORE_DIAGNOSIS_SERIAL_STAGES_H

#include "core/diagnosis/diagnosis_internal.h"

/*
 * Serial work inside stages (Z. Li, dissertation, section 2.5.1: shuffle, merge and reduce are the
 * serial part of a MapReduce job). A stage of a series is serial if
 *
 *   - its number of tasks does not grow with the executors (exponent below 0.5), and
 *   - on the most executors of the series it has fewer tasks than there are cores.
 *
 * More executors then shorten the stage no further than to its longest task. The longest task is
 * therefore moved from the parallel work and the busiest core to the serial time of each run. For a
 * stage of one task that is all of the stage. What a stage of k tasks keeps is its k - 1 other
 * tasks, so that the bound of the speedup is that of k tasks side by side.
 *
 * Stages of different runs are matched by their place. Without stages, or if the runs of the series
 * do not have equally many, nothing is moved.
 *
 * *rows: the runs of the series, or copies of them in `arena` with their work moved. *n_serial:
 * number of serial stages. *all_serial: nothing would be left in some run, so nothing was moved.
 * PV_E_MEMORY. O(runs x stages).
 */
enum pv_code diagnosis_move_serial_stages(const struct series *series,
                                          struct arena *arena,
                                          const struct diagnosis_run **rows,
                                          size_t *n_serial,
                                          bool *all_serial,
                                          struct pv_error *err) PV_MUSTCHECK;

#endif
