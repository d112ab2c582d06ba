#include "cli/terminal/plot.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/canvas.h"
#include "cli/terminal/scale.h"
#include "cli/terminal/terminal.h"

enum { LABEL_MAX = 24, ROWS_A_TICK = 3, COLUMNS_A_TICK = 8, ROWS_MAX = 64 };

/* How high may a band go above the curves: beyond it would press them together. */
static const double band_most = 1.5;

struct drawing {
    const struct plot *plot;
    struct canvas canvas;
    double x_least;
    double x_most;
    double y_most;
    double y_step;
    double x_step;
    size_t left;  /* columns of the labels of the y axis */
    size_t right; /* those of the series */
};

/* --- scales --- */

static void add_to(double *most, double value)
{
    if (isfinite(value) && value > *most)
        *most = value;
}

static void find_ranges(struct drawing *drawing)
{
    const struct plot *plot = drawing->plot;
    double curve = 0;
    double band = 0;
    drawing->x_least = INFINITY;
    drawing->x_most = -INFINITY;
    for (size_t s = 0; s < plot->n_series; s++)
        for (size_t i = 0; i < plot->series[s].n; i++) {
            const struct plot_point *point = &plot->series[s].points[i];
            if (point->x < drawing->x_least)
                drawing->x_least = point->x;
            add_to(&drawing->x_most, point->x);
            add_to(&curve, point->y);
            add_to(&band, point->high);
        }
    for (size_t i = 0; i < plot->n_marks; i++)
        if (plot->marks[i].x >= drawing->x_least && plot->marks[i].x <= drawing->x_most)
            add_to(&curve, plot->marks[i].y);
    drawing->y_most = fmax(curve, fmin(band, band_most * curve));
}

static void find_scales(struct drawing *drawing)
{
    const struct plot *plot = drawing->plot;
    char text[LABEL_MAX];
    drawing->y_step = scale_step(drawing->y_most, plot->rows / ROWS_A_TICK, 0);
    drawing->y_most = drawing->y_step * ceil(drawing->y_most / drawing->y_step - 1e-9);
    scale_label(drawing->y_most, drawing->y_step, text, sizeof text);
    drawing->left = strlen(text) + 1;
    for (size_t s = 0; s < plot->n_series; s++) {
        size_t n = text_columns(plot->series[s].label) + 1;
        if (n > drawing->right)
            drawing->right = n;
    }
}

static long x_dot(const struct drawing *drawing, double x)
{
    double range = drawing->x_most - drawing->x_least;
    double share = range > 0 ? (x - drawing->x_least) / range : 0.5;
    return lround(share * (double)(drawing->canvas.width - 1));
}

static long y_dot(const struct drawing *drawing, double y)
{
    double share = 1 - y / drawing->y_most;
    return lround(fmax(-1, fmin(2, share)) * (double)(drawing->canvas.height - 1));
}

/* --- the field --- */

static void shade_between(struct drawing *drawing,
                          const struct plot_point *a,
                          const struct plot_point *b,
                          size_t series)
{
    if (isnan(a->low) || isnan(a->high) || isnan(b->low) || isnan(b->high))
        return;
    long from = x_dot(drawing, a->x);
    long to = x_dot(drawing, b->x);
    for (long x = from; x <= to; x++) {
        double share = to > from ? (double)(x - from) / (double)(to - from) : 0;
        double high = a->high + (b->high - a->high) * share;
        double low = a->low + (b->low - a->low) * share;
        canvas_shade(&drawing->canvas, x, y_dot(drawing, high), y_dot(drawing, low), series);
    }
}

static void draw_bands(struct drawing *drawing)
{
    for (size_t s = 0; s < drawing->plot->n_series; s++) {
        const struct plot_series *series = &drawing->plot->series[s];
        for (size_t i = 1; i < series->n; i++)
            shade_between(drawing, &series->points[i - 1], &series->points[i], s);
    }
}

static void draw_lines(struct drawing *drawing)
{
    for (size_t s = 0; s < drawing->plot->n_series; s++) {
        const struct plot_series *series = &drawing->plot->series[s];
        const struct plot_point *before = NULL;
        for (size_t i = 0; i < series->n; i++) {
            const struct plot_point *point = &series->points[i];
            if (isnan(point->y)) {
                before = NULL;
                continue;
            }
            const struct plot_point *start = before == NULL ? point : before;
            const long from[2] = {x_dot(drawing, start->x), y_dot(drawing, start->y)};
            const long to[2] = {x_dot(drawing, point->x), y_dot(drawing, point->y)};
            canvas_line(&drawing->canvas, from, to, s, start->beyond || point->beyond);
            before = point;
        }
    }
}

static void draw_marks(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->plot->n_marks; i++) {
        const struct plot_mark *mark = &drawing->plot->marks[i];
        if (mark->x >= drawing->x_least && mark->x <= drawing->x_most && isfinite(mark->y))
            canvas_mark(&drawing->canvas, x_dot(drawing, mark->x), y_dot(drawing, mark->y),
                        mark->series);
    }
}

/* --- around it --- */

static size_t row_of(const struct drawing *drawing, double y)
{
    long row = y_dot(drawing, y) / (drawing->canvas.ascii ? 1 : CANVAS_DOTS_Y);
    long last = (long)drawing->canvas.rows - 1;
    return (size_t)(row < 0 ? 0 : row > last ? last : row);
}

