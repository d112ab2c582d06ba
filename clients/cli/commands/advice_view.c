#include "cli/commands/advice_view.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/quantity_text.h"

/* Reasons on the first screen. */
enum { REASONS_FIRST = 3 };

static const char *plural(double n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

static void
cell(const json_t *value, const char *path, enum cell_kind kind, char out[CELL_TEXT_MAX])
{
    cell_for_people(json_at(value, path), kind, out);
}

enum style advice_style(const json_t *advice)
{
    static const enum style styles[] = {[EXIT_DONE] = STYLE_GOOD,
                                        [EXIT_GATE_FAILED] = STYLE_BAD,
                                        [EXIT_LOW_CONFIDENCE] = STYLE_WARNING,
                                        [EXIT_TOO_LITTLE_HISTORY] = STYLE_WARNING};
    return styles[question_status(advice)];
}

/* "1 executor with 4 cores", "7 executors with 1 core each" */
static void describe_executors(const json_t *advice, char *out, size_t room)
{
    double executors = json_number_at(advice, "recommendation.executors", 0);
    double cores = json_number_at(advice, "recommendation.cores_per_executor", 0);
    (void)snprintf(out, room, "%.0f %s with %.0f %s%s", executors,
                   plural(executors, "executor", "executors"), cores,
                   plural(cores, "core", "cores"), plural(executors, "", " each"));
}

/* " (at most 3, by spark.executor.instances)", as the first reason has it; "" if it names no limit. */
static void describe_limit(const json_t *advice, char *out, size_t room)
{
    static const char *const origins[][2] = {
        {"max_executors of the request", "--max-executors"},
        {"spark.executor.instances", "spark.executor.instances or --num-executors"}};
    const char *by = json_text_at(advice, "reasons.0.evidence.limited_by", NULL);
    out[0] = '\0';
    for (size_t i = 0; by != NULL && i < sizeof origins / sizeof *origins; i++)
        if (strcmp(by, origins[i][0]) == 0)
            by = origins[i][1];
    if (by != NULL)
        (void)snprintf(out, room, " (at most %.0f, by %.80s)",
                       json_number_at(advice, "reasons.0.evidence.max_executors", 0), by);
}

void advice_headline(const json_t *advice, char *out, size_t room)
{
    char deadline[CELL_TEXT_MAX], chance[CELL_TEXT_MAX], duration[CELL_TEXT_MAX];
    bool has_deadline = json_is_number(json_object_get(advice, "deadline_s"));
    bool is_one = json_number_at(advice, "recommendation.executors", 0) == 1;
    char who[96], limit[128], asked[64];
    cell(advice, "deadline_s", CELL_SECONDS, deadline);
    cell(advice, "recommendation.deadline_probability", CELL_PROBABILITY, chance);
    cell(advice, "recommendation.predicted_duration_s", CELL_SECONDS, duration);
    describe_executors(advice, who, sizeof who);
    describe_limit(advice, limit, sizeof limit);
    (void)snprintf(asked, sizeof asked, "; %.32s is asked for",
                   quantity_share(json_number_at(advice, "confidence", 0)).text);
    enum exit_status status = question_status(advice);
    if (status == EXIT_TOO_LITTLE_HISTORY)
        (void)snprintf(out, room, "The history does not allow an answer: %s",
                       json_text_at(advice, "reasons.0.message", "there are too few runs."));
    else if (!has_deadline)
        (void)snprintf(out, room, "%s: %s predicted.", who, duration);
    else if (status == EXIT_DONE || status == EXIT_LOW_CONFIDENCE)
        (void)snprintf(out, room, "%s %s the deadline of %s with a probability of %s%s%s.", who,
                       is_one ? "meets" : "meet", deadline,
                       status == EXIT_DONE || strncmp(chance, "less", 4) == 0 ? "" : "only ",
                       chance, status == EXIT_DONE ? "" : asked);
    else
        (void)snprintf(out, room,
                       "No allowed number of executors%s is predicted to meet the deadline of %s: "
                       "%s %s %s.",
                       limit, deadline, who, is_one ? "takes" : "take", duration);
}

/* --- the numbers --- */

/* The table of the first screen: the last run and the advised one. "" is an empty cell. */
struct row {
    char name[48];
    char last[QUANTITY_TEXT_MAX];
    char advised[QUANTITY_TEXT_MAX];
    const char *note; /* follows the advised cell; or NULL */
};

/* The row of the prediction for the executors of the last run. */
#define BY_MODEL "  by model, this size"

enum { ROWS_MAX = 11, NAME_WIDTH = 20, CELL_WIDTH = 12 };

struct rows {
    struct row items[ROWS_MAX];
    size_t n;
};

static struct row *add_row(struct rows *rows,
                           const char *name,
                           struct quantity_text last,
                           struct quantity_text advised)
{
    struct row *row = &rows->items[rows->n++];
    row->note = NULL;
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    (void)snprintf(row->last, sizeof row->last, "%s", last.text);
    (void)snprintf(row->advised, sizeof row->advised, "%s", advised.text);
    return row;
}

static const struct quantity_text no_text = {""};
static const struct quantity_text unknown_text = {"-"};

typedef struct quantity_text written(double value);

/* A number of the advice; "-" if it has none. */
static struct quantity_text number_text(const json_t *advice, const char *path, written *write)
{
    const json_t *value = json_at(advice, path);
    return json_is_number(value) ? write(json_number_value(value)) : unknown_text;
}

/* "50.5 GiB" without its blocks. */
static struct quantity_text size_alone(double size, const char *measure)
{
    struct quantity_text made = quantity_problem_size(size, measure);
    char *blocks = strstr(made.text, " in ");
    if (blocks != NULL)
        *blocks = '\0';
    return made;
}

/* Of the size that was asked about: what was asked in bytes is shown in bytes. */
static const char *measure_asked(const struct answer *answer)
{
    return answer->bytes_asked != NULL
               ? "input_blocks"
               : json_text_at(answer->advice, "problem_size_measured_by", NULL);
}

static void add_sizes(struct rows *rows, const struct answer *answer)
{
    const json_t *advice = answer->advice;
    double asked = json_number_at(advice, "problem_size", 0);
    double last = json_number_at(advice, "last_run.problem_size", asked);
    const char *measure = json_text_at(advice, "problem_size_measured_by", NULL);
    if (last != asked)
        (void)add_row(rows, "problem size", size_alone(last, measure),
                      size_alone(asked, measure_asked(answer)));
}

/* What the last run took was recorded; the same executors by the model are compared with the
 * prediction. */
static void add_durations(struct rows *rows, const json_t *advice)
{
    bool has_last = json_is_object(json_object_get(advice, "last_run"));
    add_row(rows, "duration", number_text(advice, "last_run.duration_s", quantity_duration),
            number_text(advice, "recommendation.predicted_duration_s", quantity_duration))
        ->note = "predicted";
    if (has_last)
        (void)add_row(rows, BY_MODEL,
                      number_text(advice, "last_run.predicted_duration_s", quantity_duration),
                      no_text);
}

static void add_interval(struct rows *rows, const json_t *advice)
{
    char name[48];
    if (!json_is_array(json_at(advice, "recommendation.interval_s")))
        return;
    (void)snprintf(name, sizeof name, "%.32s interval",
                   quantity_share(json_number_at(advice, "confidence", 0)).text);
    (void)add_row(
        rows, name, unknown_text,
        quantity_interval(json_number_at(advice, "recommendation.interval_s.0", (double)NAN),
                          json_number_at(advice, "recommendation.interval_s.1", (double)NAN)));
    if (json_is_number(json_object_get(advice, "deadline_s")))
        (void)add_row(
            rows, "probability", unknown_text,
            number_text(advice, "recommendation.deadline_probability", quantity_probability));
}

static struct quantity_text cost_text(const json_t *advice, const char *path)
{
    const json_t *cost = json_at(advice, path);
    return json_is_number(cost) ? quantity_cost(json_number_value(cost),
                                                json_text_at(advice, "pricing.currency", NULL))
                                : unknown_text;
}

/* Both are predicted, so that like is compared with like: what the last run did cost is unknown. */
static void add_cost(struct rows *rows, const json_t *advice)
{
    const char *currency = json_text_at(advice, "pricing.currency", NULL);
    if (json_is_number(json_at(advice, "recommendation.cost")))
        (void)add_row(rows, currency == NULL ? "cost, unit of price" : "predicted cost", no_text,
                      cost_text(advice, "recommendation.cost"));
    if (json_is_number(json_at(advice, "last_run.cost")))
        (void)add_row(rows, BY_MODEL, cost_text(advice, "last_run.cost"), no_text);
}

static int width_of(const struct rows *rows, size_t offset, int least)
{
    for (size_t i = 0; i < rows->n; i++) {
        int n = (int)strlen((const char *)&rows->items[i] + offset);
        least = n > least ? n : least;
    }
    return least;
}

static void write_figures(FILE *out, const struct terminal *terminal, const struct answer *answer)
{
    const json_t *advice = answer->advice;
    struct rows rows = {.n = 0};
    bool has_last = json_is_object(json_object_get(advice, "last_run"));
    add_sizes(&rows, answer);
    (void)add_row(&rows, "executors", number_text(advice, "last_run.executors", quantity_count),
                  number_text(advice, "recommendation.executors", quantity_count));
    (void)add_row(&rows, "cores per executor",
                  number_text(advice, "last_run.cores_per_executor", quantity_count),
                  number_text(advice, "recommendation.cores_per_executor", quantity_count));
    add_durations(&rows, advice);
    add_interval(&rows, advice);
    add_cost(&rows, advice);
    const char *head = question_status(advice) == EXIT_GATE_FAILED ? "closest allowed" : "advised";
    int name = width_of(&rows, offsetof(struct row, name), NAME_WIDTH);
    int last = has_last ? width_of(&rows, offsetof(struct row, last), CELL_WIDTH - 2) + 2 : 0;
    int advised = width_of(&rows, offsetof(struct row, advised), (int)strlen(head)) + 2;
    advised = advised < CELL_WIDTH ? CELL_WIDTH : advised;
    fprintf(out, "\n%s%-*s%*s%*s%s\n", style_begin(terminal->color_out, STYLE_BOLD), name, "", last,
            has_last ? "last run" : "", advised, head, style_end(terminal->color_out));
    for (size_t i = 0; i < rows.n; i++) {
        const struct row *row = &rows.items[i];
        fprintf(out, "%-*s%*s", name, row->name, last, has_last ? row->last : "");
        const size_t n_note = row->note == NULL ? 0 : strlen(row->note) + 1;
        const bool fits =
            terminal->width == 0 || (size_t)(name + last + advised) + n_note <= terminal->width;
        if (row->advised[0] != '\0')
            fprintf(out, "%*s%s%s", advised, row->advised, n_note > 0 && fits ? " " : "",
                    n_note > 0 && fits ? row->note : "");
        fputc('\n', out);
    }
}

static void write_model(FILE *out, const json_t *advice)
{
    char error[CELL_TEXT_MAX];
    char kind[CELL_TEXT_MAX];
    double runs = json_number_at(advice, "model.observations", 0);
    if (!json_is_object(json_object_get(advice, "model")))
        return;
    cell(advice, "model.loo_mape_percent", CELL_PERCENT, error);
    cell(advice, "model.kind", CELL_TEXT, kind);
    fprintf(out, "based on: %.0f %s", runs, plural(runs, "run", "runs"));
    if (strcmp(kind, "replay") == 0)
        fputs(" replayed", out);
    else
        fprintf(out, ", model %s", kind);
    fprintf(out, ", mean error %s%s\n", strcmp(error, "-") == 0 ? "unknown" : error,
            json_true_at(advice, "model.extrapolation") ? ", extrapolated" : "");
}

/* --- what to do --- */

static void write_changes(FILE *out, const struct terminal *terminal, const json_t *advice)
{
    static const struct column columns[] = {{"property", "key", CELL_NAME, NULL},
                                            {"old", "old", CELL_TEXT, NULL},
                                            {"new", "new", CELL_TEXT, NULL},
                                            {"why", "reason", CELL_TEXT, NULL}};
    const json_t *changes = json_at(advice, "spark.changes");
    if (!json_is_array(changes))
        return;
    if (json_array_size(changes) == 0) {
        fputs("\nNo property changes.\n", out);
        return;
    }
    fputc('\n', out);
    (void)table_write_list(out, FORM_TABLE, terminal, changes, columns,
                           sizeof columns / sizeof *columns, changes, NULL);
}

/* Changes that are set only when they are asked for. */
static void write_proposals(FILE *out, const struct terminal *terminal, const json_t *advice)
{
    const json_t *proposals = json_at(advice, "spark.proposals");
    for (size_t i = 0; i < json_array_size(proposals); i++) {
        const json_t *proposal = json_array_get(proposals, i);
        char text[CELL_TEXT_MAX];
        (void)snprintf(text, sizeof text, "- %s=%s (%s): --apply %s",
                       json_text_at(proposal, "key", ""), json_text_at(proposal, "new", ""),
                       json_text_at(proposal, "reason", ""), json_text_at(proposal, "kind", ""));
        fputs(i == 0 ? "\nProposed, not applied\n" : "", out);
        table_write_wrapped(out, terminal, 2, text);
    }
}

/* What executors that come and go would make of it, beside a fixed number. */
static void write_autoscaling(FILE *out, const struct terminal *terminal, const json_t *advice)
{
    static const struct column columns[] = {
        {"allocation", "allocation", CELL_TEXT, NULL},
        {"takes", "predicted_duration_s", CELL_SECONDS, NULL},
        {"in time", "deadline_probability", CELL_PROBABILITY, NULL},
        {"executor time", "executor_s", CELL_SECONDS, NULL},
        {"executors", "mean_executors", CELL_NUMBER, NULL},
        {"at most", "peak_executors", CELL_COUNT, NULL},
        {"cost", "cost", CELL_NUMBER, NULL}};
    const json_t *cases = json_at(advice, "autoscaling.cases");
    if (json_array_size(cases) == 0)
        return;
    fputc('\n', out);
    (void)table_write_list(out, FORM_TABLE, terminal, cases, columns,
                           sizeof columns / sizeof *columns, cases, NULL);
}

static void write_memory(FILE *out, const struct terminal *terminal, const json_t *advice)
{
    static const struct column columns[] = {
        {"heap", "memory.executor_memory_bytes", CELL_BYTES, NULL},
        {"overhead", "memory.overhead_bytes", CELL_BYTES, NULL},
        {"off-heap", "memory.off_heap_bytes", CELL_BYTES, NULL},
        {"Python", "memory.pyspark_memory_bytes", CELL_BYTES, NULL},
        {"container", "memory.container_bytes", CELL_BYTES, NULL},
        {"change for all executors", "memory.change_bytes", CELL_BYTES, NULL}};
    if (!json_is_object(json_object_get(advice, "memory")))
        return;
    fputs("\nMemory of an executor\n", out);
    (void)table_write_record(out, FORM_TABLE, terminal, advice, columns,
                             sizeof columns / sizeof *columns, advice, NULL);
}

static struct quantity_text describe_size(const struct answer *answer)
{
    double size = json_number_at(answer->advice, "problem_size", -1);
    return size < 0 ? unknown_text : quantity_problem_size(size, measure_asked(answer));
}

static void write_data_needed(FILE *out, const struct terminal *terminal, const json_t *advice)
{
    const json_t *needed = json_object_get(advice, "data_needed");
    char text[CELL_TEXT_MAX];
    if (!json_is_object(needed))
        return;
    double runs = json_number_at(needed, "runs", 0);
    (void)snprintf(text, sizeof text, "\nNeeded: %.0f more %s: %s", runs,
                   plural(runs, "run", "runs"), json_text_at(needed, "why", ""));
    fputc('\n', out);
    table_write_wrapped(out, terminal, 0, text + 1);
    const json_t *suggested = json_object_get(needed, "suggested");
    for (size_t i = 0; i < json_array_size(suggested); i++) {
        const json_t *item = json_array_get(suggested, i);
        double executors = json_number_at(item, "executors", 0);
        fprintf(out, "  - problem size %s on %.0f %s\n",
                quantity_problem_size(json_number_at(item, "problem_size", 0),
                                      json_text_at(advice, "problem_size_measured_by", NULL))
                    .text,
                executors, plural(executors, "executor", "executors"));
    }
}

static void write_remedies(FILE *out, const json_t *advice)
{
    static const struct {
        const char *name, *path;
        enum cell_kind kind;
    } remedies[] = {{"up to this many executors:", "remedies.max_executors", CELL_COUNT},
                    {"this many cores in all:", "remedies.min_total_cores", CELL_COUNT}};
    const char *heading = "\nTo meet the deadline, allow:\n";
    char value[CELL_TEXT_MAX];
    if (json_is_number(json_at(advice, "remedies.deadline_s"))) {
        fprintf(out, "%s  - a deadline of %s\n", heading,
                number_text(advice, "remedies.deadline_s", quantity_duration_at_least).text);
        heading = "";
    }
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        if (!json_is_number(json_at(advice, remedies[i].path)))
            continue;
        cell(advice, remedies[i].path, remedies[i].kind, value);
        fprintf(out, "%s  - %s %s\n", heading, remedies[i].name, value);
        heading = "";
    }
    if (json_is_number(json_at(advice, "remedies.max_cost")))
        fprintf(out, "%s  - a cost of up to %s\n", heading,
                cost_text(advice, "remedies.max_cost").text);
}

