#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

enum { WEBHOOKS_LIMIT = 50 };

static const struct column columns[] = {
    {"webhook", "id", CELL_ID, NULL},
    {"status", "status", CELL_VERDICT, NULL},
    {"url", "url", CELL_TEXT, NULL},
    {"pending", "pending", CELL_COUNT, NULL},
    {"failures", "consecutive_failures", CELL_COUNT, NULL},
    {"last delivered", "last_delivered_at", CELL_MINUTE, NULL},
    {"events", "events", CELL_TEXT, NULL},
};

static const struct column record[] = {
    {"webhook", "id", CELL_ID, NULL},
    {"url", "url", CELL_TEXT, NULL},
    {"description", "description", CELL_TEXT, NULL},
    {"status", "status", CELL_VERDICT, NULL},
    {"reason", "status_reason", CELL_TEXT, NULL},
    {"held until", "held_until", CELL_INSTANT, NULL},
    {"events", "events", CELL_TEXT, NULL},
    {"applications", "applications", CELL_TEXT, NULL},
    {"labels", "labels", CELL_TEXT, NULL},
    {"minimum severity", "min_severity", CELL_TEXT, NULL},
    {"format", "format", CELL_TEXT, NULL},
    {"signature", "signature", CELL_TEXT, NULL},
    {"public key", "public_key", CELL_ID, NULL},
    {"authorization", "has_authorization", CELL_YES, NULL},
    {"concurrency", "concurrency", CELL_COUNT, NULL},
    {"pending", "pending", CELL_COUNT, NULL},
    {"failures", "consecutive_failures", CELL_COUNT, NULL},
    {"last error", "last_error", CELL_TEXT, NULL},
    {"last failed", "last_failed_at", CELL_INSTANT, NULL},
    {"last delivered", "last_delivered_at", CELL_INSTANT, NULL},
    {"former secret until", "former_secret_until", CELL_INSTANT, NULL},
    {"updated", "updated_at", CELL_INSTANT, NULL},
};

static const struct column delivery_columns[] = {
    {"delivery", "id", CELL_ID, NULL},
    {"status", "status", CELL_VERDICT, NULL},
    {"event", "event_type", CELL_TEXT, NULL},
    {"attempts", "attempts", CELL_COUNT, NULL},
    {"reason", "reason", CELL_TEXT, NULL},
    {"happened", "event_at", CELL_INSTANT, NULL},
    {"next attempt", "next_attempt_at", CELL_INSTANT, NULL},
    {"ended", "ended_at", CELL_INSTANT, NULL},
};

/* --- looking --- */