/* Which series has its label in which row: where it ends, or the nearest row that is free. */
static void place_labels(const struct drawing *drawing, size_t rows[ROWS_MAX])
{
    size_t n = drawing->canvas.rows;
    for (size_t i = 0; i < ROWS_MAX; i++)
        rows[i] = SIZE_MAX;
    for (size_t s = 0; s < drawing->plot->n_series; s++) {
        const struct plot_series *series = &drawing->plot->series[s];
        size_t last = series->n;
        while (last > 0 && isnan(series->points[last - 1].y))
            last--;
        if (last == 0)
            continue;
        size_t wanted = row_of(drawing, series->points[last - 1].y);
        for (size_t away = 0; away < 2 * n; away++) {
            size_t step = (away + 1) / 2;
            bool up = away % 2 == 1;
            if (up ? step > wanted : wanted + step >= n)
                continue;
            size_t row = up ? wanted - step : wanted + step;
            if (rows[row] == SIZE_MAX) {
                rows[row] = s;
                break;
            }
        }
    }
}

static void tick_label(const struct drawing *drawing, size_t row, char out[LABEL_MAX])
{
    out[0] = '\0';
    for (double y = 0; y <= drawing->y_most * (1 + 1e-9); y += drawing->y_step)
        if (row_of(drawing, y) == row)
            scale_label(y, drawing->y_step, out, LABEL_MAX);
}

static void write_rows(const struct drawing *drawing, FILE *out)
{
    const struct plot *plot = drawing->plot;
    size_t labels[ROWS_MAX];
    place_labels(drawing, labels);
    for (size_t row = 0; row < plot->rows; row++) {
        char tick[LABEL_MAX];
        tick_label(drawing, row, tick);
        const char *axis = plot->ascii       ? (tick[0] != '\0' ? "+" : "|")
                           : tick[0] != '\0' ? "┤"
                                             : "│";
        fprintf(out, "%*s %s", (int)drawing->left - 1, tick, axis);
        canvas_write_row(&drawing->canvas, row, out, plot->color);
        if (labels[row] != SIZE_MAX) {
            size_t s = labels[row];
            fprintf(out, " %s%s%s", canvas_color(plot->color, s), plot->series[s].label,
                    style_end(plot->color));
        }
        fputc('\n', out);
    }
}

static size_t column_of(const struct drawing *drawing, double x)
{
    return (size_t)(x_dot(drawing, x) / (drawing->canvas.ascii ? 1 : CANVAS_DOTS_X));
}

static bool is_tick(const struct drawing *drawing, size_t column, double *value)
{
    double first = drawing->x_step * ceil(drawing->x_least / drawing->x_step - 1e-9);
    for (double x = first; x <= drawing->x_most * (1 + 1e-9); x += drawing->x_step)
        if (column_of(drawing, x) == column) {
            *value = x;
            return true;
        }
    return false;
}

static void write_x_axis(const struct drawing *drawing, FILE *out)
{
    const struct plot *plot = drawing->plot;
    size_t columns = drawing->canvas.columns;
    double value;
    fprintf(out, "%*s%s", (int)drawing->left, "", plot->ascii ? "+" : "└");
    for (size_t i = 0; i < columns; i++)
        fputs(is_tick(drawing, i, &value) ? (plot->ascii ? "+" : "┬")
              : plot->ascii               ? "-"
                                          : "─",
              out);
    fprintf(out, "\n%*s", (int)drawing->left + 1, "");
    size_t at = 0; /* columns written */
    for (size_t i = 0; i < columns; i++) {
        char text[LABEL_MAX];
        if (!is_tick(drawing, i, &value))
            continue;
        scale_label(value, drawing->x_step, text, sizeof text);
        size_t n = strlen(text);
        size_t begin = i >= n / 2 ? i - n / 2 : 0;
        if (begin < at)
            continue;
        fprintf(out, "%*s%s", (int)(begin - at), "", text);
        at = begin + n;
    }
    size_t n = text_columns(plot->x_label);
    size_t room = drawing->left + 1 + columns;
    fprintf(out, "\n%*s%s\n", (int)(room > n ? room - n : 0), "", plot->x_label);
}

bool plot_draw(FILE *out, const struct plot *plot)
{
    struct drawing drawing = {.plot = plot};
    find_ranges(&drawing);
    if (!(drawing.y_most > 0) || !(drawing.x_most >= drawing.x_least) || plot->rows == 0 ||
        plot->rows > ROWS_MAX)
        return false;
    find_scales(&drawing);
    size_t around = drawing.left + 1 + drawing.right;
    size_t columns = plot->width > around + 16 ? plot->width - around : 16;
    if (!canvas_init(&drawing.canvas, columns, plot->rows, plot->ascii))
        return false;
    drawing.x_step = scale_step(drawing.x_most - drawing.x_least, columns / COLUMNS_A_TICK, 1);
    draw_bands(&drawing);
    draw_lines(&drawing);
    draw_marks(&drawing);
    fprintf(out, "%s\n", plot->y_label);
    write_rows(&drawing, out);
    write_x_axis(&drawing, out);
    canvas_free(&drawing.canvas);
    return true;
}
