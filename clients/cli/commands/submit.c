#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/commands/commands.h"
#include "cli/commands/gate_checks.h"
#include "cli/commands/spark_command.h"

static const struct option_spec options[] = {
    {"dry-run", 'n', OPTION_FLAG, NULL,
     "Print the command instead of running it; no advice is stored.", false},
    {"gate", 0, OPTION_FLAG, NULL,
     "Run nothing where `provisor gate` would fail, and exit as it does.", false},
    {"force", 0, OPTION_FLAG, NULL,
     "Apply the advice although no allowed number of executors is predicted to meet the deadline.",
     false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};
static const struct option_group group = {"Options", options};

/* What shells answer for a command that cannot be run. */
enum { STATUS_CANNOT_RUN = 126, STATUS_NOT_FOUND = 127, PROPERTIES_MAX = 256 };

struct submission {
    struct invocation *invocation;
    struct spark_command command;
    struct question question;
    struct gate_limits limits;
    struct answer answer;
    struct arena arena;
    char *properties[PROPERTIES_MAX]; /* "key=value", the arena's */
    size_t n_properties;
};

static void submission_clear(struct submission *submission)
{
    arena_fini(&submission->arena);
    answer_clear(&submission->answer);
    question_clear(&submission->question);
}

/* --- the question --- */

#define DYNAMIC "spark.dynamicAllocation."
#define INSTANCES "spark.executor.instances"

/* Under dynamic allocation Spark reads the instances as the least initial executors: so they are
 * enforced, and maxExecutors is advised to be no less. */
static bool enforce_instances_as_initial(json_t *enforced)
{
    static const char initial[] = DYNAMIC "initialExecutors";
    json_t *instances = json_object_get(enforced, INSTANCES);
    const char *before = json_string_value(json_object_get(enforced, initial));
    bool is_larger =
        before == NULL || strtol(json_string_value(instances), NULL, 10) > strtol(before, NULL, 10);
    return (!is_larger || json_object_set(enforced, initial, instances) == 0) &&
           json_object_del(enforced, INSTANCES) == 0;
}

static json_t *enforced_of(const struct question *question)
{
    return json_object_get(json_object_get(question->body, "constraints"), "enforced");
}

/* Would the job run with dynamic allocation if nothing set its instances? False also if the service does
 * not answer, which is recorded. */
static bool runs_dynamically(struct submission *submission)
{
    struct invocation *invocation = submission->invocation;
    struct question question = {.body = json_deep_copy(submission->question.body), .dry_run = true};
    struct answer answer = {.advice = NULL};
    if (question.body == NULL)
        return fail_memory(&invocation->failure);
    (void)json_object_del(enforced_of(&question), INSTANCES);
    bool is_answered = question_ask(invocation, &question, &answer);
    const json_t *properties = json_at(answer.advice, "spark.properties");
    const char *enabled = json_string_value(json_object_get(properties, DYNAMIC "enabled"));
    bool is_dynamic = is_answered && enabled != NULL && strcmp(enabled, "true") == 0;
    answer_clear(&answer);
    question_clear(&question);
    return is_dynamic;
}

/* The instances that the command sets: a fixed number, or the initial executors if the command or the
 * job's history has dynamic allocation. False: recorded. */
static bool settle_instances(struct submission *submission)
{
    struct invocation *invocation = submission->invocation;
    json_t *enforced = enforced_of(&submission->question);
    const char *instances = json_string_value(json_object_get(enforced, INSTANCES));
    const char *enabled = json_string_value(json_object_get(enforced, DYNAMIC "enabled"));
    const json_t *constraints = json_object_get(submission->question.body, "constraints");
    if (instances == NULL)
        return true;
    bool is_dynamic = enabled != NULL && strcasecmp(enabled, "true") == 0;
    if (enabled == NULL && json_object_get(constraints, "dynamic_allocation") == NULL) {
        is_dynamic = runs_dynamically(submission);
        if (is_dynamic)
            invocation_say(invocation,
                           "provisor: the job runs with dynamic allocation: the %s executors that "
                           "the command sets are the initial ones",
                           instances);
    }
    return invocation->failure.status == EXIT_DONE &&
           (!is_dynamic || enforce_instances_as_initial(enforced) ||
            fail_memory(&invocation->failure));
}

/* What the caller sets stays so, and the rest is to go with it. */
static bool enforce_settings(struct submission *submission)
{
    struct failure *failure = &submission->invocation->failure;
    json_t *constraints = json_object_get(submission->question.body, "constraints");
    json_t *enforced = json_object_get(constraints, "enforced");
    if (!json_is_object(enforced)) {
        enforced = json_object();
        if (json_object_set_new(constraints, "enforced", enforced) != 0)
            return fail_memory(failure);
    }
    size_t at = 0;
    for (struct spark_setting setting; spark_command_next(&submission->command, &at, &setting);) {
        char key[512];
        (void)snprintf(key, sizeof key, "%.*s", (int)setting.key_n, setting.key);
        /* Only what bears on executors: names and secrets are nobody else's business. */
        bool bears = strncmp(key, "spark.executor.", 15) == 0 ||
                     strncmp(key, "spark.dynamicAllocation.", 24) == 0 ||
                     strcmp(key, "spark.shuffle.service.enabled") == 0 ||
                     strncmp(key, "spark.memory.", 13) == 0 ||
                     strcmp(key, "spark.speculation") == 0 || strcmp(key, "spark.task.cpus") == 0;
        bool options_of_jvm = strstr(key, "JavaOptions") != NULL || strstr(key, "Env.") != NULL;
        if (bears && !options_of_jvm &&
            json_object_set_new(enforced, key, json_string(setting.value)) != 0)
            return fail_memory(failure);
    }
    return true;
}

static bool read_submission(struct submission *submission)
{
    struct invocation *invocation = submission->invocation;
    const struct arguments *arguments = invocation->arguments;
    const char *token_file = argument_text(arguments, "token-file");
    if (token_file != NULL && strcmp(token_file, "-") == 0)
        return fail(&invocation->failure, EXIT_USAGE,
                    "--token-file - takes standard input away from the command");
    if (arguments->n_rest == 0) {
        (void)fail(&invocation->failure, EXIT_USAGE, "the command is missing");
        return fail_next(&invocation->failure,
                         "it goes after --: provisor submit nightly-etl -- spark-submit job.jar");
    }
    if (!spark_command_read(arguments->rest, arguments->n_rest, &submission->command)) {
        (void)fail(&invocation->failure, EXIT_USAGE, "no word of the command is spark-submit");
        return fail_next(
            &invocation->failure,
            "spark-submit, spark-sql, spark-shell and pyspark are known, with or without a path");
    }
    const char *application = arguments->n_positional > 0 ? invocation_word(invocation, 0) : NULL;
    if (application == NULL && !argument_given(arguments, "request"))
        application = spark_command_name(&submission->command);
    bool gated = argument_given(arguments, "gate");
    return gate_limits_read(invocation, gated, &submission->limits) &&
           question_read(invocation, application, &submission->question) &&
           (!gated || gate_has_question(invocation, &submission->question, &submission->limits)) &&
           enforce_settings(submission);
}

/* --- the properties --- */

static bool add_property(struct submission *submission, const char *key, const char *value)
{
    if (submission->n_properties == PROPERTIES_MAX)
        return fail(&submission->invocation->failure, EXIT_FAILED,
                    "more than %d properties are advised", PROPERTIES_MAX);
    char *text = arena_printf(&submission->arena, "%s=%s", key, value);
    if (text == NULL)
        return fail_memory(&submission->invocation->failure);
    submission->properties[submission->n_properties++] = text;
    return true;
}

/* A name and a value as Spark has them, on one line. */
static bool is_property(const char *key, const char *value)
{
    static const char of_names[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return strncmp(key, "spark.", 6) == 0 && strspn(key, of_names) == strlen(key) &&
           value != NULL && strpbrk(value, "\r\n") == NULL;
}

/* spark-submit cannot unset the instances that another place sets. If the advice removes them, they are
 * set to the initial executors: more than maxExecutors would end Spark at its start. */
static bool add_instances(struct submission *submission)
{
    const json_t *spark = json_object_get(submission->answer.advice, "spark");
    const json_t *initial =
        json_object_get(json_object_get(spark, "properties"), DYNAMIC "initialExecutors");
    size_t i;
    json_t *change;
    json_array_foreach(
        json_object_get(spark, "changes"), i,
        change) if (strcmp(json_text_at(change, "key", ""), INSTANCES) == 0 &&
                    json_is_null(json_object_get(change, "new")) && json_is_string(initial) &&
                    !spark_command_sets(&submission->command,
                                        INSTANCES)) return add_property(submission, INSTANCES,
                                                                        json_string_value(initial));
    return true;
}

static bool add_properties(struct submission *submission)
{
    const json_t *advice = submission->answer.advice;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json_at(advice, "spark.properties"), key, value)
    {
        if (!is_property(key, json_string_value(value))) {
            warn("the property '%.100s' is left out: it is not a property of Spark", key);
            continue;
        }
        if (!spark_command_sets(&submission->command, key) &&
            !add_property(submission, key, json_string_value(value)))
            return false;
    }
    if (!add_instances(submission))
        return false;
    /* A dry run stores no advice that a run could name. */
    return submission->question.dry_run ||
           add_property(submission, "spark.provisor.adviceId", json_text_at(advice, "id", ""));
}

static void report(const struct submission *submission, const struct gate *gate)
{
    const struct invocation *invocation = submission->invocation;
    if (gate->outcome == GATE_PASSED)
        invocation_say(invocation, "provisor: %s", gate->headline);
    else
        warn("%s", gate->headline);
    for (size_t i = 0; i < submission->n_properties; i++)
        invocation_say(invocation, "provisor:   --conf %s", submission->properties[i]);
}

/* --- the command --- */

static void print_word(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word != '\0'; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stdout);
    putchar('\'');
}

