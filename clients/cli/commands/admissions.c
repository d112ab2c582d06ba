#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "threads/clock.h"

/* `admit` and `admissions`: cores and memory of a cluster, reserved for a run. */

enum { ADMISSIONS_LIMIT = 50 };

static enum style style_of_status(const json_t *cell)
{
    return json_is_string(cell) && strcmp(json_string_value(cell), "held") == 0 ? STYLE_GOOD
                                                                                : STYLE_PLAIN;
}

static const struct column record[] = {
    {"admission", "id", CELL_ID, NULL},
    {"status", "status", CELL_VERDICT, style_of_status},
    {"cluster", "cluster", CELL_TEXT, NULL},
    {"application", "application", CELL_TEXT, NULL},
    {"cores", "granted_cores", CELL_NUMBER, NULL},
    {"  asked for", "cores", CELL_NUMBER, NULL},
    {"memory", "memory_bytes", CELL_BYTES, NULL},
    {"starts", "starts_at", CELL_INSTANT, NULL},
    {"deadline", "deadline_at", CELL_INSTANT, NULL},
    {"expires", "expires_at", CELL_INSTANT, NULL},
    {"ended", "ended_at", CELL_INSTANT, NULL},
    {"follows advice", "advice_id", CELL_ID, NULL},
    {"given back by run", "run_id", CELL_ID, NULL},
};

/* The id alone, or the record. */
static bool write_admission(struct invocation *invocation, const json_t *admission)
{
    if (!argument_given(invocation->arguments, "id"))
        return invocation_write_record(invocation, admission, record, COUNT(record));
    print_safely(stdout, json_text_at(admission, "id", ""));
    putchar('\n');
    return true;
}

/* --- admit --- */

static const struct option_spec admit_options[] = {
    {"advice", 0, OPTION_TEXT, "ID",
     "The advice that the run will follow: what is not given is taken from it.", false},
    {"cluster", 0, OPTION_TEXT, "NAME", "A registered cluster.", false},
    {"cores", 0, OPTION_NUMBER, "N", "Cores of all executors together, in steps of 0.05.", false},
    {"cores-min", 0, OPTION_NUMBER, "N",
     "Take fewer where not all are free, but at least so many; without it, all or none.", false},
    {"memory", 0, OPTION_BYTES, NULL,
     "Memory of all executors together, such as 64g or 64GiB; without it, none is reserved.",
     false},
    {"starts-at", 0, OPTION_TEXT, "WHEN",
     "From then on: 2026-01-05T10:00:00Z, or 2h for in two hours; now without it.", false},
    {"deadline", 'd', OPTION_DURATION, NULL,
     "By when the run is to be done, from the start, such as 15m.", false},
    {"expires", 0, OPTION_DURATION, NULL,
     "How long the cores are held, from the start; until the deadline without it.", false},
    {"idempotency-key", 0, OPTION_TEXT, "KEY",
     "A text that is the same when a step is repeated: it gets the same admission.", false},
    {"id", 0, OPTION_FLAG, NULL, "Write the id alone, for later commands.", false},
    OPTIONS_END};
static const struct option_group admit_group = {"Options", admit_options};

static void
set_number(const struct arguments *arguments, const char *option, const char *member, json_t *body)
{
    if (!argument_given(arguments, option))
        return;
    const double value = argument_number(arguments, option, 0);
    const bool is_whole = value < 9e15 && value == (double)(json_int_t)value;
    (void)json_object_set_new(body, member,
                              is_whole ? json_integer((json_int_t)value) : json_real(value));
}

static void set_text(const char *text, const char *member, json_t *body)
{
    if (text != NULL)
        (void)json_object_set_new(body, member, json_string(text));
}

/* An instant that lies ahead, in `member`. False: recorded. */
static bool
set_instant(struct invocation *invocation, const char *option, const char *member, json_t *body)
{
    char instant[QUERY_TEXT];
    const char *text = argument_text(invocation->arguments, option);
    if (text == NULL)
        return true;
    if (!read_instant(invocation, option, text, true, instant))
        return false;
    set_text(instant, member, body);
    return true;
}

