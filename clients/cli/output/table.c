#include "cli/output/table.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output/json_text.h"

enum { COLUMNS_MAX = 24, GAP = 2, COLUMN_READABLE = 18, COLUMN_LEAST = 8, WRAP_WIDTH = 100 };

static bool is_numeric(enum cell_kind kind)
{
    return kind == CELL_COUNT || kind == CELL_NUMBER || kind == CELL_SECONDS ||
           kind == CELL_SLACK || kind == CELL_SHARE || kind == CELL_PROBABILITY ||
           kind == CELL_PERCENT || kind == CELL_BELOW || kind == CELL_BYTES || kind == CELL_SIZE;
}

/* --- people --- */

/* Cells in the order of rows, the headings first. */
struct grid {
    char **cells;
    enum style *styles;
    size_t rows;
    size_t columns;
    bool shown[COLUMNS_MAX];
    bool below[COLUMNS_MAX]; /* written on a line of its own, below the others */
    size_t last;             /* the last column that is shown */
    size_t widths[COLUMNS_MAX];
};

static void grid_free(struct grid *grid)
{
    for (size_t i = 0; grid->cells != NULL && i < grid->rows * grid->columns; i++)
        free(grid->cells[i]);
    free(grid->cells);
    free(grid->styles);
}

static bool
grid_set(struct grid *grid, size_t row, size_t column, const char *text, enum style style)
{
    size_t at = row * grid->columns + column;
    grid->cells[at] = strdup(text);
    grid->styles[at] = style;
    size_t width = text_columns(text);
    if (width > grid->widths[column])
        grid->widths[column] = width;
    return grid->cells[at] != NULL;
}

static bool
grid_fill(struct grid *grid, const json_t *items, const struct column columns[], size_t n)
{
    grid->rows = json_array_size(items) + 1;
    grid->columns = n;
    grid->cells = calloc(grid->rows * n, sizeof *grid->cells);
    grid->styles = calloc(grid->rows * n, sizeof *grid->styles);
    if (grid->cells == NULL || grid->styles == NULL)
        return false;
    char text[CELL_TEXT_MAX];
    for (size_t column = 0; column < n; column++) {
        grid->shown[column] = true;
        if (!grid_set(grid, 0, column, columns[column].heading, STYLE_BOLD))
            return false;
        for (size_t row = 1; row < grid->rows; row++) {
            const json_t *cell = json_at(json_array_get(items, row - 1), columns[column].path);
            cell_of_member(json_array_get(items, row - 1), columns[column].path,
                           columns[column].kind, text);
            enum style style =
                columns[column].style == NULL ? STYLE_PLAIN : columns[column].style(cell);
            if (!grid_set(grid, row, column, text, style))
                return false;
        }
    }
    return true;
}

/* Ids, names and verdicts are never shortened and never left out. */
static bool is_kept(enum cell_kind kind)
{
    return kind == CELL_ID || kind == CELL_NAME || kind == CELL_VERDICT;
}

/* What people look for in a list, before all that is not kept anyway. */
static bool is_wanted(const struct column *column)
{
    static const char *const names[] = {"executors", "duration_s", "started_at",
                                        "predicted_duration_s"};
    const char *name = strrchr(column->path, '.');
    name = name == NULL ? column->path : name + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return column->kind == CELL_SIZE;
}

static size_t grid_width(const struct grid *grid)
{
    size_t total = 0;
    for (size_t i = 0; i < grid->columns; i++)
        if (grid->shown[i])
            total += grid->widths[i] + (total > 0 ? GAP : 0);
    return total;
}

/* Shorten columns of text, the widest first, until the line fits or none is wider than `least`. */
static void
grid_shorten(struct grid *grid, const struct column columns[], size_t width, size_t least)
{
    while (grid_width(grid) > width) {
        size_t widest = COLUMNS_MAX;
        for (size_t i = 0; i < grid->columns; i++)
            if (grid->shown[i] && columns[i].kind == CELL_TEXT && grid->widths[i] > least &&
                (widest == COLUMNS_MAX || grid->widths[i] > grid->widths[widest]))
                widest = i;
        if (widest == COLUMNS_MAX)
            return;
        grid->widths[widest]--;
    }
}

/* Show each column from the left that there is still room for. */
static void
grid_add(struct grid *grid, const struct column columns[], size_t width, bool only_wanted)
{
    for (size_t i = 0; i < grid->columns; i++)
        if (!grid->shown[i] && !grid->below[i] && (!only_wanted || is_wanted(&columns[i]))) {
            grid->shown[i] = true;
            grid->shown[i] = grid_width(grid) <= width;
        }
}

