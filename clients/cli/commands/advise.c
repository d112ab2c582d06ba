#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity_text.h"
#include "cli/commands/advice_view.h"
#include "cli/commands/commands.h"

static const struct option_spec options[] = {
    {"format", 'f', OPTION_TEXT, "FORM",
     "The same as --output; of advice also spark-submit, spark-defaults, k8s, "
     "k8s-apache, databricks, emr and emr-serverless, as the next step reads it.",
     true},
    {"why", 'w', OPTION_FLAG, NULL, "Show all reasons, not only the first three.", false},
    {"dry-run", 'n', OPTION_FLAG, NULL, "Store nothing; a token that may only read is enough.",
     false},
    {"force", 0, OPTION_FLAG, NULL,
     "Write a configuration although it is predicted to miss the deadline.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
static const struct option_group group = {"Options", options};

struct advise {
    struct invocation *invocation;
    struct question question;
    struct answer answer;
    bool why;
};

static const struct column csv_columns[] = {
    {"advice", "id", CELL_TEXT, NULL},
    {"application", "application", CELL_TEXT, NULL},
    {"problem size", "problem_size", CELL_SIZE, NULL},
    {"deadline", "deadline_s", CELL_SECONDS, NULL},
    {"verdict", "verdict", CELL_TEXT, NULL},
    {"executors", "recommendation.executors", CELL_COUNT, NULL},
    {"cores per executor", "recommendation.cores_per_executor", CELL_COUNT, NULL},
    {"predicted duration", "recommendation.predicted_duration_s", CELL_SECONDS, NULL},
    {"at least", "recommendation.interval_s.0", CELL_SECONDS, NULL},
    {"at most", "recommendation.interval_s.1", CELL_SECONDS, NULL},
    {"probability", "recommendation.deadline_probability", CELL_PROBABILITY, NULL},
    {"cost", "recommendation.cost", CELL_NUMBER, NULL}};

/* Does the verdict allow a configuration? False: recorded. */
static bool
may_render(struct invocation *invocation, const struct question *question, const json_t *advice)
{
    enum exit_status status = question_status(advice);
    if (status == EXIT_TOO_LITTLE_HISTORY)
        return fail(
            &invocation->failure, status, "nothing is recommended%s: %s",
            question->force ? ", so there is nothing that --force could render" : "",
            json_text_at(advice, "reasons.0.message", "the history does not allow an answer"));
    if (status != EXIT_GATE_FAILED || question->force)
        return true;
    char headline[1024], deadline[96] = "";
    const double enough_s = json_number_at(advice, "remedies.deadline_s", (double)NAN);
    advice_headline(advice, headline, sizeof headline);
    (void)fail(&invocation->failure, status, "no configuration is written: %s", headline);
    if (!isnan(enough_s))
        (void)snprintf(deadline, sizeof deadline, "allow a deadline of %s; ",
                       quantity_duration_at_least(enough_s).text);
    return fail_next(&invocation->failure, "%s--force writes the configuration of the closest one",
                     deadline);
}

/* A configuration alone says neither that it is at risk nor that it is late. */
static void remark_on_risk(const json_t *advice)
{
    char headline[1024];
    if (question_status(advice) == EXIT_DONE)
        return;
    advice_headline(advice, headline, sizeof headline);
    warn("%s", headline);
}

static bool write_rendered(struct advise *advise, FILE *out, enum output_form form)
{
    const json_t *advice = advise->answer.advice;
    if (form != FORM_MARKDOWN && !may_render(advise->invocation, &advise->question, advice))
        return false;
    if (form != FORM_MARKDOWN)
        remark_on_risk(advice);
    char *text = question_render(advise->invocation, &advise->question, &advise->answer,
                                 output_form_names[form]);
    if (text == NULL)
        return false;
    size_t n = strlen(text);
    fprintf(out, "%s%s", text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
    free(text);
    return true;
}

static bool write_advice(FILE *out,
                         enum output_form form,
                         const struct terminal *terminal,
                         void *context,
                         struct failure *failure)
{
    struct advise *advise = context;
    const json_t *advice = advise->answer.advice;
    switch (form) {
    case FORM_TABLE:
        advice_view_write(out, terminal, &advise->answer,
                          ADVICE_VERDICT | (advise->why ? ADVICE_WHY : 0U));
        return true;
    case FORM_JSON:
    case FORM_YAML:
    case FORM_CSV:
        return table_write_record(out, form, terminal, advice, csv_columns,
                                  sizeof csv_columns / sizeof *csv_columns, advice, failure);
    case FORM_MARKDOWN:
    case FORM_SPARK_SUBMIT:
    case FORM_SPARK_DEFAULTS:
    case FORM_K8S:
    case FORM_K8S_APACHE:
    case FORM_DATABRICKS:
    case FORM_EMR:
    case FORM_EMR_SERVERLESS:
        return write_rendered(advise, out, form);
    case FORM_JUNIT:
    case FORM_DOTENV:
    case FORM_GITHUB:
    case FORM_COUNT:
        break;
    }
    return fail(failure, EXIT_USAGE, "advice cannot be written in this form");
}

static bool advise_with(struct advise *advise)
{
    struct invocation *invocation = advise->invocation;
    if (!question_read(invocation, NULL, &advise->question) ||
        !question_ask(invocation, &advise->question, &advise->answer))
        return false;
    return outputs_write(&invocation->outputs, write_advice, advise, &invocation->failure);
}

static int run(struct invocation *invocation)
{
    struct advise advise = {.invocation = invocation,
                            .why = argument_given(invocation->arguments, "why")};
    const unsigned forms = FORMS_OF_TABLES | 1U << FORM_SPARK_SUBMIT | 1U << FORM_SPARK_DEFAULTS |
                           1U << FORM_K8S | 1U << FORM_K8S_APACHE | 1U << FORM_DATABRICKS |
                           1U << FORM_EMR | 1U << FORM_EMR_SERVERLESS;
    if (!invocation_begin(invocation, forms))
        return invocation_failed(invocation);
    bool good = advise_with(&advise);
    answer_clear(&advise.answer);
    question_clear(&advise.question);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_advise = {
    .name = "advise",
    .summary = "Recommend executors for a job, with an interval and reasons.",
    .positional = "[APPLICATION]",
    .positional_max = 1,
    .description =
        "Asks how many executors the job needs to meet its deadline, predicted from the "
        "recorded runs of the "
        "application, and which Spark properties follow from that. Without a deadline "
        "it is asked what would cost least "
        "without being much slower than the last run.\n\n"
        "The answer is stored, so that the run which follows it can be compared with "
        "it; with --dry-run it is not. Its "
        "exit status is 0 whatever the verdict is: `provisor gate` is for decisions. Only "
        "a configuration (--format spark-submit and the like) is not written, with exit "
        "status 3, if no allowed number of executors is predicted to meet the deadline, "
        "and with 5 if there is too little history.\n\n"
        "Properties set the executors and what belongs to them. Other changes, of memory, "
        "speculation and partitions, are proposals: --apply sets them.",
    .examples =
        "  provisor advise nightly-etl --size 64 --deadline 90s\n"
        "  provisor advise nightly-etl --size 8GiB --deadline 90s --why\n"
        "  provisor advise nightly-etl --size 64 --deadline 90s --format spark-submit\n"
        "  provisor advise nightly-etl --deadline 90s --apply memory,partitions\n"
        "  provisor advise nightly-etl --deadline 90s -o json | jq .recommendation.executors",
    .groups = {&group, &question_options, &spark_options},
    .run = run};
