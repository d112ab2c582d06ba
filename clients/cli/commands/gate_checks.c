#include "cli/commands/gate_checks.h"

#include <string.h>

#include "cli/commands/advice_view.h"

static const struct option_spec options[] = {
    {"max-cost-rise", 0, OPTION_SHARE, NULL,
     "Fail if the advised run costs more than the last one by more than this share, such as 20%.",
     false},
    {"max-error", 0, OPTION_SHARE, NULL,
     "Fail if the mean error of predictions for a run left out is larger than this share, such as "
     "25%: too poor to tell.",
     false},
    {"allow", 0, OPTION_CHOICE, "at-risk|unknown",
     "Let a job with this verdict go on; may be repeated.", true},
    {"warn-only", 0, OPTION_FLAG, NULL, "Report what fails, and exit with 0 all the same.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
const struct option_group gate_options = {"What fails", options};

const char *const gate_outcome_words[] = {[GATE_PASSED] = "passed",
                                          [GATE_FAILED] = "failed",
                                          [GATE_WARNED] = "warned",
                                          [GATE_SKIPPED] = "skipped",
                                          [GATE_BROKEN] = "error"};

struct gate_limits gate_limits_read(const struct arguments *arguments)
{
    struct gate_limits limits = {
        .max_cost_rise = argument_number(arguments, "max-cost-rise", -1),
        .max_error = argument_number(arguments, "max-error", -1),
        .warn_only = argument_given(arguments, "warn-only"),
    };
    size_t at = 0;
    for (const char *text; (text = argument_next(arguments, "allow", &at)) != NULL;) {
        limits.allow_at_risk = limits.allow_at_risk || strcmp(text, "at-risk") == 0;
        limits.allow_unknown = limits.allow_unknown || strcmp(text, "unknown") == 0;
    }
    return limits;
}

static struct gate_check *add_check(struct gate *gate, const char *name)
{
    struct gate_check *check = &gate->checks[gate->n++];
    *check = (struct gate_check){.name = name, .result = CHECK_PASSED};
    return check;
}

static void fail_check(struct gate_check *check, enum exit_status status)
{
    check->result = CHECK_FAILED;
    check->status = status;
}

static void
check_deadline(struct gate *gate, const json_t *advice, const struct gate_limits *limits)
{
    struct gate_check *check = add_check(gate, "deadline");
    enum exit_status status = question_status(advice);
    advice_headline(advice, check->message, sizeof check->message);
    bool allowed = (status == EXIT_LOW_CONFIDENCE && limits->allow_at_risk) ||
                   (status == EXIT_TOO_LITTLE_HISTORY && limits->allow_unknown);
    if (status != EXIT_DONE && !allowed)
        fail_check(check, status);
}

static void check_cost(struct gate *gate, const json_t *advice, double max_rise)
{
    if (max_rise < 0)
        return;
    struct gate_check *check = add_check(gate, "cost");
    const json_t *change = json_at(advice, "last_run.cost_change_percent");
    if (!json_is_number(change)) {
        check->result = CHECK_SKIPPED;
        (void)snprintf(check->message, sizeof check->message,
                       "There is no last run to compare the cost with.");
        return;
    }
    double rise = json_number_value(change);
    (void)snprintf(
        check->message, sizeof check->message,
        "The advised run costs %.1f %% %s than the last one%s (at most %.1f %% more is allowed).",
        rise < 0 ? -rise : rise, rise < 0 ? "less" : "more",
        json_is_number(json_at(advice, "recommendation.cost"))
            ? ""
            : " in executor time, as there is no price",
        100 * max_rise);
    if (rise > 100 * max_rise)
        fail_check(check, EXIT_GATE_FAILED);
}

static void check_accuracy(struct gate *gate, const json_t *advice, double max_error)
{
    if (max_error < 0)
        return;
    struct gate_check *check = add_check(gate, "accuracy");
    const json_t *error = json_at(advice, "model.loo_mape_percent");
    if (!json_is_number(error)) {
        (void)snprintf(check->message, sizeof check->message,
                       "There are too few runs to measure how far predictions are off.");
        fail_check(check, EXIT_TOO_LITTLE_HISTORY);
        return;
    }
    (void)snprintf(check->message, sizeof check->message,
                   "Predictions for a run left out are off by %.1f %% on average (at most %.1f %% "
                   "is allowed).",
                   json_number_value(error), 100 * max_error);
    if (json_number_value(error) > 100 * max_error)
        fail_check(check, EXIT_TOO_LITTLE_HISTORY);
}

void gate_check_answer(const struct answer *answer,
                       const struct gate_limits *limits,
                       struct gate *gate)
{
    *gate = (struct gate){.answer = answer};
    check_deadline(gate, answer->advice, limits);
    check_cost(gate, answer->advice, limits->max_cost_rise);
    check_accuracy(gate, answer->advice, limits->max_error);
    /* The gravest decides, which has the smallest status: who goes on at a lower confidence does not
     * accept a rising cost. */
    const struct gate_check *decisive = &gate->checks[0];
    for (size_t i = 0; i < gate->n; i++)
        if (gate->checks[i].result == CHECK_FAILED &&
            (gate->status == EXIT_DONE || gate->checks[i].status < gate->status)) {
            gate->status = gate->checks[i].status;
            gate->outcome = limits->warn_only ? GATE_WARNED : GATE_FAILED;
            decisive = &gate->checks[i];
        }
    (void)snprintf(gate->headline, sizeof gate->headline, "%s", decisive->message);
    if (limits->warn_only)
        gate->status = EXIT_DONE;
}

void gate_skip(const char *why, struct gate *gate)
{
    *gate = (struct gate){.outcome = GATE_SKIPPED};
    struct gate_check *check = add_check(gate, "deadline");
    check->result = CHECK_SKIPPED;
    (void)snprintf(check->message, sizeof check->message, "%s", why);
    (void)snprintf(gate->headline, sizeof gate->headline, "The job goes on unchecked: %s", why);
}

void gate_refuse(const struct failure *failure, struct gate *gate)
{
    bool decides =
        failure->status == EXIT_TOO_LITTLE_HISTORY || failure->status == EXIT_GATE_FAILED;
    *gate =
        (struct gate){.outcome = decides ? GATE_FAILED : GATE_BROKEN, .status = failure->status};
    struct gate_check *check = add_check(gate, "deadline");
    fail_check(check, failure->status);
    (void)snprintf(check->message, sizeof check->message, "%.1000s", failure->what);
    (void)snprintf(gate->headline, sizeof gate->headline, "%.1000s", failure->what);
}

/* --- reports --- */

static const char *const result_words[] = {
    [CHECK_PASSED] = "passed", [CHECK_FAILED] = "failed", [CHECK_SKIPPED] = "skipped"};

json_t *gate_json(const struct gate *gate)
{
    json_t *checks = json_array();
    for (size_t i = 0; checks != NULL && i < gate->n; i++)
        (void)json_array_append_new(checks,
                                    json_pack("{s:s, s:s, s:s}", "name", gate->checks[i].name,
                                              "result", result_words[gate->checks[i].result],
                                              "message", gate->checks[i].message));
    json_t *advice = gate->answer == NULL ? json_null() : json_incref(gate->answer->advice);
    return json_pack("{s:s, s:i, s:s, s:o, s:o}", "gate", gate_outcome_words[gate->outcome],
                     "exit_status", (int)gate->status, "message", gate->headline, "checks", checks,
                     "advice", advice);
}

static void write_xml(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c == 0xef && (unsigned char)text[1] == 0xbf && (unsigned char)text[2] >= 0xbe) {
            fputc('?', out); /* U+FFFE and U+FFFF, which XML does not have */
            text += 2;
        } else
            fputc(c < ' ' ? ' ' : c, out);
    }
}

