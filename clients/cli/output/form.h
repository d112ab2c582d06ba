#ifndef CLI_OUTPUT_FORM_H
#define CLI_OUTPUT_FORM_H

#include <jansson.h>
#include <stdio.h>

#include "cli/arguments/parse.h"
#include "cli/failure.h"
#include "cli/terminal/terminal.h"

/*
 * In which form a result is written, and where to: --output FORM[=FILE], which may be given several
 * times (a table to read, JSON and Markdown in files). A file is written beside its place and renamed,
 * so that it is complete or not there.
 */
enum output_form {
    FORM_TABLE, /* for people */
    FORM_JSON,
    FORM_YAML,
    FORM_CSV,
    FORM_MARKDOWN,
    FORM_SPARK_SUBMIT, /* from here on: advice as the service renders it */
    FORM_SPARK_DEFAULTS,
    FORM_K8S,
    FORM_K8S_APACHE,
    FORM_DATABRICKS,
    FORM_EMR,
    FORM_EMR_SERVERLESS,
    FORM_JUNIT, /* from here on: of a gate */
    FORM_DOTENV,
    FORM_GITHUB,
    FORM_COUNT
};

/* "table", "json", ... */
extern const char *const output_form_names[FORM_COUNT];

struct output {
    enum output_form form;
    const char *file; /* NULL: standard output */
};

enum { OUTPUTS_MAX = 12 };

struct outputs {
    struct output items[OUTPUTS_MAX];
    size_t n;
    struct terminal terminal;
};

/* From --output, and --format where the command has it; allowed: bits 1 << form. Without any it is
 * the table. */
bool outputs_read(const struct arguments *arguments,
                  unsigned allowed,
                  struct outputs *outputs,
                  struct failure *failure);

/* Writes one form of a result. */
typedef bool output_write(FILE *out,
                          enum output_form form,
                          const struct terminal *terminal, /* of files: no terminal */
                          void *context,
                          struct failure *failure);

/* Write every form that was asked for. What cannot be written is a failure that names the file; the
 * others are written all the same. */
bool outputs_write(const struct outputs *outputs,
                   output_write *write,
                   void *context,
                   struct failure *failure);

#endif
