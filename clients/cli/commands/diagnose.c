#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

enum { TEXT_INDENT = 4 };

static const struct option_spec options[] = {
    {"run", 0, OPTION_TEXT, "RUN",
     "The run whose bottlenecks are looked for; the newest with stages without it.", false},
    {"label", 0, OPTION_TEXT, "KEY:VALUE", "Only runs with this label; may be repeated.", true},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

/* A word of the service as people read it: "too few tasks". */
static void plain_word(const char *word, char *out, size_t room)
{
    (void)snprintf(out, room, "%s", word);
    for (char *at = out; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
}

/* --- bottlenecks --- */

/* Name of a kind of bottleneck, "a straggling task". Kinds without a row keep their word. */
static void bottleneck_words(const char *kind, char *out, size_t room)
{
    static const char *const words[][2] = {{"straggler", "a straggling task"},
                                           {"startup", "the start of executors"},
                                           {"driver", "work of the driver alone"},
                                           {"spill", "spill to disk"},
                                           {"skew", "skewed data"},
                                           {"storage_bound", "slow storage"},
                                           {"cached_blocks", "missing cached data"}};
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(kind, words[i][0]) == 0)
            kind = words[i][1];
    plain_word(kind, out, room);
}

static void
write_heading(FILE *out, const struct terminal *terminal, size_t number, const json_t *item)
{
    char percent[2 * QUANTITY_TEXT_MAX] = "";
    double seconds = json_number_at(item, "lost_s", (double)NAN);
    double share = json_number_at(item, "lost_percent", -1);
    const char *stage = json_text_at(item, "stage_name", NULL);
    double id = json_number_at(item, "stage_id", -1);
    if (share >= 0)
        (void)snprintf(percent, sizeof percent, " (%s)", quantity_percent(share).text);
    char heading[512];
    char kind[64];
    bottleneck_words(json_text_at(item, "kind", ""), kind, sizeof kind);
    int at = snprintf(heading, sizeof heading, "%zu. %s%s lost to %s", number,
                      quantity_duration(seconds).text, percent, kind);
    if (id >= 0 && at > 0 && (size_t)at < sizeof heading)
        (void)snprintf(heading + at, sizeof heading - (size_t)at, " in stage %.0f%s%s", id,
                       stage == NULL ? "" : ", ", stage == NULL ? "" : stage);
    fputs(style_begin(terminal->color_out, STYLE_BOLD), out);
    table_write_wrapped(out, terminal, 0, heading);
    fputs(style_end(terminal->color_out), out);
}

static void write_properties(FILE *out, const json_t *item)
{
    const char *key;
    json_t *value;
    json_t *properties = json_object_get(item, "properties");
    json_object_foreach(properties, key, value)
    {
        char words[512];
        (void)snprintf(words, sizeof words, "--conf %s=%s", key, json_string_value(value));
        text_defuse(words, sizeof words);
        fprintf(out, "%*s%s\n", TEXT_INDENT, "", words);
    }
}

static void draw_bottlenecks(FILE *out, const struct terminal *terminal, const void *context)
{
    const json_t *items = context;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        write_heading(out, terminal, i + 1, item);
        table_write_wrapped(out, terminal, TEXT_INDENT, json_text_at(item, "finding.message", ""));
        table_write_wrapped(out, terminal, TEXT_INDENT, json_text_at(item, "cure", ""));
        write_properties(out, item);
    }
}

/* --- series --- */

/* What limits the series that has most to say: of the largest problem, the causes. */
static void draw_causes(FILE *out, const struct terminal *terminal, const void *context)
{
    const json_t *slice = context;
    const json_t *causes = json_object_get(slice, "causes");
    for (size_t i = 0; i < json_array_size(causes); i++)
        table_write_wrapped(out, terminal, 2,
                            json_text_at(json_array_get(causes, i), "message", ""));
}

static const json_t *largest_slice(const json_t *slices)
{
    const json_t *largest = NULL;
    for (size_t i = 0; i < json_array_size(slices); i++) {
        const json_t *slice = json_array_get(slices, i);
        if (json_number_at(slice, "problem_size", -1) > json_number_at(largest, "problem_size", -1))
            largest = slice;
    }
    return largest;
}

static void draw_missing(FILE *out, const struct terminal *terminal, const void *context)
{
    const json_t *missing = context;
    for (size_t i = 0; i < json_array_size(missing); i++)
        table_write_wrapped(out, terminal, 2,
                            json_text_at(json_array_get(missing, i), "message", ""));
}

/* How the speedup grows, in words: "IIIs,1" is bounded by serial work. */
static void growth_words(const json_t *slice, char *out, size_t room)
{
    static const char *const by_roman[] = {"unclear", "with the executors", "less and less",
                                           "bounded", "to a peak, then falls"};
    const char *type = json_text_at(slice, "scaling_type", "");
    const size_t roman = strspn(type, "IV");
    const bool fourth = strncmp(type, "IV", 2) == 0;
    const char *of = strstr(type, ",1") != NULL   ? ": serial work"
                     : strstr(type, ",2") != NULL ? ": growing work"
                                                  : "";
    (void)snprintf(out, room, "%s%s", by_roman[fourth ? 4 : roman < 4 ? roman : 0], of);
}

/* The slices with words for people. */
static json_t *slice_rows(const json_t *slices)
{
    char words[96];
    json_t *rows = json_deep_copy(slices);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        growth_words(row, words, sizeof words);
        (void)json_object_set_new(row, "growth", json_string(words));
        (void)json_object_set(row, "load_per_executor_measured_by",
                              json_object_get(row, "problem_size_measured_by"));
    }
    return rows;
}

