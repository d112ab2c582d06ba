#include "cli/commands/advice_view.h"

#include <math.h>
#include <string.h>

#include "base/size_text.h"

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

void advice_headline(const json_t *advice, char *out, size_t room)
{
    char deadline[CELL_TEXT_MAX];
    char chance[CELL_TEXT_MAX];
    char duration[CELL_TEXT_MAX];
    double executors = json_number_at(advice, "recommendation.executors", 0);
    double cores = json_number_at(advice, "recommendation.cores_per_executor", 0);
    bool has_deadline = json_is_number(json_object_get(advice, "deadline_s"));
    cell(advice, "deadline_s", CELL_SECONDS, deadline);
    cell(advice, "recommendation.deadline_probability", CELL_SHARE, chance);
    bool nearly_certain = chance[0] == '>';
    cell(advice, "recommendation.predicted_duration_s", CELL_SECONDS, duration);
    char who[96];
    (void)snprintf(who, sizeof who, "%.0f %s with %.0f %s each", executors,
                   plural(executors, "executor", "executors"), cores,
                   plural(cores, "core", "cores"));
    enum exit_status status = question_status(advice);
    if (status == EXIT_TOO_LITTLE_HISTORY)
        (void)snprintf(out, room, "The history does not allow an answer: %s",
                       json_text_at(advice, "reasons.0.message", "there are too few runs."));
    else if (!has_deadline)
        (void)snprintf(out, room, "%s: %s predicted.", who, duration);
    else if (status == EXIT_DONE)
        (void)snprintf(out, room, "%s meet the deadline of %s with a probability of %s%s.", who,
                       deadline, nearly_certain ? "more than" : "",
                       nearly_certain ? chance + 1 : chance);
    else if (status == EXIT_LOW_CONFIDENCE)
        (void)snprintf(out, room, "%s meet the deadline of %s with a probability of only %s.", who,
                       deadline, chance);
    else
        (void)snprintf(out, room,
                       "No allowed number of executors is predicted to meet the deadline of %s: "
                       "the best, %s, take %s.",
                       deadline, who, duration);
}

/* --- the numbers --- */

struct figure {
    const char *name;
    const char *last;    /* of last_run; NULL: it has none */
    const char *advised; /* of the advice */
    enum cell_kind kind;
};

static void write_figures(FILE *out, const struct terminal *terminal, const json_t *advice)
{
    static const struct figure figures[] = {
        {"executors", "last_run.executors", "recommendation.executors", CELL_COUNT},
        {"cores per executor", "last_run.cores_per_executor", "recommendation.cores_per_executor",
         CELL_COUNT},
        {"predicted duration", "last_run.predicted_duration_s",
         "recommendation.predicted_duration_s", CELL_SECONDS},
        {"cost", "last_run.cost", "recommendation.cost", CELL_NUMBER}};
    bool has_last = json_is_object(json_object_get(advice, "last_run"));
    char last[CELL_TEXT_MAX];
    char advised[CELL_TEXT_MAX];
    bool misses = question_status(advice) == EXIT_GATE_FAILED;
    const char *head = misses ? "closest allowed" : "advised";
    int width = misses ? 17 : 14;
    fprintf(out, "\n%s%-20s%14s%*s%s\n", style_begin(terminal->color_out, STYLE_BOLD), "",
            has_last ? "last run" : "", width, head, style_end(terminal->color_out));
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (json_at(advice, figures[i].advised) == NULL ||
            json_is_null(json_at(advice, figures[i].advised)))
            continue;
        cell(advice, figures[i].last, figures[i].kind, last);
        cell(advice, figures[i].advised, figures[i].kind, advised);
        fprintf(out, "%-20s%14s%*s\n", figures[i].name, has_last ? last : "", width, advised);
    }
}

static void write_interval(FILE *out, const json_t *advice)
{
    char low[CELL_TEXT_MAX];
    char high[CELL_TEXT_MAX];
    char confidence[CELL_TEXT_MAX];
    if (!json_is_array(json_at(advice, "recommendation.interval_s")))
        return;
    cell(advice, "recommendation.interval_s.0", CELL_SECONDS, low);
    cell(advice, "recommendation.interval_s.1", CELL_SECONDS, high);
    cell(advice, "confidence", CELL_SHARE, confidence);
    fprintf(out, "%-20s%s to %s, with %s\n", "interval", low,
            strcmp(high, "-") == 0 ? "any time" : high, confidence);
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
    fprintf(out, "%-20s%s of %.0f %s, mean error %s%s\n", "based on", kind, runs,
            plural(runs, "run", "runs"), error,
            json_true_at(advice, "model.extrapolation") ? ", extrapolated" : "");
}

/* --- what to do --- */