static const struct option_spec list_options[] = {OPTION_LIMIT, OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

static int run(struct invocation *invocation)
{
    static struct query query;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    return query_list(&query, "/v1/webhooks", WEBHOOKS_LIMIT, "webhooks", columns, COUNT(columns));
}

static int run_show(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/webhooks/", 0, "", path))
        return invocation_failed(invocation);
    json_t *webhook = remote_get(invocation->remote, path, NULL, &invocation->failure);
    bool good =
        webhook != NULL && invocation_write_record(invocation, webhook, record, COUNT(record));
    json_decref(webhook);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static const struct option_spec deliveries_options[] = {
    {"status", 0, OPTION_CHOICE, "pending|delivered|dead", "Only deliveries of this status.",
     false},
    {"event", 0, OPTION_TEXT, "TYPE", "Only deliveries of events of this type.", false},
    OPTION_LIMIT,
    OPTIONS_END};
static const struct option_group deliveries_group = {"Options", deliveries_options};

static int run_deliveries(struct invocation *invocation)
{
    static struct query query;
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/webhooks/", 0, "/deliveries", path))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "status", "status");
    query_option(&query, "event", "event_type");
    return query_list(&query, path, WEBHOOKS_LIMIT, "deliveries", delivery_columns,
                      COUNT(delivery_columns));
}

/* Of one delivery. */
static int run_attempts(struct invocation *invocation)
{
    static const struct column attempt[] = {
        {"at", "at", CELL_INSTANT, NULL},        {"status", "status", CELL_COUNT, NULL},
        {"error", "error", CELL_TEXT, NULL},     {"ms", "duration_ms", CELL_COUNT, NULL},
        {"answer", "response", CELL_TEXT, NULL},
    };
    char before[PATH_TEXT];
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/webhooks/", 0, "/deliveries/", before) ||
        !path_of_word(invocation, before, 1, "", path))
        return invocation_failed(invocation);
    json_t *delivery = remote_get(invocation->remote, path, NULL, &invocation->failure);
    bool good =
        delivery != NULL && invocation_write_list(invocation, json_object_get(delivery, "log"),
                                                  attempt, COUNT(attempt));
    json_decref(delivery);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- what shows a secret: it alone goes to standard output, for people --- */

static bool write_secret(FILE *out,
                         enum output_form form,
                         const struct terminal *terminal,
                         void *context,
                         struct failure *failure)
{
    const json_t *webhook = context;
    const char *secret = json_text_at(webhook, "secret", NULL);
    if (form != FORM_TABLE)
        return table_write_record(out, form, terminal, webhook, record, COUNT(record), webhook,
                                  failure);
    fprintf(out, "%s\n", secret != NULL ? secret : json_text_at(webhook, "public_key", ""));
    return true;
}

static int
post_for_secret(struct invocation *invocation, const char *path, json_t *body, const char *done)
{
    struct remote_reply reply = {.status = 0};
    bool good = post_document(invocation, path, body, true, &reply);
    if (good) {
        bool shared = json_text_at(reply.json, "secret", NULL) != NULL;
        invocation_say(invocation, "%s the webhook %s. %s", done,
                       json_text_at(reply.json, "id", ""),
                       shared ? "Its secret is shown this once."
                              : "This is the public key that receivers verify with.");
        good = outputs_write(&invocation->outputs, write_secret, reply.json, &invocation->failure);
    }
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

enum { FORMS_OF_SECRETS = 1U << FORM_TABLE | 1U << FORM_JSON | 1U << FORM_YAML };

static int run_create(struct invocation *invocation)
{
    if (!invocation_begin(invocation, FORMS_OF_SECRETS))
        return invocation_failed(invocation);
    json_t *body = invocation_read_document(invocation, invocation_word(invocation, 0));
    return body == NULL ? invocation_failed(invocation)
                        : post_for_secret(invocation, "/v1/webhooks", body, "Created");
}

static const struct option_spec rotate_options[] = {
    {"overlap", 0, OPTION_DURATION, NULL,
     "How long the former one signs as well; a day without it.", false},
    {"no-overlap", 0, OPTION_FLAG, NULL, "The former one stops signing at once.", false},
    OPTIONS_END};
static const struct option_group rotate_group = {"Options", rotate_options};

static int run_rotate(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_SECRETS) ||
        !path_of_word(invocation, "/v1/webhooks/", 0, "/rotate", path))
        return invocation_failed(invocation);
    if (argument_given(invocation->arguments, "no-overlap") &&
        argument_given(invocation->arguments, "overlap")) {
        (void)fail(&invocation->failure, EXIT_USAGE,
                   "--overlap and --no-overlap exclude each other");
        return invocation_failed(invocation);
    }
    json_t *body = json_object();
    if (argument_given(invocation->arguments, "no-overlap"))
        (void)json_object_set_new(body, "overlap_s", json_integer(0));
    else if (argument_given(invocation->arguments, "overlap"))
        (void)json_object_set_new(
            body, "overlap_s",
            json_integer((json_int_t)argument_number(invocation->arguments, "overlap", 0)));
    return post_for_secret(invocation, path, body, "Rotated");
}

/* --- changing --- */

static int change(struct invocation *invocation, json_t *body)
{
    char path[PATH_TEXT];
    struct remote_reply reply = {.status = 0};
    if (body == NULL)
        return invocation_failed(invocation);
    if (!path_of_word(invocation, "/v1/webhooks/", 0, "", path)) {
        json_decref(body);
        return invocation_failed(invocation);
    }
    bool good = patch_document(invocation, path, body, &reply) &&
                invocation_write_record(invocation, reply.json, record, COUNT(record));
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static int run_update(struct invocation *invocation)
{
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    return change(invocation, invocation_read_document(invocation, invocation_word(invocation, 1)));
}

static int run_enable(struct invocation *invocation)
{
    return invocation_begin(invocation, FORMS_OF_TABLES)
               ? change(invocation, json_pack("{s:b}", "enabled", 1))
               : invocation_failed(invocation);
}

static int run_disable(struct invocation *invocation)
{
    return invocation_begin(invocation, FORMS_OF_TABLES)
               ? change(invocation, json_pack("{s:b}", "enabled", 0))
               : invocation_failed(invocation);
}

/* --- sending --- */

static int post_for_delivery(struct invocation *invocation, const char *path, const char *said)
{
    struct remote_request request = {.method = "POST", .path = path, .once = true};
    struct remote_reply reply = {.status = 0};
    bool good =
        remote_call(invocation->remote, &request, &reply, &invocation->failure) &&
        invocation_write_record(invocation, reply.json, delivery_columns, COUNT(delivery_columns));
    remote_reply_clear(&reply);
    if (!good)
        return invocation_failed(invocation);
    invocation_say(invocation, "%s `provisor webhooks deliveries %s` shows what becomes of it.",
                   said, invocation_word(invocation, 0));
    return EXIT_DONE;
}

static int run_ping(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/webhooks/", 0, "/ping", path))
        return invocation_failed(invocation);
    return post_for_delivery(invocation, path, "The test event is on its way.");
}

static const struct option_spec redeliver_options[] = {
    {"status", 0, OPTION_CHOICE, "dead|delivered", "Which ones; dead ones without it.", false},
    OPTION_SINCE,
    OPTION_UNTIL,
    OPTIONS_END};
static const struct option_group redeliver_group = {"Options, for all deliveries at once",
                                                    redeliver_options};

static json_t *redeliver_request(struct invocation *invocation)
{
    static const char *const instants[] = {"since", "until"};
    const char *status = argument_text(invocation->arguments, "status");
    json_t *body = json_object();
    if (status != NULL)
        (void)json_object_set_new(body, "status", json_string(status));
    for (size_t i = 0; i < COUNT(instants); i++) {
        char instant[QUERY_TEXT];
        const char *text = argument_text(invocation->arguments, instants[i]);
        if (text == NULL)
            continue;
        if (!read_instant(invocation, instants[i], text, false, instant)) {
            json_decref(body);
            return NULL;
        }
        (void)json_object_set_new(body, instants[i], json_string(instant));
    }
    return body;
}

static int redeliver_all(struct invocation *invocation)
{
    static const struct column counted[] = {
        {"redelivered", "redelivered", CELL_COUNT, NULL},
        {"more", "more", CELL_YES, NULL},
    };
    char path[PATH_TEXT];
    struct remote_reply reply = {.status = 0};
    json_t *body = redeliver_request(invocation);
    bool good = body != NULL && path_of_word(invocation, "/v1/webhooks/", 0, "/redeliver", path) &&
                post_document(invocation, path, body, true, &reply) &&
                invocation_write_record(invocation, reply.json, counted, COUNT(counted));
    if (good && json_is_true(json_object_get(reply.json, "more")))
        invocation_say(invocation, "There are more: repeat it once these have been delivered.");
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static int run_redeliver(struct invocation *invocation)
{
    char before[PATH_TEXT];
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    /* One that is empty is a mistake of a script: path_of_word says so. */
    if (invocation->arguments->n_positional < 2)
        return redeliver_all(invocation);
    static const char *const of_all[] = {"status", "since", "until"};
    for (size_t i = 0; i < COUNT(of_all); i++)
        if (argument_given(invocation->arguments, of_all[i])) {
            (void)fail(&invocation->failure, EXIT_USAGE,
                       "--%s selects among all deliveries, and DELIVERY is one of them", of_all[i]);
            return invocation_failed(invocation);
        }
    if (!path_of_word(invocation, "/v1/webhooks/", 0, "/deliveries/", before) ||
        !path_of_word(invocation, before, 1, "/redeliver", path))
        return invocation_failed(invocation);
    return post_for_delivery(invocation, path, "It is sent again.");
}

/* --- deleting --- */

static const struct option_spec delete_options[] = {OPTION_YES, OPTIONS_END};
static const struct option_group delete_group = {"Options", delete_options};

static int run_delete(struct invocation *invocation)
{
    if (!invocation_begin(invocation, 1U << FORM_TABLE))
        return invocation_failed(invocation);
    return delete_named(invocation, "/v1/webhooks/", "webhook");
}

/* --- tables --- */

#define ONE_WEBHOOK .positional = "WEBHOOK", .positional_min = 1, .positional_max = 1
#define EXAMPLE_ID "01a210ce-8c30-7732-99ba-b11b0a9d16ee"

static const struct command command_show = {.name = "show",
                                            .summary = "Show a webhook and how it fares.",
                                            ONE_WEBHOOK,
                                            .examples = "  provisor webhooks show " EXAMPLE_ID,
                                            .run = run_show};

static const struct command command_create = {
    .name = "create",
    .summary = "Create a webhook.",
    .description =
        "Takes the webhook from a file, JSON or YAML: url, events, and what else the call "
        "takes. Writes its secret to standard output, alone (with signature v1a: its "
        "public key), and everything else to standard error. The service does not show it again.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor webhooks create webhook.yaml > secret",
    .run = run_create};

static const struct command command_rotate = {
    .name = "rotate",
    .summary = "Replace the secret, or the key, of a webhook.",
    .description = "Writes the new one to standard output, alone.",
    ONE_WEBHOOK,
    .examples = "  provisor webhooks rotate " EXAMPLE_ID " --overlap 1h > secret",
    .groups = {&rotate_group},
    .run = run_rotate};

static const struct command command_ping = {.name = "ping",
                                            .summary = "Send a test event to a webhook.",
                                            ONE_WEBHOOK,
                                            .examples = "  provisor webhooks ping " EXAMPLE_ID,
                                            .run = run_ping};

static const struct command command_deliveries = {
    .name = "deliveries",
    .summary = "List deliveries of a webhook, newest first.",
    ONE_WEBHOOK,
    .examples = "  provisor webhooks deliveries " EXAMPLE_ID " --status dead",
    .groups = {&deliveries_group},
    .run = run_deliveries};

static const struct command command_attempts = {
    .name = "attempts",
    .summary = "List the attempts of a delivery, oldest first.",
    .positional = "WEBHOOK DELIVERY",
    .positional_min = 2,
    .positional_max = 2,
    .examples = "  provisor webhooks attempts " EXAMPLE_ID " $delivery",
    .run = run_attempts};

static const struct command command_update = {
    .name = "update",
    .summary = "Change a webhook.",
    .description = "Takes the members to change from a file, JSON or YAML; all others stay.",
    .positional = "WEBHOOK FILE",
    .positional_min = 2,
    .positional_max = 2,
    .examples = "  provisor webhooks update " EXAMPLE_ID " change.yaml",
    .run = run_update};

static const struct command command_enable = {.name = "enable",
                                              .summary = "Enable a webhook, and end its pause.",
                                              ONE_WEBHOOK,
                                              .examples = "  provisor webhooks enable " EXAMPLE_ID,
                                              .run = run_enable};

static const struct command command_disable = {
    .name = "disable",
    .summary = "Disable a webhook.",
    .description = "Deliveries that wait are dead then, and can be sent again once it is enabled.",
    ONE_WEBHOOK,
    .examples = "  provisor webhooks disable " EXAMPLE_ID,
    .run = run_disable};

static const struct command command_redeliver = {
    .name = "redeliver",
    .summary = "Send deliveries of a webhook again: one, or all that are dead.",
    .positional = "WEBHOOK [DELIVERY]",
    .positional_min = 1,
    .positional_max = 2,
    .examples = "  provisor webhooks redeliver " EXAMPLE_ID " --since 1d",
    .groups = {&redeliver_group},
    .run = run_redeliver};

static const struct command command_delete = {.name = "delete",
                                              .summary = "Delete a webhook and its deliveries.",
                                              ONE_WEBHOOK,
                                              .examples =
                                                  "  provisor webhooks delete " EXAMPLE_ID " --yes",
                                              .groups = {&delete_group},
                                              .run = run_delete};

static const struct command *const subcommands[] = {
    &command_show,     &command_create,    &command_update, &command_enable,
    &command_disable,  &command_rotate,    &command_ping,   &command_deliveries,
    &command_attempts, &command_redeliver, &command_delete, NULL};

const struct command command_webhooks = {
    .name = "webhooks",
    .summary = "List the webhooks of your team.",
    .description = "Where the service sends events. Your token needs the scope admin.",
    .examples = "  provisor webhooks\n"
                "  provisor webhooks -o json",
    .groups = {&list_group},
    .subcommands = subcommands,
    .run = run};
