#ifndef CLI_OUTPUT_TABLE_H
#define CLI_OUTPUT_TABLE_H

#include "cli/output/cell.h"
#include "cli/output/form.h"

/*
 * Replies as tables. A list has a row an item and a column a member; a record has a row a member.
 * JSON and YAML hold the whole reply, whatever the columns are.
 */
struct column {
    const char *heading; /* for people */
    const char *path;    /* "last_run.executors"; also the heading of CSV */
    enum cell_kind kind;
    enum style (*style)(const json_t *cell); /* NULL: plain */
};

/* items: an array of objects. What does not fit the terminal is shortened, the widest column of text
 * first. If texts would become unreadable, columns are left out, the last ones first; ids, names and
 * verdicts are always written whole. A terminal too narrow for these gets a record for each item.
 * `all`: what JSON and YAML show. */
bool table_write_list(FILE *out,
                      enum output_form form,
                      const struct terminal *terminal,
                      const json_t *items,
                      const struct column columns[],
                      size_t n_columns,
                      const json_t *all,
                      struct failure *failure);

/* One object, a line a column; unknown members are left out of the table. */
bool table_write_record(FILE *out,
                        enum output_form form,
                        const struct terminal *terminal,
                        const json_t *record,
                        const struct column columns[],
                        size_t n_columns,
                        const json_t *all,
                        struct failure *failure);

/* Text broken to the width of the terminal, each line behind so many blanks; behind "- " those that
 * follow stand below the first word. */
void table_write_wrapped(FILE *out,
                         const struct terminal *terminal,
                         size_t indent,
                         const char *text);

/* A field of CSV (RFC 4180), quoted where necessary; a text that a spreadsheet would take for a
 * formula is preceded by an apostrophe. */
void csv_write_field(FILE *out, const char *text, bool is_text);

/* Text inside a cell of a Markdown table. */
void markdown_write_cell(FILE *out, const char *text);

#endif
