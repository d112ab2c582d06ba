#include "cli/commands/query.h"
#include "cli/commands/simulation_parts.h"
#include "cli/output/json_text.h"

/* The recommendation in sentences: to people as a list for each load, in Markdown as a table. */

enum { SENTENCE_TEXT = 4096, INDENT = 2 };

static void write_sentences(FILE *out,
                            const struct terminal *terminal,
                            const json_t *findings,
                            const char *before)
{
    char text[SENTENCE_TEXT];
    for (size_t i = 0; i < json_array_size(findings); i++) {
        (void)snprintf(text, sizeof text, "- %s%s", before,
                       json_text_at(json_array_get(findings, i), "message", ""));
        table_write_wrapped(out, terminal, INDENT, text);
    }
}

static void draw_reasons(FILE *out, const struct terminal *terminal, const void *context)
{
    const json_t *loads = context;
    char words[SIMULATION_LOAD_TEXT];
    char heading[SENTENCE_TEXT];
    for (size_t l = 0; l < json_array_size(loads); l++) {
        const json_t *load = json_array_get(loads, l);
        simulation_load_words(load, words);
        (void)snprintf(heading, sizeof heading, "%s: %s", words,
                       json_text_at(load, "recommendation.policy", ""));
        table_write_wrapped(out, terminal, 0, heading);
        write_sentences(out, terminal, json_at(load, "recommendation.reasons"), "");
        write_sentences(out, terminal, json_at(load, "recommendation.warnings"), "Warning: ");
    }
}

static void draw_warnings(FILE *out, const struct terminal *terminal, const void *context)
{
    write_sentences(out, terminal, context, "");
}

static void add_rows(json_t *rows, const json_t *load, const char *path, const char *what)
{
    const json_t *findings = json_at(load, path);
    for (size_t i = 0; i < json_array_size(findings); i++) {
        json_t *row = simulation_row(rows, load);
        simulation_cell(row, "policy", json_at(load, "recommendation.policy"));
        (void)json_object_set_new(row, "what", json_string(what));
        simulation_cell(row, "message", json_at(json_array_get(findings, i), "message"));
    }
}

static bool is_there(const json_t *findings, const json_t *code)
{
    for (size_t i = 0; i < json_array_size(findings); i++)
        if (json_equal(json_at(json_array_get(findings, i), "code"), code))
            return true;
    return false;
}

/* Those of the result that the recommendations do not give, too. */
static void add_other_warnings(json_t *rows, const json_t *result)
{
    const json_t *loads = json_at(result, "loads");
    const json_t *warnings = json_at(result, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        json_t *warning = json_array_get(warnings, i);
        bool given = false;
        for (size_t l = 0; l < json_array_size(loads); l++)
            given = given || is_there(json_at(json_array_get(loads, l), "recommendation.warnings"),
                                      json_at(warning, "code"));
        if (!given)
            (void)json_array_append(rows, warning);
    }
}

void simulation_reasons(const json_t *result, json_t *made, struct section sections[])
{
    static const struct column reasons[] = {
        {"load", "load", CELL_NUMBER, NULL},
        {"best", "policy", CELL_TEXT, NULL},
        {"is", "what", CELL_TEXT, NULL},
        {"in words", "message", CELL_TEXT, NULL},
    };
    static const struct column warnings[] = {{"warning", "message", CELL_TEXT, NULL}};
    const json_t *loads = json_at(result, "loads");
    json_t *rows = simulation_rows(made);
    json_t *others = simulation_rows(made);
    for (size_t l = 0; l < json_array_size(loads); l++) {
        add_rows(rows, json_array_get(loads, l), "recommendation.reasons", "reason");
        add_rows(rows, json_array_get(loads, l), "recommendation.warnings", "warning");
    }
    add_other_warnings(others, result);
    sections[0] = (struct section){.title = "Why",
                                   .value = rows,
                                   .columns = reasons,
                                   .n_columns = COUNT(reasons),
                                   .draw = json_array_size(rows) > 0 ? draw_reasons : NULL,
                                   .context = loads};
    sections[1] = (struct section){.title = "Warnings",
                                   .value = others,
                                   .columns = warnings,
                                   .n_columns = COUNT(warnings),
                                   .draw = json_array_size(others) > 0 ? draw_warnings : NULL,
                                   .context = others};
}
