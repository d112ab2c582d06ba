#ifndef CLI_COMMANDS_SIMULATION_H
#define CLI_COMMANDS_SIMULATION_H

#include "cli/output/report.h"

enum { SIMULATION_SECTIONS = 2 };

/*
 * The sections of a report that show the result of a simulation: which policy is best at each load,
 * and, of schedulers of slots or tasks, what each policy comes to. They are empty where the result
 * is none. Returns the rows that they borrow, which the caller gives back (json_decref).
 */
json_t *simulation_sections(const json_t *result, struct section sections[SIMULATION_SECTIONS]);

#endif