static bool read_admission(struct invocation *invocation, json_t *body)
{
    static const char *const numbers[][2] = {{"cores", "cores"},
                                             {"cores-min", "cores_min"},
                                             {"memory", "memory_bytes"},
                                             {"deadline", "deadline_s"},
                                             {"expires", "expires_s"}};
    const struct arguments *arguments = invocation->arguments;
    const char *application = invocation_word(invocation, 0);
    if (arguments->n_positional > 0 && application[0] == '\0')
        return fail(&invocation->failure, EXIT_USAGE, "the name of the application is empty");
    set_text(application[0] == '\0' ? NULL : application, "application", body);
    set_text(argument_text(arguments, "advice"), "advice_id", body);
    set_text(argument_text(arguments, "cluster"), "cluster", body);
    for (size_t i = 0; i < COUNT(numbers); i++)
        set_number(arguments, numbers[i][0], numbers[i][1], body);
    return set_instant(invocation, "starts-at", "starts_at", body);
}

/* With a key it may be repeated, also when no reply came. */
static bool
send_admission(struct invocation *invocation, const json_t *body, struct remote_reply *reply)
{
    char key[270];
    const char *asked = argument_text(invocation->arguments, "idempotency-key");
    if (asked != NULL && (strlen(asked) > 250 || strpbrk(asked, "\"\\\r\n") != NULL))
        return fail(
            &invocation->failure, EXIT_USAGE,
            "--idempotency-key must be at most 250 characters without quotes and backslashes");
    char made[37];
    clock_uuid7(made);
    (void)snprintf(key, sizeof key, "\"%.250s\"", asked == NULL ? made : asked);
    char *text = json_dumps(body, JSON_COMPACT);
    if (text == NULL)
        return fail_memory(&invocation->failure);
    const struct remote_request request = {.method = "POST",
                                           .path = "/v1/admissions",
                                           .text = text,
                                           .n_text = strlen(text),
                                           .idempotency_key = key};
    const bool good = remote_call(invocation->remote, &request, reply, &invocation->failure);
    free(text);
    return good;
}