void gate_write_junit(FILE *out, const struct gate *gate)
{
    size_t failed = 0;
    size_t skipped = 0;
    for (size_t i = 0; i < gate->n; i++) {
        failed += gate->checks[i].result == CHECK_FAILED;
        skipped += gate->checks[i].result == CHECK_SKIPPED;
    }
    const char *application =
        gate->answer == NULL ? "gate" : json_text_at(gate->answer->advice, "application", "gate");
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"provisor\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
            "skipped=\"%zu\">\n",
            gate->n, failed, skipped);
    for (size_t i = 0; i < gate->n; i++) {
        const struct gate_check *check = &gate->checks[i];
        fputs("    <testcase classname=\"provisor.", out);
        write_xml(out, application);
        fprintf(out, "\" name=\"%s\">\n      ", check->name);
        if (check->result == CHECK_FAILED)
            fprintf(out, "<failure type=\"exit %d\" message=\"", (int)check->status);
        else if (check->result == CHECK_SKIPPED)
            fputs("<skipped message=\"", out);
        else
            fputs("<system-out>", out);
        write_xml(out, check->message);
        fputs(check->result == CHECK_PASSED ? "</system-out>" : "\"/>", out);
        fputs("\n    </testcase>\n", out);
    }
    fputs("  </testsuite>\n</testsuites>\n", out);
}

