#ifndef CLI_OUTPUT_JSON_TEXT_H
#define CLI_OUTPUT_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "cli/failure.h"

/* A value as JSON, indented, members in their order, numbers in the shortest form that reads back the
 * same; a line feed behind it. */
bool json_text_write(FILE *out, const json_t *value, struct failure *failure);

/* The same as YAML 1.1, which YAML 1.2 reads as well. */
bool yaml_text_write(FILE *out, const json_t *value, struct failure *failure);

/* What lies at "last_run.cost" or "interval_s.0"; NULL where there is nothing. Borrowed. */
const json_t *json_at(const json_t *value, const char *path);
/* The same as text, number or truth; the fallback where it is of another type. */
const char *json_text_at(const json_t *value, const char *path, const char *fallback);
double json_number_at(const json_t *value, const char *path, double fallback);
bool json_true_at(const json_t *value, const char *path);

#endif