static int run_admit(struct invocation *invocation)
{
    struct remote_reply reply = {.status = 0};
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    json_t *body = json_object();
    const bool good = read_admission(invocation, body) &&
                      send_admission(invocation, body, &reply) &&
                      write_admission(invocation, reply.json);
    json_decref(body);
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_admit = {
    .name = "admit",
    .summary = "Reserve cores and memory of a cluster for a run.",
    .description =
        "Nobody else is promised these cores until they are given back, a run of the application "
        "that succeeded is reported, or the time is over. What is not given is taken from the "
        "advice: "
        "the application, the cluster, the cores and the deadline.\n\n"
        "Exit status 0: reserved; 6: too little of the cluster is free. Then standard error says "
        "how much is, and from when on enough is.",
    .positional = "[APPLICATION]",
    .positional_max = 1,
    .examples = "  provisor admit nightly-etl --cluster shared-1 --cores 32 --deadline 10m\n"
                "  provisor admit --advice 01a210ce-8c30-7732-99ba-b11b0a9d16ee --cores-min 4\n"
                "  provisor admit report --cluster shared-1 --cores 8 --memory 64g "
                "--starts-at 2h --expires 30m",
    .groups = {&admit_group},
    .run = run_admit};

/* --- admissions --- */

static const struct option_spec list_options[] = {
    {"cluster", 0, OPTION_TEXT, "NAME", "Only of this cluster.", false},
    {"application", 0, OPTION_TEXT, "APPLICATION", "Only for this application.", false},
    {"status", 0, OPTION_CHOICE, "held|released|expired", "Only those of this status.", false},
    OPTION_LIMIT,
    OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

static int run_list(struct invocation *invocation)
{
    static const struct column columns[] = {
        {"admission", "id", CELL_ID, NULL},
        {"cluster", "cluster", CELL_TEXT, NULL},
        {"application", "application", CELL_TEXT, NULL},
        {"status", "status", CELL_VERDICT, style_of_status},
        {"cores", "granted_cores", CELL_NUMBER, NULL},
        {"memory", "memory_bytes", CELL_BYTES, NULL},
        {"starts", "starts_at", CELL_MINUTE, NULL},
        {"expires", "expires_at", CELL_MINUTE, NULL},
    };
    static struct query query;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "cluster", "cluster");
    query_option(&query, "application", "application");
    query_option(&query, "status", "status");
    return query_list(&query, "/v1/admissions", ADMISSIONS_LIMIT, "admissions", columns,
                      COUNT(columns));
}

static int run_show(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/admissions/", 0, "", path))
        return invocation_failed(invocation);
    json_t *admission = remote_get(invocation->remote, path, NULL, &invocation->failure);
    const bool good =
        admission != NULL && invocation_write_record(invocation, admission, record, COUNT(record));
    json_decref(admission);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static const struct option_spec extend_options[] = {
    {"until", 0, OPTION_TEXT, "WHEN",
     "The new end: 2026-01-05T10:00:00Z, or 30m for half an hour from now on.", false},
    OPTIONS_END};
static const struct option_group extend_group = {"Options", extend_options};

static int run_extend(struct invocation *invocation)
{
    char path[PATH_TEXT];
    struct remote_reply reply = {.status = 0};
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/admissions/", 0, "", path))
        return invocation_failed(invocation);
    if (!argument_given(invocation->arguments, "until")) {
        (void)fail(&invocation->failure, EXIT_USAGE, "--until is missing: when is it to end?");
        return invocation_failed(invocation);
    }
    json_t *body = json_object();
    if (!set_instant(invocation, "until", "expires_at", body)) {
        json_decref(body);
        return invocation_failed(invocation);
    }
    const bool good = patch_document(invocation, path, body, &reply) &&
                      invocation_write_record(invocation, reply.json, record, COUNT(record));
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static int run_release(struct invocation *invocation)
{
    char path[PATH_TEXT];
    struct remote_reply reply = {.status = 0};
    if (!invocation_begin(invocation, 1U << FORM_TABLE) ||
        !path_of_word(invocation, "/v1/admissions/", 0, "", path))
        return invocation_failed(invocation);
    const struct remote_request request = {.method = "DELETE", .path = path};
    const bool good = remote_call(invocation->remote, &request, &reply, &invocation->failure);
    remote_reply_clear(&reply);
    if (!good)
        return invocation_failed(invocation);
    invocation_say(invocation, "Given back: the admission %s.", invocation_word(invocation, 0));
    return EXIT_DONE;
}

#define ONE_ADMISSION .positional = "ADMISSION", .positional_min = 1, .positional_max = 1
#define EXAMPLE_ID "01a210ce-8c30-7732-99ba-b11b0a9d16ee"

static const struct command command_show = {.name = "show",
                                            .summary = "Show an admission.",
                                            ONE_ADMISSION,
                                            .examples = "  provisor admissions show " EXAMPLE_ID,
                                            .run = run_show};

static const struct command command_extend = {
    .name = "extend",
    .summary = "Hold the same cores longer, or end it earlier.",
    .description = "Exit status 6: the cores are not free in the time that would be added; the "
                   "admission stays as it is.",
    ONE_ADMISSION,
    .examples = "  provisor admissions extend " EXAMPLE_ID " --until 30m",
    .groups = {&extend_group},
    .run = run_extend};

static const struct command command_release = {.name = "release",
                                               .summary = "Give back what an admission holds.",
                                               .description = "One that has ended stays as it is.",
                                               ONE_ADMISSION,
                                               .examples =
                                                   "  provisor admissions release " EXAMPLE_ID,
                                               .run = run_release};

static const struct command *const subcommands[] = {&command_show, &command_extend,
                                                    &command_release, NULL};

const struct command command_admissions = {
    .name = "admissions",
    .summary = "List what is reserved of clusters.",
    .description = "In the order in which it was reserved: `provisor admit` reserves.",
    .examples = "  provisor admissions --cluster shared-1 --status held\n"
                "  provisor admissions -o json",
    .groups = {&list_group},
    .subcommands = subcommands,
    .run = run_list};
