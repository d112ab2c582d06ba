#include "cli/commands/gate_checks.h"

#include <stdlib.h>
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
    {"no-deadline", 0, OPTION_FLAG, NULL,
     "The job has no deadline: only too little history fails, and the limits above.", false},
    {"on-missed", 0, OPTION_CHOICE, "fail|warn",
     "If the deadline is predicted to be missed (fail; of submit without --gate: warn).", false},
    {"on-at-risk", 0, OPTION_CHOICE, "fail|warn",
     "If it is predicted to be met with less than the confidence (the same).", false},
    {"on-unknown", 0, OPTION_CHOICE, "fail|warn",
     "If there is too little history to tell (the same).", false},
    {"on-unavailable", 0, OPTION_CHOICE, "fail|warn|open|closed",
     "If the service is away or overloaded (warn). The words open and closed are older ones for "
     "warn and fail.",
     false},
    {"on-token-refused", 0, OPTION_CHOICE, "fail|warn",
     "If the token is wrong, expired or revoked (fail).", false},
    {"allow", 0, OPTION_CHOICE, "at-risk|unknown",
     "Older form of --on-at-risk warn and --on-unknown warn; may be repeated.", true},
    {"warn-only", 0, OPTION_FLAG, NULL,
     "Report what fails, and exit with 0: all verdicts and limits only warn.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
const struct option_group gate_options = {"What fails", options};

const char *const gate_outcome_words[] = {[GATE_PASSED] = "passed",
                                          [GATE_FAILED] = "failed",
                                          [GATE_WARNED] = "warned",
                                          [GATE_SKIPPED] = "skipped",
                                          [GATE_BROKEN] = "error"};

/* --- what stops a job --- */

/* The table of docs/pipelines.md: an option, and whether the job stops without it. */
static const struct {
    const char *option;
    bool stops_gate;
    bool stops_job; /* of a command that configures the job */
} situations[SITUATIONS] = {
    [SITUATION_MISSED] = {"on-missed", true, false},
    [SITUATION_AT_RISK] = {"on-at-risk", true, false},
    [SITUATION_UNKNOWN] = {"on-unknown", true, false},
    [SITUATION_UNAVAILABLE] = {"on-unavailable", false, false},
    [SITUATION_TOKEN_REFUSED] = {"on-token-refused", true, true},
};

static const char *const of_gates[] = {"max-cost-rise", "max-error", "no-deadline", "allow",
                                       "warn-only"};

bool gate_limits_read(struct invocation *invocation, bool gated, struct gate_limits *limits)
{
    const struct arguments *arguments = invocation->arguments;
    *limits = (struct gate_limits){
        .max_cost_rise = argument_number(arguments, "max-cost-rise", -1),
        .max_error = argument_number(arguments, "max-error", -1),
        .warn_only = argument_given(arguments, "warn-only"),
        .no_deadline = argument_given(arguments, "no-deadline"),
    };
    for (size_t i = 0; !gated && i < sizeof of_gates / sizeof *of_gates; i++)
        if (argument_given(arguments, of_gates[i]))
            return fail(&invocation->failure, EXIT_USAGE, "--%s is allowed only with --gate",
                        of_gates[i]);
    for (size_t i = 0; i < SITUATIONS; i++) {
        const char *action = argument_text(arguments, situations[i].option);
        limits->stops[i] = action == NULL
                               ? (gated ? situations[i].stops_gate : situations[i].stops_job)
                               : strcmp(action, "fail") == 0;
    }
    limits->stops[SITUATION_UNAVAILABLE] = invocation->settings.fail_closed;
    size_t at = 0;
    for (const char *text; (text = argument_next(arguments, "allow", &at)) != NULL;)
        limits->stops[strcmp(text, "at-risk") == 0 ? SITUATION_AT_RISK : SITUATION_UNKNOWN] = false;
    return true;
}

static bool has_deadline(const struct question *question)
{
    return json_is_number(json_object_get(question->body, "deadline_s"));
}

bool gate_has_question(struct invocation *invocation,
                       const struct question *question,
                       const struct gate_limits *limits)
{
    const json_t *constraints = json_object_get(question->body, "constraints");
    bool bounded = limits->max_cost_rise >= 0 || limits->max_error >= 0 ||
                   json_is_number(json_object_get(constraints, "max_cost"));
    if (has_deadline(question) && limits->no_deadline)
        return fail(&invocation->failure, EXIT_USAGE,
                    "--no-deadline must not be given together with a deadline");
    if (has_deadline(question) || bounded || limits->no_deadline)
        return true;
    (void)fail(&invocation->failure, EXIT_USAGE,
               "the gate has neither a deadline nor a limit on cost or error, so nothing could "
               "stop the job");
    return fail_next(&invocation->failure,
                     "give --deadline 90s, --max-cost-rise 20%% or --max-error 25%%; --no-deadline "
                     "says that none is meant");
}

bool gate_stops_on(const struct failure *failure, const struct gate_limits *limits)
{
    if (failure->status == EXIT_TOO_LITTLE_HISTORY)
        return limits->stops[SITUATION_UNKNOWN] && !limits->warn_only;
    if (failure->unavailable)
        return limits->stops[SITUATION_UNAVAILABLE];
    return !failure->token_refused || limits->stops[SITUATION_TOKEN_REFUSED];
}

/* --- checks --- */

static struct gate_check *add_check(struct gate *gate, const char *name)
{
    struct gate_check *check = &gate->checks[gate->n++];
    *check = (struct gate_check){.name = name, .result = CHECK_PASSED};
    return check;
}

static void fail_check(struct gate_check *check, enum exit_status status, bool stops)
{
    check->result = stops ? CHECK_FAILED : CHECK_WARNED;
    check->status = status;
}

static bool stops_at(enum exit_status status, const struct gate_limits *limits)
{
    enum situation situation = status == EXIT_GATE_FAILED      ? SITUATION_MISSED
                               : status == EXIT_LOW_CONFIDENCE ? SITUATION_AT_RISK
                                                               : SITUATION_UNKNOWN;
    return limits->stops[situation] && !limits->warn_only;
}

/* Without a deadline a verdict says only whether the history allows an answer. */
static const char *verdict_check(bool deadline)
{
    return deadline ? "deadline" : "history";
}

static void check_verdict(struct gate *gate, const json_t *advice, const struct gate_limits *limits)
{
    const bool deadline = json_is_number(json_object_get(advice, "deadline_s"));
    struct gate_check *check = add_check(gate, verdict_check(deadline));
    enum exit_status status = question_status(advice);
    advice_headline(advice, check->message, sizeof check->message);
    if (status != EXIT_DONE)
        fail_check(check, status, stops_at(status, limits));
}

static void check_cost(struct gate *gate, const json_t *advice, const struct gate_limits *limits)
{
    const double max_rise = limits->max_cost_rise;
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
        fail_check(check, EXIT_GATE_FAILED, !limits->warn_only);
}

static void
check_accuracy(struct gate *gate, const json_t *advice, const struct gate_limits *limits)
{
    const double max_error = limits->max_error;
    if (max_error < 0)
        return;
    struct gate_check *check = add_check(gate, "accuracy");
    const json_t *error = json_at(advice, "model.loo_mape_percent");
    if (!json_is_number(error)) {
        (void)snprintf(check->message, sizeof check->message,
                       "There are too few runs to measure how far predictions are off.");
        fail_check(check, EXIT_TOO_LITTLE_HISTORY, !limits->warn_only);
        return;
    }
    (void)snprintf(check->message, sizeof check->message,
                   "Predictions for a run left out are off by %.1f %% on average (at most %.1f %% "
                   "is allowed).",
                   json_number_value(error), 100 * max_error);
    if (json_number_value(error) > 100 * max_error)
        fail_check(check, EXIT_TOO_LITTLE_HISTORY, !limits->warn_only);
}

/* Does `other` decide rather than `check`? What fails goes before what warns, and of those the gravest,
 * which has the smallest status: who continues at a lower confidence does not accept a rising cost. */
static bool is_graver(const struct gate_check *other, const struct gate_check *check)
{
    if (other->result != CHECK_FAILED && other->result != CHECK_WARNED)
        return false;
    if (other->result != check->result)
        return check->result != CHECK_FAILED;
    return other->status < check->status;
}

void gate_check_answer(const struct answer *answer,
                       const struct gate_limits *limits,
                       struct gate *gate)
{
    *gate = (struct gate){.answer = answer};
    check_verdict(gate, answer->advice, limits);
    check_cost(gate, answer->advice, limits);
    check_accuracy(gate, answer->advice, limits);
    const struct gate_check *decisive = &gate->checks[0];
    for (size_t i = 1; i < gate->n; i++)
        if (is_graver(&gate->checks[i], decisive))
            decisive = &gate->checks[i];
    if (decisive->result == CHECK_FAILED) {
        gate->outcome = GATE_FAILED;
        gate->status = decisive->status;
    } else if (decisive->result == CHECK_WARNED) {
        gate->outcome = GATE_WARNED;
    }
    (void)snprintf(gate->headline, sizeof gate->headline, "%s", decisive->message);
}

void gate_skip(const struct failure *failure, const struct question *question, struct gate *gate)
{
    *gate = (struct gate){.outcome = GATE_SKIPPED};
    struct gate_check *check = add_check(gate, verdict_check(has_deadline(question)));
    check->result = CHECK_SKIPPED;
    (void)snprintf(check->message, sizeof check->message, "%.1000s", failure->what);
    (void)snprintf(gate->headline, sizeof gate->headline, "The job continues unchecked: %.1000s",
                   failure->what);
}

void gate_refuse(const struct failure *failure, const struct question *question, struct gate *gate)
{
    bool decides =
        failure->status == EXIT_TOO_LITTLE_HISTORY || failure->status == EXIT_GATE_FAILED;
    *gate =
        (struct gate){.outcome = decides ? GATE_FAILED : GATE_BROKEN, .status = failure->status};
    struct gate_check *check = add_check(gate, verdict_check(has_deadline(question)));
    fail_check(check, failure->status, true);
    (void)snprintf(check->message, sizeof check->message, "%.1000s", failure->what);
    (void)snprintf(gate->headline, sizeof gate->headline, "%.1000s", failure->what);
    (void)snprintf(gate->next, sizeof gate->next, "%s", failure->next);
}

/* --- reports --- */

static const char *const result_words[] = {[CHECK_PASSED] = "passed",
                                           [CHECK_FAILED] = "failed",
                                           [CHECK_WARNED] = "warned",
                                           [CHECK_SKIPPED] = "skipped"};

static bool is_failure(const struct gate_check *check)
{
    return check->result == CHECK_FAILED || check->result == CHECK_WARNED;
}

/* Returns the remedies of a check that failed, as lines: the limits that would meet the deadline, and the
 * runs that are needed. The caller frees the text. NULL: without a remedy, or out of memory. */
static char *remedy_of(const struct gate *gate, const struct gate_check *check)
{
    static const struct terminal no_terminal = {.width = 0};
    char *text = NULL;
    size_t n = 0;
    if (!is_failure(check) || check != &gate->checks[0])
        return NULL;
    FILE *out = open_memstream(&text, &n);
    if (out == NULL)
        return NULL;
    if (gate->answer != NULL)
        advice_write_remedies(out, &no_terminal, gate->answer->advice);
    else if (gate->next[0] != '\0')
        fprintf(out, "%s\n", gate->next);
    if (fclose(out) == 0 && n > 0)
        return text;
    free(text);
    return NULL;
}

void gate_write_token_end(FILE *out, const struct gate *gate)
{
    fprintf(out, "The token ends at %s. Renew it before then.", gate->token_expires);
}

json_t *gate_json(const struct gate *gate)
{
    json_t *checks = json_array();
    for (size_t i = 0; checks != NULL && i < gate->n; i++)
        (void)json_array_append_new(checks,
                                    json_pack("{s:s, s:s, s:s}", "name", gate->checks[i].name,
                                              "result", result_words[gate->checks[i].result],
                                              "message", gate->checks[i].message));
    json_t *advice = gate->answer == NULL ? json_null() : json_incref(gate->answer->advice);
    return json_pack("{s:s, s:i, s:s, s:o, s:o, s:s*}", "gate", gate_outcome_words[gate->outcome],
                     "exit_status", (int)gate->status, "message", gate->headline, "checks", checks,
                     "advice", advice, "token_expires_at",
                     gate->token_expires[0] == '\0' ? NULL : gate->token_expires);
}

/* Line ends stay, which are blanks in an attribute. */
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
            fputc(c < ' ' && c != '\n' ? ' ' : c, out);
    }
}

