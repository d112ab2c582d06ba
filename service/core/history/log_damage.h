#ifndef CORE_HISTORY_LOG_DAMAGE_H
#define CORE_HISTORY_LOG_DAMAGE_H

#include "core/history/run.h"

/* Number of lines, events and parts that the run's log lost or holds twice, by the run's warnings.
 * 0: the log is intact. */
int64_t log_damage(const struct run *run);

#endif
