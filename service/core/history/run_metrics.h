#ifndef CORE_HISTORY_RUN_METRICS_H
#define CORE_HISTORY_RUN_METRICS_H

#include "core/history/run.h"

/* All unknown. */
struct run_metrics run_metrics_unknown(void);

/* What only an event log contains becomes unknown: of a stage, and of a run without its stages.
 * Figures: RUN_FIGURES, metrics and resources; a log of another engine has the totals but not
 * these.
 */
void run_stage_clear_log(struct run_stage *stage);
void run_clear_log(struct run *run);
void run_clear_figures(struct run *run);

/* A stage of a log that never ran: everything but what describes it becomes unknown. */
void run_stage_skip(struct run_stage *stage);

#endif
