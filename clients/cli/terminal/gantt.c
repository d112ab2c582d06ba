#include "cli/terminal/gantt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/scale.h"
#include "cli/terminal/terminal.h"

enum { LETTERS = 26, IDLE = '.', COLUMNS_A_TICK = 10, FIELD_LEAST = 16 };

struct field {
    char *cells;
    size_t columns;
    size_t rows;
    size_t all_rows;
    double least;
    double most;
    size_t left; /* columns of the labels */
};

char gantt_letter(size_t job)
{
    if (job < LETTERS)
        return (char)('A' + job);
    return job < 2 * LETTERS ? (char)('a' + (job - LETTERS)) : '#';
}

static void measure(struct field *field, const struct gantt *gantt)
{
    field->least = INFINITY;
    field->most = -INFINITY;
    for (size_t i = 0; i < gantt->n; i++) {
        field->least = fmin(field->least, gantt->bars[i].start);
        field->most = fmax(field->most, gantt->bars[i].end);
        if (gantt->bars[i].row >= field->all_rows)
            field->all_rows = gantt->bars[i].row + 1;
    }
    field->rows = field->all_rows < gantt->rows_max ? field->all_rows : gantt->rows_max;
    char number[24];
    int digits = snprintf(number, sizeof number, "%zu", field->rows == 0 ? 0 : field->rows - 1);
    field->left = strlen(gantt->row_label) + 1 + (size_t)digits + 1;
    size_t around = field->left + 2;
    field->columns = gantt->width > around + FIELD_LEAST ? gantt->width - around : FIELD_LEAST;
}

static size_t column_of(const struct field *field, double at)
{
    double share = (at - field->least) / (field->most - field->least);
    double column = floor(share * (double)field->columns);
    double last = (double)(field->columns - 1);
    return (size_t)(column < 0 ? 0 : column > last ? last : column);
}

/* Cells whose middle the bar covers; of a bar that covers none, the one it lies in. */
static void paint(struct field *field, const struct gantt_bar *bar)
{
    if (bar->row >= field->rows)
        return;
    char *cells = field->cells + bar->row * field->columns;
    double width = (field->most - field->least) / (double)field->columns;
    bool covered = false;
    size_t from = column_of(field, bar->start);
    size_t to = column_of(field, bar->end);
    for (size_t i = from; i <= to; i++) {
        double middle = field->least + ((double)i + 0.5) * width;
        if (middle >= bar->start && middle < bar->end) {
            cells[i] = gantt_letter(bar->job);
            covered = true;
        }
    }
    if (!covered && cells[from] == IDLE)
        cells[from] = gantt_letter(bar->job);
}

static void write_axis(const struct field *field, const struct gantt *gantt, FILE *out)
{
    double step = scale_step(field->most - field->least, field->columns / COLUMNS_A_TICK, 0);
    size_t at = 0;
    fprintf(out, "%*s", (int)field->left + 1, "");
    double first = step * ceil(field->least / step - 1e-9);
    for (double x = first; x <= field->most * (1 + 1e-9); x += step) {
        char text[32];
        scale_label(x, step, text, sizeof text);
        size_t column = column_of(field, x);
        size_t n = strlen(text);
        if (column < at || column + n + strlen(gantt->x_label) > field->columns)
            continue;
        fprintf(out, "%*s%s", (int)(column - at), "", text);
        at = column + n;
    }
    fprintf(out, " %s\n", gantt->x_label);
}

static void write_legend(const struct gantt *gantt, FILE *out)
{
    size_t column = 0;
    for (size_t i = 0; i < gantt->n_jobs; i++) {
        size_t n = text_columns(gantt->jobs[i]) + 4;
        if (column > 0 && column + n > gantt->width) {
            fputc('\n', out);
            column = 0;
        }
        char name[256];
        (void)snprintf(name, sizeof name, "%.*s", (int)text_fitting(gantt->jobs[i], 60),
                       gantt->jobs[i]);
        text_defuse(name, sizeof name);
        fprintf(out, "%s%c %s", column > 0 ? "  " : "", gantt_letter(i), name);
        column += n;
    }
    fputc('\n', out);
}

bool gantt_draw(FILE *out, const struct gantt *gantt)
{
    struct field field = {.cells = NULL};
    measure(&field, gantt);
    if (gantt->n == 0 || field.rows == 0 || !(field.most > field.least))
        return false;
    field.cells = malloc(field.columns * field.rows);
    if (field.cells == NULL)
        return false;
    memset(field.cells, IDLE, field.columns * field.rows);
    for (size_t i = 0; i < gantt->n; i++)
        paint(&field, &gantt->bars[i]);
    for (size_t row = 0; row < field.rows; row++)
        fprintf(out, "%s %*zu |%.*s|\n", gantt->row_label,
                (int)(field.left - strlen(gantt->row_label) - 2), row, (int)field.columns,
                field.cells + row * field.columns);
    if (field.all_rows > field.rows)
        fprintf(out, "and %zu more\n", field.all_rows - field.rows);
    write_axis(&field, gantt, out);
    write_legend(gantt, out);
    free(field.cells);
    return true;
}