void advice_write_remedies(FILE *out, const struct terminal *terminal, const json_t *advice)
{
    write_remedies(out, advice);
    write_data_needed(out, terminal, advice);
}

static void write_findings(
    FILE *out, const struct terminal *terminal, const json_t *findings, size_t first, size_t most)
{
    size_t n = json_array_size(findings);
    most = most < n - first ? most : n - first;
    for (size_t i = first; i < first + most; i++) {
        char text[CELL_TEXT_MAX];
        (void)snprintf(text, sizeof text, "- %s",
                       json_text_at(json_array_get(findings, i), "message", ""));
        table_write_wrapped(out, terminal, 2, text);
    }
    n -= first + most;
    if (n > 0)
        fprintf(out, "  %zu more %s: --why\n", n, n == 1 ? "reason" : "reasons");
}

static void
write_heading(FILE *out, const struct terminal *terminal, const char *heading, enum style style)
{
    fprintf(out, "\n%s%s%s\n", style_begin(terminal->color_out, style), heading,
            style_end(terminal->color_out));
}

/* Does the headline say what the first reason says? */
static bool headline_has_reason(const json_t *advice)
{
    return question_status(advice) == EXIT_TOO_LITTLE_HISTORY ||
           strcmp(json_text_at(advice, "reasons.0.code", ""), "deadline_met") == 0;
}