/* The columns that are kept, then those that are wanted, then the others, so that a text has
 * COLUMN_READABLE columns at least. */
static void grid_choose(struct grid *grid, const struct column columns[], size_t width)
{
    for (size_t i = 0; i < grid->columns; i++) {
        grid->shown[i] = is_kept(columns[i].kind) && !grid->below[i];
        if (columns[i].kind == CELL_TEXT && grid->widths[i] > COLUMN_READABLE)
            grid->widths[i] = COLUMN_READABLE;
    }
    grid_add(grid, columns, width, true);
    grid_add(grid, columns, width, false);
}

/* False: the columns that are kept, or any column at all, do not fit. */
static bool grid_fit(struct grid *grid, const struct column columns[], size_t width)
{
    size_t whole[COLUMNS_MAX];
    if (width == 0 || grid_width(grid) <= width)
        return true;
    memcpy(whole, grid->widths, sizeof whole);
    grid_choose(grid, columns, width);
    memcpy(grid->widths, whole, sizeof whole); /* there may be room again */
    grid_shorten(grid, columns, width, COLUMN_LEAST);
    return grid_width(grid) > 0 && grid_width(grid) <= width;
}

static bool grid_lacks_wanted(const struct grid *grid, const struct column columns[])
{
    for (size_t i = 0; i < grid->columns; i++)
        if (!grid->shown[i] && is_wanted(&columns[i]))
            return true;
    return false;
}

static bool has_ids(const struct column columns[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (columns[i].kind == CELL_ID)
            return true;
    return false;
}

/* Ids leave the lines for lines of their own, so that other columns have their room. */
static bool grid_move_ids(struct grid *grid, const struct column columns[], size_t width)
{
    for (size_t i = 0; i < grid->columns; i++) {
        grid->below[i] = columns[i].kind == CELL_ID;
        grid->shown[i] = !grid->below[i];
    }
    return grid_fit(grid, columns, width);
}

static void write_cell(FILE *out,
                       const struct grid *grid,
                       size_t row,
                       size_t column,
                       bool right,
                       const struct terminal *terminal)
{
    const char *text = grid->cells[row * grid->columns + column];
    size_t width = grid->widths[column];
    size_t columns = text_columns(text);
    size_t bytes = strlen(text);
    bool cut = columns > width;
    if (cut) {
        bytes = text_fitting(text, width - 1);
        columns = width;
    }
    size_t pad = width - columns;
    bool last = column == grid->last;
    if (right)
        fprintf(out, "%*s", (int)pad, "");
    enum style style = grid->styles[row * grid->columns + column];
    fputs(style == STYLE_PLAIN ? "" : style_begin(terminal->color_out, style), out);
    fprintf(out, "%.*s%s", (int)bytes, text, cut ? "…" : "");
    fputs(style == STYLE_PLAIN ? "" : style_end(terminal->color_out), out);
    if (!last)
        fprintf(out, "%*s", (int)(right ? GAP : pad + GAP), "");
}

/* If the line is too narrow for a heading and its value, the value goes below the heading. */
static void write_record_people(FILE *out,
                                const struct terminal *terminal,
                                const json_t *record,
                                const struct column columns[],
                                size_t n)
{
    size_t widest = 0;
    char text[CELL_TEXT_MAX];
    for (size_t i = 0; i < n; i++)
        if (text_columns(columns[i].heading) > widest)
            widest = text_columns(columns[i].heading);
    for (size_t i = 0; i < n; i++) {
        const json_t *cell = json_at(record, columns[i].path);
        if (cell == NULL || json_is_null(cell))
            continue;
        cell_of_member(record, columns[i].path, columns[i].kind, text);
        enum style style = columns[i].style == NULL ? STYLE_PLAIN : columns[i].style(cell);
        const char *begin = style == STYLE_PLAIN ? "" : style_begin(terminal->color_out, style);
        const char *end = style == STYLE_PLAIN ? "" : style_end(terminal->color_out);
        if (terminal->width > 0 && widest + GAP + text_columns(text) > terminal->width) {
            fprintf(out, "%s\n%s", columns[i].heading, begin);
            if (is_kept(columns[i].kind))
                fprintf(out, "%*s%s\n", GAP, "", text);
            else
                table_write_wrapped(out, terminal, GAP, text);
            fputs(end, out);
            continue;
        }
        fprintf(out, "%s%*s%s%s%s\n", columns[i].heading,
                (int)(widest + GAP - text_columns(columns[i].heading)), "", begin, text, end);
    }
}

static void write_grid(FILE *out,
                       const struct terminal *terminal,
                       struct grid *grid,
                       const struct column columns[])
{
    for (size_t column = 0; column < grid->columns; column++)
        if (grid->shown[column])
            grid->last = column;
    for (size_t row = 0; row < grid->rows; row++) {
        for (size_t column = 0; column < grid->columns; column++)
            if (grid->shown[column])
                write_cell(out, grid, row, column, is_numeric(columns[column].kind), terminal);
        fputc('\n', out);
        for (size_t column = 0; row > 0 && column < grid->columns; column++)
            if (grid->below[column])
                fprintf(out, "%*s%s\n", GAP, "", grid->cells[row * grid->columns + column]);
    }
}

/* A terminal too narrow for a table gets a record for each item, which has all columns. */
static bool write_people(FILE *out,
                         const struct terminal *terminal,
                         const json_t *items,
                         const struct column columns[],
                         size_t n)
{
    struct grid grid = {.cells = NULL};
    bool good = grid_fill(&grid, items, columns, n);
    bool fits = good && grid_fit(&grid, columns, terminal->width);
    if (fits && has_ids(columns, n) && grid_lacks_wanted(&grid, columns))
        fits = grid_move_ids(&grid, columns, terminal->width);
    if (fits)
        write_grid(out, terminal, &grid, columns);
    else
        for (size_t i = 0; good && i < json_array_size(items); i++) {
            fputs(i > 0 ? "\n" : "", out);
            write_record_people(out, terminal, json_array_get(items, i), columns, n);
        }
    grid_free(&grid);
    return good;
}

static bool is_unit(const char *word, size_t n)
{
    static const char *const units[] = {"s",   "min", "h",   "d",   "ms",  "%",   "B",
                                        "KiB", "MiB", "GiB", "TiB", "PiB", "EUR", "USD"};
    while (n > 0 && strchr(".,;:)", word[n - 1]) != NULL)
        n--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == n && strncmp(word, units[i], n) == 0)
            return true;
    return false;
}

