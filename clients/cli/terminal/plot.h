#ifndef CLI_TERMINAL_PLOT_H
#define CLI_TERMINAL_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Curves in a terminal: several series over one axis, each with a band around it, and single values
 * that were measured. The y axis begins at 0.
 */
struct plot_point {
    double x;
    double y;   /* NAN: a gap */
    double low; /* the band; NAN: none here */
    double high;
    bool beyond; /* outside what was observed: the line is broken */
};

struct plot_series {
    const char *label;               /* at its right end */
    const struct plot_point *points; /* ascending in x */
    size_t n;
};

struct plot_mark {
    double x;
    double y;
    size_t series;
};

struct plot {
    const char *x_label; /* with units */
    const char *y_label;
    const struct plot_series *series;
    size_t n_series;
    const struct plot_mark *marks;
    size_t n_marks;
    size_t width; /* columns of the terminal, axes included; 40 at least */
    size_t rows;  /* of the field */
    bool ascii;   /* no characters but those of ASCII */
    bool color;
};

/* False: no memory, or nothing to draw. */
bool plot_draw(FILE *out, const struct plot *plot);

#endif
