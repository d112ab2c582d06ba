#ifndef CLI_COMMANDS_SIMULATION_PARTS_H
#define CLI_COMMANDS_SIMULATION_PARTS_H

#include "cli/output/report.h"

/*
 * The parts of a report on compared schedulers, each in a file of its own. They fill so many sections;
 * the rows that they make are in arrays of `made`, which owns them.
 */
enum { REASONS_SECTIONS = 2, SEARCH_SECTIONS = 4, QUEUES_SECTIONS = 2 };

/* Reasons and warnings of the recommendation at each load; warnings of the result as a whole. */
void simulation_reasons(const json_t *result, json_t *made, struct section sections[]);

/* The result of the search at each load; then the first candidates, or all candidates and rounds. */
void simulation_search(const json_t *result, bool all, json_t *made, struct section sections[]);

/* How many tasks wait and run, and what the masters handle, by load and policy. */
void simulation_queues(const json_t *result, json_t *made, struct section sections[]);

/* An empty array among those made. */
json_t *simulation_rows(json_t *made);

/* An object with the member `load` at the end of the rows. */
json_t *simulation_row(json_t *rows, const json_t *load);

/* A member of a row that is part of the reply, and remains so; NULL: left out. */
void simulation_cell(json_t *row, const char *key, const json_t *value);

/* A table of rows whose first column is the load, which is left out where the result has only one. */
struct section simulation_table(const char *title,
                                const json_t *result,
                                const json_t *rows,
                                const struct column columns[],
                                size_t n_columns);

enum { SIMULATION_LOAD_TEXT = 48 };

/* "Load 0.8", "Arrivals as given". */
void simulation_load_words(const json_t *load, char out[SIMULATION_LOAD_TEXT]);

#endif