/* A word, or a number with its unit, which no line break parts. */
static size_t word_length(const char *text)
{
    size_t n = strcspn(text, " \n");
    if (n > 0 && text[n] == ' ') {
        const char *next = text + n + 1;
        const size_t n_next = strcspn(next, " \n");
        const bool is_number = strchr("0123456789", text[n - 1]) != NULL;
        if (is_number && is_unit(next, n_next))
            n += 1 + n_next;
    }
    return n;
}

void table_write_wrapped(FILE *out,
                         const struct terminal *terminal,
                         size_t indent,
                         const char *text)
{
    size_t width =
        terminal->width > 0 && terminal->width < WRAP_WIDTH ? terminal->width : WRAP_WIDTH;
    size_t column = 0;
    size_t hanging = strncmp(text, "- ", 2) == 0 ? indent + 2 : indent;
    while (*text != '\0') {
        size_t n = word_length(text);
        char word[CELL_TEXT_MAX];
        (void)snprintf(word, sizeof word, "%.*s", (int)n, text);
        text_defuse(word, sizeof word);
        size_t columns = text_columns(word);
        if (n > 0 && column > 0 && column + 1 + columns > width) {
            fputc('\n', out);
            column = 0;
            indent = hanging;
        }
        if (n > 0) {
            if (column == 0)
                column = indent + (size_t)(fprintf(out, "%*s", (int)indent, "") < 0);
            else
                column += (size_t)(fputc(' ', out) != EOF);
            fputs(word, out);
            column += columns;
        }
        text += n + (text[n] != '\0');
    }
    fputc('\n', out);
}

/* --- CSV and Markdown --- */

void csv_write_field(FILE *out, const char *text, bool is_text)
{
    bool formula = is_text && text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
    if (!formula && strpbrk(text, ",\"\r\n") == NULL) {
        print_safely(out, text);
        return;
    }
    fputs(formula ? "\"'" : "\"", out);
    for (const char *quote; (quote = strchr(text, '"')) != NULL; text = quote + 1) {
        print_safely_n(out, text, (size_t)(quote - text));
        fputs("\"\"", out);
    }
    print_safely(out, text);
    fputc('"', out);
}