/* --- the whole --- */

static const struct column bottleneck_columns[] = {
    {"bottleneck", "kind", CELL_TEXT, NULL},
    {"stage", "stage_id", CELL_COUNT, NULL},
    {"name", "stage_name", CELL_TEXT, NULL},
    {"lost", "lost_s", CELL_SECONDS, NULL},
    {"of the run", "lost_percent", CELL_PERCENT, NULL},
    {"more executors help", "more_executors_help", CELL_YES, NULL},
    {"finding", "finding.message", CELL_TEXT, NULL},
    {"cure", "cure", CELL_TEXT, NULL},
};

static const struct column slice_columns[] = {
    {"size", "problem_size", CELL_SIZE, NULL},
    {"size an executor", "load_per_executor", CELL_SIZE, NULL},
    {"runs", "runs", CELL_COUNT, NULL},
    {"fastest with", "fastest_executors", CELL_COUNT, NULL},
    {"speedup bound", "speedup_bound", CELL_NUMBER, NULL},
    {"type", "scaling_type", CELL_TEXT, NULL},
    {"trend", "trend", CELL_TEXT, NULL},
};

static const struct column growth_columns[] = {
    {"size", "problem_size", CELL_SIZE, NULL},
    {"size an executor", "load_per_executor", CELL_SIZE, NULL},
    {"runs", "runs", CELL_COUNT, NULL},
    {"fastest with", "fastest_executors", CELL_COUNT, NULL},
    {"speedup bound", "speedup_bound", CELL_NUMBER, NULL},
    {"speedup grows", "growth", CELL_TEXT, NULL},
};

struct diagnosis {
    const json_t *reply;
    const json_t *slices; /* with the unit of their sizes */
};

/* Sections of the table for people; those of CSV and Markdown hold the same as columns. */
static bool write_diagnosis(FILE *out,
                            enum output_form form,
                            const struct terminal *terminal,
                            void *context,
                            struct failure *failure)
{
    const struct diagnosis *diagnosis = context;
    const json_t *reply = diagnosis->reply;
    const json_t *items = json_at(reply, "bottlenecks.items");
    const json_t *slices = diagnosis->slices;
    const json_t *largest = largest_slice(slices);
    const json_t *missing = json_object_get(reply, "missing");
    bool people = form == FORM_TABLE;
    json_t *rows = slice_rows(slices);
    char title[160];
    char causes[2 * QUANTITY_TEXT_MAX];
    (void)snprintf(title, sizeof title, "Bottlenecks of run %s, which took %s",
                   json_text_at(reply, "bottlenecks.run_id", "-"),
                   quantity_duration(json_number_at(reply, "bottlenecks.duration_s", 0)).text);
    (void)snprintf(causes, sizeof causes, "At size %s",
                   quantity_problem_size(json_number_at(largest, "problem_size", 0),
                                         json_text_at(largest, "problem_size_measured_by", NULL))
                       .text);
    const struct section sections[] = {
        {.title = title,
         .value = items,
         .columns = bottleneck_columns,
         .n_columns = COUNT(bottleneck_columns),
         .draw = people && json_array_size(items) > 0 ? draw_bottlenecks : NULL,
         .context = items},
        {.text = people && json_array_size(items) == 0 ? "No bottleneck was found." : ""},
        {.title = "How it scales",
         .value = rows,
         .columns = people ? growth_columns : slice_columns,
         .n_columns = people ? COUNT(growth_columns) : COUNT(slice_columns)},
        {.title = causes, .draw = draw_causes, .context = largest},
        {.title = "What would show more", .draw = draw_missing, .context = missing}};
    bool has_causes = json_array_size(json_object_get(largest, "causes")) > 0;
    bool has_missing = json_array_size(missing) > 0;
    struct section shown[COUNT(sections)];
    size_t n = 0;
    for (size_t i = 0; i < COUNT(sections); i++)
        if ((i != 3 || has_causes) && (i != 4 || has_missing))
            shown[n++] = sections[i];
    const bool good = report_write(out, form, terminal, shown, n, reply, failure);
    json_decref(rows);
    return good;
}

static int run(struct invocation *invocation)
{
    static struct query query;
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/applications/", 0, "/diagnosis", path))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "run", "run_id");
    query_option(&query, "label", "label");
    json_t *reply = remote_get(invocation->remote, path, query.n == 0 ? NULL : query.items,
                               &invocation->failure);
    json_t *slices = rows_with_size_unit(invocation, json_object_get(reply, "slices"), NULL);
    struct diagnosis diagnosis = {.reply = reply, .slices = slices};
    bool good = reply != NULL && outputs_write(&invocation->outputs, write_diagnosis, &diagnosis,
                                               &invocation->failure);
    json_decref(slices);
    json_decref(reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_diagnose = {
    .name = "diagnose",
    .summary = "Show where the time of an application goes, and what helps.",
    .description =
        "Lists the bottlenecks of one run, those that cost most seconds first, each with what "
        "causes it and what helps; then how the application scales over its problem sizes and what "
        "limits it.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples =
        "  provisor diagnose nightly-etl\n"
        "  provisor diagnose nightly-etl --run $(provisor runs nightly-etl --ids --limit 1)\n"
        "  provisor diagnose nightly-etl -o csv",
    .groups = {&group},
    .run = run};
