#ifndef CLI_OUTPUT_REPORT_H
#define CLI_OUTPUT_REPORT_H

#include "cli/output/table.h"

/*
 * A reply of several parts: tables, records, words and pictures below one another. JSON and YAML hold
 * the whole reply, CSV the first list, Markdown all but the pictures.
 */
struct section {
    const char *title;   /* NULL: none */
    const json_t *value; /* an array or an object; empty or NULL: the section is left out */
    const struct column *columns;
    size_t n_columns;
    const char *text; /* in place of a value: words, broken to lines */
    /* To people in place of both; the other forms have the value, if there is one. */
    void (*draw)(FILE *out, const struct terminal *terminal, const void *context);
    const void *context;
    /* In Markdown in place of the value, of what no cell of a table has room for. */
    void (*mark)(FILE *out, const void *context);
};

bool report_write(FILE *out,
                  enum output_form form,
                  const struct terminal *terminal,
                  const struct section sections[],
                  size_t n,
                  const json_t *all,
                  struct failure *failure);

#endif