void markdown_write_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("|\\`*_<>[]#", *text) != NULL)
            fputc('\\', out);
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    }
}

/* The path of a column; of an end of an interval, "interval_s.0", a name of its own:
 * "interval_low_s". */
static void csv_heading(const char *path, char *out, size_t room)
{
    static const char *const ends[] = {"low", "high"};
    const size_t n = strlen(path);
    const bool is_end = n > 2 && path[n - 2] == '.' && (path[n - 1] == '0' || path[n - 1] == '1');
    const size_t unit = n > 4 && strncmp(path + n - 4, "_s", 2) == 0 ? 2 : 0;
    if (is_end && strstr(path, "interval") != NULL)
        (void)snprintf(out, room, "%.*s_%s%.*s", (int)(n - 2 - unit), path, ends[path[n - 1] - '0'],
                       (int)unit, path + n - 2 - unit);
    else
        (void)snprintf(out, room, "%s", path);
}

/* A cell holds one value: a list or an object is written as JSON, an empty one as nothing. */
static void write_csv_cell(FILE *out, const json_t *cell)
{
    char scalar[CELL_TEXT_MAX];
    char *text = NULL;
    if (json_array_size(cell) > 0 || json_object_size(cell) > 0)
        text = json_dumps(cell, JSON_COMPACT);
    cell_for_programs(cell, scalar);
    csv_write_field(out,
                    text != NULL           ? text
                    : json_is_string(cell) ? json_string_value(cell)
                                           : scalar,
                    json_is_string(cell));
    free(text);
}

static void write_csv_row(FILE *out, const json_t *item, const struct column columns[], size_t n)
{
    char heading[128];
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? "," : "", out);
        if (item != NULL) {
            write_csv_cell(out, json_at(item, columns[i].path));
        } else {
            csv_heading(columns[i].path, heading, sizeof heading);
            csv_write_field(out, heading, false);
        }
    }
    fputs("\r\n", out);
}

static void
write_markdown_row(FILE *out, const json_t *item, const struct column columns[], size_t n)
{
    char text[CELL_TEXT_MAX];
    fputc('|', out);
    for (size_t i = 0; i < n; i++) {
        if (item == NULL)
            (void)snprintf(text, sizeof text, "%s", columns[i].heading);
        else
            cell_of_member(item, columns[i].path, columns[i].kind, text);
        fputc(' ', out);
        markdown_write_cell(out, text);
        fputs(" |", out);
    }
    fputc('\n', out);
}

static void write_markdown(FILE *out, const json_t *items, const struct column columns[], size_t n)
{
    write_markdown_row(out, NULL, columns, n);
    fputc('|', out);
    for (size_t i = 0; i < n; i++)
        fputs(is_numeric(columns[i].kind) ? "---:|" : "---|", out);
    fputc('\n', out);
    for (size_t i = 0; i < json_array_size(items); i++)
        write_markdown_row(out, json_array_get(items, i), columns, n);
}

bool table_write_list(FILE *out,
                      enum output_form form,
                      const struct terminal *terminal,
                      const json_t *items,
                      const struct column columns[],
                      size_t n_columns,
                      const json_t *all,
                      struct failure *failure)
{
    switch (form) {
    case FORM_JSON:
        return json_text_write(out, all, failure);
    case FORM_YAML:
        return yaml_text_write(out, all, failure);
    case FORM_CSV:
        write_csv_row(out, NULL, columns, n_columns);
        for (size_t i = 0; i < json_array_size(items); i++)
            write_csv_row(out, json_array_get(items, i), columns, n_columns);
        return true;
    case FORM_MARKDOWN:
        write_markdown(out, items, columns, n_columns);
        return true;
    default:
        return write_people(out, terminal, items, columns, n_columns) || fail_memory(failure);
    }
}

bool table_write_record(FILE *out,
                        enum output_form form,
                        const struct terminal *terminal,
                        const json_t *record,
                        const struct column columns[],
                        size_t n_columns,
                        const json_t *all,
                        struct failure *failure)
{
    if (form == FORM_TABLE) {
        write_record_people(out, terminal, record, columns, n_columns);
        return true;
    }
    json_t *items = json_pack("[O]", record);
    if (items == NULL)
        return fail_memory(failure);
    bool good = table_write_list(out, form, terminal, items, columns, n_columns, all, failure);
    json_decref(items);
    return good;
}