static void write_changes(FILE *out, const struct terminal *terminal, const json_t *advice)
{
    static const struct column columns[] = {{"property", "key", CELL_TEXT, NULL},
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
    static const struct column columns[] = {{"allocation", "allocation", CELL_TEXT, NULL},
                                            {"takes", "predicted_duration_s", CELL_SECONDS, NULL},
                                            {"in time", "deadline_probability", CELL_SHARE, NULL},
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

/* In the unit that was asked: "2 GiB in 16 blocks". */
static void describe_size(const struct answer *answer, char out[SIZE_TEXT_MAX])
{
    double size = json_number_at(answer->advice, "problem_size", -1);
    const char *asked = answer->bytes_asked;
    if (size < 0) {
        (void)snprintf(out, SIZE_TEXT_MAX, "-");
        return;
    }
    size_text_problem(size, json_text_at(answer->advice, "problem_size_measured_by", NULL), out);
    if (asked == NULL)
        return;
    int digits = (int)strspn(asked, "0123456789.");
    char blocks[SIZE_TEXT_MAX];
    size_text_problem(size, "input_blocks", blocks);
    (void)snprintf(out, SIZE_TEXT_MAX, "%.*s %.8s%.40s", digits < 24 ? digits : 24, asked,
                   asked + digits, strstr(blocks, " in "));
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
        char size[SIZE_TEXT_MAX];
        size_text_problem(json_number_at(item, "problem_size", 0),
                          json_text_at(advice, "problem_size_measured_by", NULL), size);
        fprintf(out, "  - problem size %s on %.0f executors\n", size,
                json_number_at(item, "executors", 0));
    }
}

static void write_remedies(FILE *out, const json_t *advice)
{
    static const struct figure remedies[] = {
        {"a deadline of", NULL, "remedies.deadline_s", CELL_SECONDS},
        {"up to this many executors:", NULL, "remedies.max_executors", CELL_COUNT},
        {"a cost of up to", NULL, "remedies.max_cost", CELL_NUMBER},
        {"this many cores in all:", NULL, "remedies.min_total_cores", CELL_COUNT}};
    char value[CELL_TEXT_MAX];
    bool any = false;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        const json_t *found = json_at(advice, remedies[i].advised);
        if (found == NULL || json_is_null(found))
            continue;
        cell_for_people(found, remedies[i].kind, value);
        fprintf(out, "%s  - %s %s\n", any ? "" : "\nTo meet the deadline, allow:\n",
                remedies[i].name, value);
        any = true;
    }
}

static void write_findings(FILE *out,
                           const struct terminal *terminal,
                           const json_t *findings,
                           const char *heading,
                           enum style style)
{
    if (json_array_size(findings) == 0)
        return;
    fprintf(out, "\n%s%s%s\n", style_begin(terminal->color_out, style), heading,
            style_end(terminal->color_out));
    for (size_t i = 0; i < json_array_size(findings); i++) {
        char text[CELL_TEXT_MAX];
        (void)snprintf(text, sizeof text, "- %s",
                       json_text_at(json_array_get(findings, i), "message", ""));
        table_write_wrapped(out, terminal, 2, text);
    }
}

static void write_stands(FILE *out, const struct terminal *terminal, const struct answer *answer)
{
    char text[CELL_TEXT_MAX];
    (void)snprintf(text, sizeof text,
                   "The executors stay as in the last run: another number would have changed the "
                   "duration by %.1f %% and "
                   "the cost by %.1f %%, which is within the tolerance.",
                   100 * answer->kept_duration_change, 100 * answer->kept_cost_change);
    fputc('\n', out);
    table_write_wrapped(out, terminal, 0, text);
}

static void write_verdict(FILE *out, const struct terminal *terminal, const struct answer *answer)
{
    const json_t *advice = answer->advice;
    char text[CELL_TEXT_MAX];
    char size[SIZE_TEXT_MAX];
    char application[CELL_TEXT_MAX];
    describe_size(answer, size);
    cell(advice, "application", CELL_TEXT, application);
    cell(advice, "verdict", CELL_TEXT, text);
    bool named = json_is_string(json_object_get(advice, "application"));
    fprintf(out, "%s, problem size %s: %s%s%s\n", named ? application : "The profile", size,
            style_begin(terminal->color_out, advice_style(advice)), text,
            style_end(terminal->color_out));
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
        write_figures(out, terminal, advice);
        write_interval(out, advice);
        write_model(out, advice);
    }
    if (answer->stands)
        write_stands(out, terminal, answer);
    write_remedies(out, advice);
    write_data_needed(out, terminal, advice);
    write_changes(out, terminal, advice);
    write_proposals(out, terminal, advice);
    write_autoscaling(out, terminal, advice);
    write_memory(out, terminal, advice);
    write_findings(out, terminal, json_object_get(advice, "warnings"), "Warnings", STYLE_WARNING);
    if ((parts & ADVICE_WHY) != 0)
        write_findings(out, terminal, json_object_get(advice, "reasons"), "Why", STYLE_BOLD);
}
