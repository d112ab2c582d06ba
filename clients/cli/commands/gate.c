#include <stdlib.h>
#include <string.h>

#include "cli/commands/advice_view.h"
#include "cli/commands/commands.h"
#include "cli/commands/gate_checks.h"

static const struct option_spec options[] = {
    {"format", 'f', OPTION_TEXT, "FORM",
     "The same as --output; of a gate also junit, dotenv (for later steps) and github "
     "(annotations).",
     true},
    {"dry-run", 'n', OPTION_FLAG, NULL, "Store no advice; a token that may only read is enough.",
     false},
    {"why", 'w', OPTION_FLAG, NULL, "Show all reasons, not only the first three.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
static const struct option_group group = {"Options", options};

struct gating {
    struct invocation *invocation;
    struct question question;
    struct answer answer;
    struct gate gate;
};

static enum style outcome_style(enum gate_outcome outcome)
{
    static const enum style styles[] = {[GATE_PASSED] = STYLE_GOOD,
                                        [GATE_FAILED] = STYLE_BAD,
                                        [GATE_WARNED] = STYLE_WARNING,
                                        [GATE_SKIPPED] = STYLE_WARNING,
                                        [GATE_BROKEN] = STYLE_BAD};
    return styles[outcome];
}

static void
write_people(FILE *out, const struct terminal *terminal, const struct gate *gate, bool why)
{
    static const char *const marks[] = {[CHECK_PASSED] = "ok",
                                        [CHECK_FAILED] = "FAILED",
                                        [CHECK_WARNED] = "WARNING",
                                        [CHECK_SKIPPED] = "skipped"};
    fprintf(out, "Gate %s%s%s\n", style_begin(terminal->color_out, outcome_style(gate->outcome)),
            gate_outcome_words[gate->outcome], style_end(terminal->color_out));
    for (size_t i = 0; i < gate->n; i++) {
        char text[1200];
        (void)snprintf(text, sizeof text, "- %s: %s. %s", gate->checks[i].name,
                       marks[gate->checks[i].result], gate->checks[i].message);
        table_write_wrapped(out, terminal, 2, text);
    }
    if (gate->answer != NULL)
        advice_view_write(out, terminal, gate->answer, why ? ADVICE_WHY : 0U);
}

static bool write_markdown(struct gating *gating, FILE *out)
{
    const struct gate *gate = &gating->gate;
    fprintf(out, "## provisor: gate %s\n\n", gate_outcome_words[gate->outcome]);
    for (size_t i = 0; i < gate->n; i++) {
        static const char *const marks[] = {[CHECK_PASSED] = "passed",
                                            [CHECK_FAILED] = "**failed**",
                                            [CHECK_WARNED] = "**warning**",
                                            [CHECK_SKIPPED] = "skipped"};
        fprintf(out, "- %s: %s. ", gate->checks[i].name, marks[gate->checks[i].result]);
        markdown_write_cell(out, gate->checks[i].message);
        fputc('\n', out);
    }
    if (gate->token_expires[0] != '\0') {
        fputs("- token: **warning**. ", out);
        gate_write_token_end(out, gate);
        fputc('\n', out);
    }
    if (gate->answer == NULL) {
        if (gate->next[0] != '\0')
            fprintf(out, "\nWhat to do: %s\n", gate->next);
        return true;
    }
    char *text = question_render(gating->invocation, &gating->question, gate->answer, "markdown");
    if (text == NULL) {
        /* The gate has decided; that its summary is short is no reason to decide otherwise. */
        warn("the advice is not in the summary: %s", gating->invocation->failure.what);
        gating->invocation->failure = (struct failure){.status = EXIT_DONE};
        return true;
    }
    fprintf(out, "\n%s", text);
    free(text);
    return true;
}

static bool
write_json(FILE *out, enum output_form form, const struct gate *gate, struct failure *failure)
{
    json_t *json = gate_json(gate);
    if (json == NULL)
        return fail_memory(failure);
    bool good = form == FORM_JSON ? json_text_write(out, json, failure)
                                  : yaml_text_write(out, json, failure);
    json_decref(json);
    return good;
}

static bool write_gate(FILE *out,
                       enum output_form form,
                       const struct terminal *terminal,
                       void *context,
                       struct failure *failure)
{
    struct gating *gating = context;
    switch (form) {
    case FORM_TABLE:
        /* Why there is no answer is said on standard error. */
        if (gating->gate.answer != NULL || gating->gate.status == EXIT_DONE)
            write_people(out, terminal, &gating->gate,
                         argument_given(gating->invocation->arguments, "why"));
        return true;
    case FORM_JSON:
    case FORM_YAML:
        return write_json(out, form, &gating->gate, failure);
    case FORM_MARKDOWN:
        return write_markdown(gating, out);
    case FORM_JUNIT:
        gate_write_junit(out, &gating->gate);
        return true;
    case FORM_DOTENV:
        gate_write_dotenv(out, &gating->gate);
        return true;
    case FORM_GITHUB:
        gate_write_github(out, &gating->gate);
        return true;
    default:
        return fail(failure, EXIT_USAGE, "a gate cannot be written in this form");
    }
}

static void judge(struct gating *gating, const struct gate_limits *limits)
{
    struct invocation *invocation = gating->invocation;
    struct failure *failure = &invocation->failure;
    if (question_ask(invocation, &gating->question, &gating->answer)) {
        gate_check_answer(&gating->answer, limits, &gating->gate);
    } else if (gate_stops_on(failure, limits)) {
        gate_refuse(failure, &gating->question, &gating->gate);
    } else {
        gate_skip(failure, &gating->question, &gating->gate);
        warn("%s\n          the job continues unchecked%s", failure->what,
             failure->unavailable ? "; --on-unavailable fail would stop it" : "");
        *failure = (struct failure){.status = EXIT_DONE};
    }
    (void)snprintf(gating->gate.token_expires, sizeof gating->gate.token_expires, "%s",
                   remote_token_expires(invocation->remote));
}

/* False: nothing was asked. */
static bool ask(struct gating *gating)
{
    struct invocation *invocation = gating->invocation;
    struct gate_limits limits;
    if (!gate_limits_read(invocation, true, &limits) ||
        !question_read(invocation, NULL, &gating->question) ||
        !gate_has_question(invocation, &gating->question, &limits))
        return false;
    judge(gating, &limits);
    return true;
}

static int run(struct invocation *invocation)
{
    struct gating gating = {.invocation = invocation};
    const unsigned forms = 1U << FORM_TABLE | 1U << FORM_JSON | 1U << FORM_YAML |
                           1U << FORM_MARKDOWN | 1U << FORM_JUNIT | 1U << FORM_DOTENV |
                           1U << FORM_GITHUB;
    if (!invocation_begin(invocation, forms))
        return invocation_failed(invocation);
    bool good = ask(&gating) &&
                outputs_write(&invocation->outputs, write_gate, &gating, &invocation->failure);
    answer_clear(&gating.answer);
    question_clear(&gating.question);
    bool failed = invocation->failure.status != EXIT_DONE;
    return good && !failed ? (int)gating.gate.status : invocation_failed(invocation);
}

const struct command command_gate = {
    .name = "gate",
    .summary = "Decide whether a job may go on: by its deadline, cost and accuracy.",
    .positional = "[APPLICATION]",
    .positional_max = 1,
    .description = "Asks as `provisor advise` does and answers with the exit status, for "
                   "pipelines: 0 go ahead; 3 the deadline is "
                   "predicted to be missed, or the cost rises too much; 4 it is predicted to be "
                   "met with less than the confidence "
                   "asked; 5 there is too little history, or it predicts too poorly, to tell; 1 "
                   "and 2 are errors.\n\n"
                   "A gate needs a deadline, or a limit on cost or error: without one it could "
                   "stop nothing, which is an error unless --no-deadline says that it is meant.\n\n"
                   "While the service is away or overloaded the job continues with a warning. A "
                   "token that is wrong, expired or revoked fails. The options --on-... say "
                   "otherwise, for each case; an invalid request fails in any case.",
    .examples =
        "  provisor gate nightly-etl --size 64 --deadline 90s\n"
        "  provisor gate nightly-etl --size 64 --deadline 90s --max-cost-rise 20% --max-error 25%\n"
        "  provisor gate nightly-etl -s 64 -d 90s -o table -o markdown=summary.md -o "
        "junit=gate.xml",
    .groups = {&group, &gate_options, &question_options, &spark_options},
    .run = run};
