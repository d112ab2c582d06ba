#ifndef CLI_TERMINAL_GANTT_H
#define CLI_TERMINAL_GANTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Which core works on what when: a row a core, a letter a job. */
struct gantt_bar {
    size_t row;
    double start;
    double end;
    size_t job; /* from 0 */
};

struct gantt {
    const char *row_label; /* "core" */
    const char *x_label;   /* "seconds" */
    const struct gantt_bar *bars;
    size_t n;
    const char *const *jobs; /* their names */
    size_t n_jobs;
    size_t width;    /* columns, labels included */
    size_t rows_max; /* rows beyond are counted only */
};

/* False: no memory, or nothing to draw. */
bool gantt_draw(FILE *out, const struct gantt *gantt);

/* The letter of a job: A to Z, a to z, then '#'. */
char gantt_letter(size_t job);

#endif