/* The service puts the reasons that decide first. */
static void
write_reasons(FILE *out, const struct terminal *terminal, const json_t *advice, bool all)
{
    const json_t *warnings = json_object_get(advice, "warnings");
    const json_t *reasons = json_object_get(advice, "reasons");
    if (json_array_size(warnings) > 0) {
        write_heading(out, terminal, "Warnings", STYLE_WARNING);
        write_findings(out, terminal, warnings, 0, SIZE_MAX);
    }
    size_t first = headline_has_reason(advice) ? 1 : 0;
    if (json_array_size(reasons) > first) {
        write_heading(out, terminal, "Why", STYLE_BOLD);
        write_findings(out, terminal, reasons, first, all ? SIZE_MAX : REASONS_FIRST);
    }
}

static void write_stands(FILE *out, const struct terminal *terminal, const struct answer *answer)
{
    char text[CELL_TEXT_MAX];
    (void)snprintf(text, sizeof text,
                   "The executors stay as in the last run: another number would have changed the "
                   "duration by %s and the cost by %s, which is within the tolerance.",
                   quantity_share(answer->kept_duration_change).text,
                   quantity_share(answer->kept_cost_change).text);
    fputc('\n', out);
    table_write_wrapped(out, terminal, 0, text);
}

static void write_verdict(FILE *out, const struct terminal *terminal, const struct answer *answer)
{
    const json_t *advice = answer->advice;
    char text[CELL_TEXT_MAX];
    char application[CELL_TEXT_MAX];
    cell(advice, "application", CELL_TEXT, application);
    cell(advice, "verdict", CELL_TEXT, text);
    bool named = json_is_string(json_object_get(advice, "application"));
    fprintf(out, "%s, problem size %s: %s%s%s\n", named ? application : "The profile",
            describe_size(answer).text, style_begin(terminal->color_out, advice_style(advice)),
            text, style_end(terminal->color_out));
    advice_headline(advice, text, sizeof text);
    table_write_wrapped(out, terminal, 0, text);
}

void advice_view_write(FILE *out,
                       const struct terminal *terminal,
                       const struct answer *answer,
                       unsigned parts)
{
    const json_t *advice = answer->advice;
    if ((parts & ADVICE_VERDICT) != 0)
        write_verdict(out, terminal, answer);
    if (json_is_object(json_object_get(advice, "recommendation"))) {
        write_figures(out, terminal, answer);
        write_model(out, advice);
    }
    if (answer->stands)
        write_stands(out, terminal, answer);
    advice_write_remedies(out, terminal, advice);
    write_changes(out, terminal, advice);
    write_proposals(out, terminal, advice);
    write_autoscaling(out, terminal, advice);
    write_memory(out, terminal, advice);
    write_reasons(out, terminal, advice, (parts & ADVICE_WHY) != 0);
}