static void write_assignment(FILE *out, const char *name, const char *value)
{
    fprintf(out, "PROVISOR_%s=", name);
    for (; *value != '\0'; value++)
        fputc((unsigned char)*value < ' ' ? ' ' : *value, out);
    fputc('\n', out);
}

void gate_write_dotenv(FILE *out, const struct gate *gate)
{
    static const char *const members[][2] = {
        {"ADVICE_ID", "id"},
        {"VERDICT", "verdict"},
        {"EXECUTORS", "recommendation.executors"},
        {"CORES_PER_EXECUTOR", "recommendation.cores_per_executor"},
        {"PREDICTED_DURATION_S", "recommendation.predicted_duration_s"},
        {"DEADLINE_PROBABILITY", "recommendation.deadline_probability"},
        {"COST", "recommendation.cost"},
        {"COST_CHANGE_PERCENT", "last_run.cost_change_percent"}};
    char text[CELL_TEXT_MAX];
    write_assignment(out, "GATE", gate_outcome_words[gate->outcome]);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        cell_for_programs(
            gate->answer == NULL ? NULL : json_at(gate->answer->advice, members[i][1]), text);
        write_assignment(out, members[i][0], text);
    }
}

/* A workflow command of GitHub Actions: its data on one line. */
static void write_escaped(FILE *out, const char *text, bool property)
{
    for (; *text != '\0'; text++)
        if (*text == '%')
            fputs("%25", out);
        else if (*text == '\r')
            fputs("%0D", out);
        else if (*text == '\n')
            fputs("%0A", out);
        else if (property && *text == ':')
            fputs("%3A", out);
        else if (property && *text == ',')
            fputs("%2C", out);
        else
            fputc(*text, out);
}

void gate_write_github(FILE *out, const struct gate *gate)
{
    for (size_t i = 0; i < gate->n; i++) {
        const struct gate_check *check = &gate->checks[i];
        char title[64];
        if (check->result == CHECK_PASSED)
            continue;
        bool error = check->result == CHECK_FAILED && gate->outcome != GATE_WARNED;
        (void)snprintf(title, sizeof title, "provisor: %s %s", check->name,
                       result_words[check->result]);
        fprintf(out, "::%s title=", error ? "error" : "warning");
        write_escaped(out, title, true);
        fputs("::", out);
        write_escaped(out, check->message, false);
        fputc('\n', out);
    }
    if (gate->outcome == GATE_PASSED) {
        fputs("::notice title=provisor%3A passed::", out);
        write_escaped(out, gate->headline, false);
        fputc('\n', out);
    }
}
