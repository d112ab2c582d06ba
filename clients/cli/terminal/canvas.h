#ifndef CLI_TERMINAL_CANVAS_H
#define CLI_TERMINAL_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A field of characters to draw on. With braille every character has 2 x 4 dots; in ASCII it is one
 * dot. Dots are counted from the upper left; what lies outside is not drawn.
 */
enum { CANVAS_DOTS_X = 2, CANVAS_DOTS_Y = 4 }; /* of a character of braille */

struct canvas_cell {
    unsigned char line;  /* dots, bits of braille */
    unsigned char shade; /* likewise */
    unsigned char line_series;
    unsigned char shade_series;
    unsigned char mark_series; /* from 1; 0: no mark */
};

struct canvas {
    size_t columns; /* characters */
    size_t rows;
    long width; /* dots */
    long height;
    bool ascii;
    struct canvas_cell *cells;
};

/* False: no memory. */
bool canvas_init(struct canvas *canvas, size_t columns, size_t rows, bool ascii);
void canvas_free(struct canvas *canvas);

/* A line between two dots; broken: with gaps. series: from 0, chooses colour and character. */
void canvas_line(
    struct canvas *canvas, const long from[2], const long to[2], size_t series, bool broken);

/* Lightly, the dots of a column from the upper to the lower one. */
void canvas_shade(struct canvas *canvas, long x, long upper, long lower, size_t series);

/* A sign in the character that holds the dot, above all else. */
void canvas_mark(struct canvas *canvas, long x, long y, size_t series);

/* One row of characters, without a line feed. */
void canvas_write_row(const struct canvas *canvas, size_t row, FILE *out, bool color);

/* The beginning of the colour of a series ("" without colour), and its sign in ASCII. */
const char *canvas_color(bool color, size_t series);
char canvas_sign(size_t series);

#endif
