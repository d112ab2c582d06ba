#include "cli/terminal/canvas.h"

#include <stdlib.h>
#include <string.h>

#include "cli/terminal/terminal.h"

enum { ASCII_ALL = 1 };

bool canvas_init(struct canvas *canvas, size_t columns, size_t rows, bool ascii)
{
    *canvas = (struct canvas){.columns = columns,
                              .rows = rows,
                              .width = (long)columns * (ascii ? 1 : CANVAS_DOTS_X),
                              .height = (long)rows * (ascii ? 1 : CANVAS_DOTS_Y),
                              .ascii = ascii};
    canvas->cells = calloc(columns * rows, sizeof *canvas->cells);
    return canvas->cells != NULL;
}

void canvas_free(struct canvas *canvas)
{
    free(canvas->cells);
    canvas->cells = NULL;
}

/* The character that holds a dot, and which bit of it the dot is; NULL outside. */
static struct canvas_cell *cell_at(const struct canvas *canvas, long x, long y, unsigned char *bit)
{
    static const unsigned char bits[CANVAS_DOTS_Y][CANVAS_DOTS_X] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height)
        return NULL;
    *bit = canvas->ascii ? ASCII_ALL : bits[y % CANVAS_DOTS_Y][x % CANVAS_DOTS_X];
    long column = canvas->ascii ? x : x / CANVAS_DOTS_X;
    long row = canvas->ascii ? y : y / CANVAS_DOTS_Y;
    return &canvas->cells[row * (long)canvas->columns + column];
}

static void set_line(struct canvas *canvas, long x, long y, size_t series)
{
    unsigned char bit;
    struct canvas_cell *cell = cell_at(canvas, x, y, &bit);
    if (cell == NULL)
        return;
    cell->line |= bit;
    cell->line_series = (unsigned char)series;
}

void canvas_line(
    struct canvas *canvas, const long from[2], const long to[2], size_t series, bool broken)
{
    long dx = labs(to[0] - from[0]);
    long dy = labs(to[1] - from[1]);
    long steps = dx > dy ? dx : dy;
    for (long i = 0; i <= steps; i++) {
        double share = steps == 0 ? 0 : (double)i / (double)steps;
        long x =
            from[0] + (long)((double)(to[0] - from[0]) * share + (to[0] > from[0] ? 0.5 : -0.5));
        long y =
            from[1] + (long)((double)(to[1] - from[1]) * share + (to[1] > from[1] ? 0.5 : -0.5));
        /* Gaps at fixed places, so that those of neighbouring pieces fit together. */
        if (!broken || (x + (dy > dx ? y : 0)) % 4 < 2)
            set_line(canvas, x, y, series);
    }
}

void canvas_shade(struct canvas *canvas, long x, long upper, long lower, size_t series)
{
    if (upper < 0)
        upper = 0;
    if (lower >= canvas->height)
        lower = canvas->height - 1;
    for (long y = upper; y <= lower; y++) {
        bool sparse = canvas->ascii || (y % 2 == 0 && (x + y / 2) % 2 == 0);
        unsigned char bit;
        struct canvas_cell *cell = sparse ? cell_at(canvas, x, y, &bit) : NULL;
        if (cell != NULL) {
            cell->shade |= bit;
            cell->shade_series = (unsigned char)series;
        }
    }
}

void canvas_mark(struct canvas *canvas, long x, long y, size_t series)
{
    unsigned char bit;
    struct canvas_cell *cell = cell_at(canvas, x, y, &bit);
    if (cell != NULL)
        cell->mark_series = (unsigned char)(series + 1);
}

const char *canvas_color(bool color, size_t series)
{
    static const char *const colors[] = {"\033[34m", "\033[33m", "\033[35m",
                                         "\033[36m", "\033[32m", "\033[31m"};
    return color ? colors[series % (sizeof colors / sizeof *colors)] : "";
}

char canvas_sign(size_t series)
{
    static const char signs[] = "*+x#%@";
    return signs[series % (sizeof signs - 1)];
}

/* The dots of a character of braille, U+2800 on, as UTF-8. */
static void write_dots(FILE *out, unsigned char dots)
{
    fputc(0xe2, out);
    fputc(0xa0 | dots >> 6, out);
    fputc(0x80 | (dots & 0x3f), out);
}

static void write_cell(const struct canvas *canvas, const struct canvas_cell *cell, FILE *out)
{
    if (cell->mark_series > 0)
        fputs(canvas->ascii ? "o" : "●", out);
    else if (canvas->ascii)
        fputc(cell->line != 0 ? canvas_sign(cell->line_series) : cell->shade != 0 ? '.' : ' ', out);
    else if (cell->line != 0)
        write_dots(out, cell->line);
    else if (cell->shade != 0)
        write_dots(out, cell->shade);
    else
        fputc(' ', out);
}

static bool is_empty(const struct canvas_cell *cell)
{
    return cell->mark_series == 0 && cell->line == 0 && cell->shade == 0;
}

void canvas_write_row(const struct canvas *canvas, size_t row, FILE *out, bool color)
{
    const struct canvas_cell *cells = canvas->cells + row * canvas->columns;
    for (size_t i = 0; i < canvas->columns; i++) {
        const struct canvas_cell *cell = &cells[i];
        bool colored = color && !is_empty(cell);
        size_t series = cell->mark_series > 0 ? cell->mark_series - 1U
                        : cell->line != 0     ? cell->line_series
                                              : cell->shade_series;
        bool faint = colored && cell->mark_series == 0 && cell->line == 0;
        fputs(style_begin(faint, STYLE_FAINT), out);
        fputs(canvas_color(colored, series), out);
        write_cell(canvas, cell, out);
        fputs(style_end(colored), out);
    }
}
