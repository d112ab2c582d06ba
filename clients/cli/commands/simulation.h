#ifndef CLI_COMMANDS_SIMULATION_H
#define CLI_COMMANDS_SIMULATION_H

#include "cli/output/report.h"

enum { SIMULATION_SECTIONS = 13 };

/*
 * The sections of a report that show the result of a simulation. Of schedulers of slots or tasks: what
 * each policy comes to at each load, which one is best and why, what a search found, and, where the
 * result has them, queues, masters and copies of slow tasks; of kind geo which policy is best at each rate of arrivals.
 * They are empty where the result is none. all: every candidate and round of a search, instead of the
 * first candidates alone. Returns the rows that they borrow, which the caller gives
 * back (json_decref).
 */
json_t *
simulation_sections(const json_t *result, bool all, struct section sections[SIMULATION_SECTIONS]);

#endif