/* The message is the attribute that lists show; what to do is the text below it. */
static void write_test_failure(FILE *out, const struct gate *gate, const struct gate_check *check)
{
    char *remedy = remedy_of(gate, check);
    fprintf(out, "<failure type=\"exit %d\" message=\"", (int)check->status);
    write_xml(out, check->message);
    if (remedy == NULL) {
        fputs("\"/>", out);
        return;
    }
    fputs("\">", out);
    write_xml(out, remedy);
    fputs("</failure>", out);
    free(remedy);
}

static void write_test_case(FILE *out, const struct gate *gate, const struct gate_check *check)
{
    if (is_failure(check)) {
        write_test_failure(out, gate, check);
        return;
    }
    fputs(check->result == CHECK_SKIPPED ? "<skipped message=\"" : "<system-out>", out);
    write_xml(out, check->message);
    fputs(check->result == CHECK_SKIPPED ? "\"/>" : "</system-out>", out);
}

void gate_write_junit(FILE *out, const struct gate *gate)
{
    size_t failed = 0;
    size_t skipped = 0;
    for (size_t i = 0; i < gate->n; i++) {
        failed += is_failure(&gate->checks[i]);
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
        write_test_case(out, gate, check);
        fputs("\n    </testcase>\n", out);
    }
    if (gate->token_expires[0] != '\0') {
        fputs("    <system-out>", out);
        gate_write_token_end(out, gate);
        fputs("</system-out>\n", out);
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
    write_assignment(out, "TOKEN_EXPIRES_AT", gate->token_expires);
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
        bool error = check->result == CHECK_FAILED;
        (void)snprintf(title, sizeof title, "provisor: %s %s", check->name,
                       result_words[check->result]);
        fprintf(out, "::%s title=", error ? "error" : "warning");
        write_escaped(out, title, true);
        fputs("::", out);
        write_escaped(out, check->message, false);
        char *remedy = remedy_of(gate, check);
        if (remedy != NULL) {
            remedy[strlen(remedy) - 1] = '\0'; /* the last line end */
            fputs(remedy[0] == '\n' ? "" : "%0A", out);
            write_escaped(out, remedy, false);
        }
        free(remedy);
        fputc('\n', out);
    }
    if (gate->outcome == GATE_PASSED) {
        fputs("::notice title=provisor%3A passed::", out);
        write_escaped(out, gate->headline, false);
        fputc('\n', out);
    }
    if (gate->token_expires[0] != '\0') {
        fputs("::warning title=provisor%3A token ends soon::", out);
        gate_write_token_end(out, gate);
        fputc('\n', out);
    }
}