static int run_words(struct submission *submission)
{
    struct invocation *invocation = submission->invocation;
    char **words =
        spark_command_with(&submission->command, submission->properties, submission->n_properties);
    if (words == NULL) {
        (void)fail_memory(&invocation->failure);
        return invocation_failed(invocation);
    }
    if (submission->question.dry_run) {
        for (size_t i = 0; words[i] != NULL; i++) {
            fputs(i > 0 ? " " : "", stdout);
            print_word(words[i]);
        }
        putchar('\n');
        free(words);
        return EXIT_DONE;
    }
    (void)fflush(stdout);
    remote_close(invocation->remote); /* its connections are not the command's */
    invocation->remote = NULL;
    (void)signal(SIGPIPE, SIG_DFL);
    (void)execvp(words[0], words);
    int why = errno;
    (void)fail(&invocation->failure, EXIT_FAILED, "%s cannot be run: %s", words[0], strerror(why));
    free(words);
    return why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

/* EXIT_DONE: the command is to be run. */
static int ask(struct submission *submission)
{
    struct invocation *invocation = submission->invocation;
    struct failure *failure = &invocation->failure;
    if (!settle_instances(submission) ||
        !question_ask(invocation, &submission->question, &submission->answer)) {
        if (gate_stops_on(failure, &submission->limits))
            return invocation_failed(invocation);
        warn("%s\n          the command runs as it is, without advice", failure->what);
        *failure = (struct failure){.status = EXIT_DONE};
        return EXIT_DONE;
    }
    struct gate gate;
    gate_check_answer(&submission->answer, &submission->limits, &gate);
    if (gate.outcome == GATE_FAILED) {
        (void)fail(failure, gate.status, "the command was not run: %s", gate.headline);
        return (int)gate.status;
    }
    /* Without a count the run cannot be compared with a prediction. The least late count of a missed
     * deadline is applied only by request. */
    enum exit_status verdict = question_status(submission->answer.advice);
    if (verdict == EXIT_TOO_LITTLE_HISTORY ||
        (verdict == EXIT_GATE_FAILED && !submission->question.force)) {
        warn("%s\n          the command runs as it is%s", gate.headline,
             argument_given(invocation->arguments, "gate") ? "" : "; --gate would stop it");
        return EXIT_DONE;
    }
    if (!add_properties(submission))
        return invocation_failed(invocation);
    report(submission, &gate);
    return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
    struct submission submission = {.invocation = invocation};
    arena_init(&submission.arena, 0);
    bool begun = invocation_begin(invocation, 1U << FORM_TABLE);
    int status =
        begun && read_submission(&submission) ? ask(&submission) : invocation_failed(invocation);
    if (status == EXIT_DONE)
        status = run_words(&submission);
    submission_clear(&submission);
    return status;
}

const struct command command_submit = {
    .name = "submit",
    .summary = "Run spark-submit with the advised properties.",
    .positional = "[APPLICATION]",
    .positional_max = 1,
    .rest = "COMMAND...",
    .description =
        "Asks as `provisor advise` does, puts the advised properties into the command "
        "as --conf, and runs it; its exit "
        "status is that of the command. What the command sets itself, by --conf or by "
        "options such as --executor-cores, "
        "stays as it is, and the advice is made to go with it. The application is that "
        "of --name or spark.app.name "
        "unless it is given.\n\n"
        "The property spark.provisor.adviceId names the advice in the event log of the "
        "run, so that the two are "
        "compared once the log has been ingested. When the service is away, knows "
        "nothing of the application, or predicts that no executor count meets the "
        "deadline, the command runs as it is, with a warning. A token that is wrong, "
        "expired or revoked fails before anything is run; with --on-token-refused warn "
        "the command runs as it is. --force applies the advice also if no executor count "
        "meets the deadline.\n\n"
        "Properties set the executors and what belongs to them. Other changes, of "
        "memory, speculation and partitions, are proposals: --apply sets them.",
    .examples = "  provisor submit nightly-etl -s 64 -d 90s -- spark-submit --class Main job.jar\n"
                "  provisor submit --gate -d 90s -- spark-submit --name nightly-etl job.jar\n"
                "  provisor submit --dry-run nightly-etl -d 90s -- spark-submit job.jar",
    .groups = {&group, &gate_options, &question_options, &spark_options},
    .run = run};
