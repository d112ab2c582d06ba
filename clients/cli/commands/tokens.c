#include <string.h>

#include "base/instant.h"
#include "base/plural.h"
#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "threads/clock.h"

enum { TOKENS_LIMIT = 50 };

static const struct column columns[] = {
    {"name", "name", CELL_TEXT, NULL},
    {"state", "state", CELL_VERDICT, NULL},
    {"scopes", "scopes", CELL_ID, NULL},
    {"id", "id", CELL_ID, NULL},
    {"expires", "expires_at", CELL_MINUTE, NULL},
    {"last used", "last_used_at", CELL_MINUTE, NULL},
    {"revoked", "revoked_at", CELL_MINUTE, NULL},
    {"team", "team", CELL_TEXT, NULL},
    {"created", "created_at", CELL_MINUTE, NULL},
};

static const struct option_spec list_options[] = {OPTION_LIMIT, OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

/* "revoked", "expired", "ends in 5 days", or "" of a token that works for longer than that. */
static void describe_state(const json_t *token, int64_t now_us, char *out, size_t room)
{
    enum { SOON_DAYS = 14 };
    const int64_t day_us = 86400000000;
    int64_t expires_us;
    out[0] = '\0';
    if (json_text_at(token, "revoked_at", NULL) != NULL) {
        (void)snprintf(out, room, "revoked");
        return;
    }
    if (!instant_parse(json_text_at(token, "expires_at", ""), &expires_us))
        return;
    int64_t days = (expires_us - now_us) / day_us;
    if (expires_us <= now_us)
        (void)snprintf(out, room, "expired");
    else if (days == 0)
        (void)snprintf(out, room, "ends in less than a day");
    else if (days < SOON_DAYS)
        (void)snprintf(out, room, "ends in %d day%s", (int)days, PLURAL(days));
}

struct token_list {
    json_t *items; /* with their state */
    const json_t *all;
};

static bool write_tokens(FILE *out,
                         enum output_form form,
                         const struct terminal *terminal,
                         void *context,
                         struct failure *failure)
{
    const struct token_list *list = context;
    return table_write_list(out, form, terminal, list->items, columns, COUNT(columns), list->all,
                            failure);
}

static int run(struct invocation *invocation)
{
    static struct query query;
    bool more;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    json_t *all = query_items(&query, "/v1/tokens", TOKENS_LIMIT, &more);
    if (all == NULL)
        return invocation_failed(invocation);
    struct token_list list = {json_deep_copy(all), all};
    size_t i;
    json_t *token;
    json_array_foreach(list.items, i, token)
    {
        char state[32];
        describe_state(token, clock_wall_us(), state, sizeof state);
        (void)json_object_set_new(token, "state", json_string(state));
    }
    bool good = outputs_write(&invocation->outputs, write_tokens, &list, &invocation->failure);
    if (good && more)
        invocation_say(invocation, "There are more tokens: --limit shows more.");
    json_decref(list.items);
    json_decref(all);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- create --- */

static const struct option_spec create_options[] = {
    {"name", 0, OPTION_TEXT, NULL, "What it is for; shown wherever it was used.", false},
    {"scopes", 0, OPTION_TEXT, "read,write,admin", "What it may, separated by commas.", false},
    {"expires", 0, OPTION_TEXT, "WHEN", "90d for in ninety days, or an instant; never without it.",
     false},
    {"team", 0, OPTION_TEXT, "NAME", "Of another team; only the operators' team may.", false},
    OPTIONS_END};
static const struct option_group create_group = {"Options", create_options};

static json_t *split(const char *text)
{
    json_t *list = json_array();
    for (;;) {
        size_t n = strcspn(text, ",");
        (void)json_array_append_new(list, json_stringn(text, n));
        if (text[n] == '\0')
            return list;
        text += n + 1;
    }
}

static json_t *create_request(struct invocation *invocation)
{
    const struct arguments *arguments = invocation->arguments;
    const char *name = argument_text(arguments, "name");
    const char *scopes = argument_text(arguments, "scopes");
    const char *expires = argument_text(arguments, "expires");
    const char *team = argument_text(arguments, "team");
    char instant[QUERY_TEXT];
    if (name == NULL || scopes == NULL) {
        (void)fail(&invocation->failure, EXIT_USAGE, "a new token needs --%s",
                   name == NULL ? "name" : "scopes");
        return NULL;
    }
    if (expires != NULL && !read_instant(invocation, "expires", expires, true, instant))
        return NULL;
    json_t *body = json_pack("{s:s, s:o}", "name", name, "scopes", split(scopes));
    if (expires != NULL)
        (void)json_object_set_new(body, "expires_at", json_string(instant));
    if (team != NULL)
        (void)json_object_set_new(body, "team", json_string(team));
    return body;
}

/* For people the token alone: what else there is to say goes to standard error. */
static bool write_token(FILE *out,
                        enum output_form form,
                        const struct terminal *terminal,
                        void *context,
                        struct failure *failure)
{
    const json_t *token = context;
    if (form != FORM_TABLE)
        return table_write_record(out, form, terminal, token, columns, COUNT(columns), token,
                                  failure);
    fprintf(out, "%s\n", json_text_at(token, "token", ""));
    return true;
}

static int run_create(struct invocation *invocation)
{
    struct remote_reply reply = {.status = 0};
    if (!invocation_begin(invocation, 1U << FORM_TABLE | 1U << FORM_JSON | 1U << FORM_YAML))
        return invocation_failed(invocation);
    json_t *body = create_request(invocation);
    if (body == NULL)
        return invocation_failed(invocation);
    bool good = post_document(invocation, "/v1/tokens", body, true, &reply);
    if (good) {
        const char *expires = json_text_at(reply.json, "expires_at", NULL);
        invocation_say(invocation,
                       "Created the token %s of team %s, which %s%s. It is shown this once.\n"
                       "`provisor tokens revoke %s` revokes it.",
                       json_text_at(reply.json, "name", ""), json_text_at(reply.json, "team", ""),
                       expires == NULL ? "does not expire" : "expires at ",
                       expires == NULL ? "" : expires, json_text_at(reply.json, "id", ""));
        good = outputs_write(&invocation->outputs, write_token, reply.json, &invocation->failure);
    }
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static int run_revoke(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, 1U << FORM_TABLE) ||
        !path_of_word(invocation, "/v1/tokens/", 0, "", path))
        return invocation_failed(invocation);
    struct remote_request request = {.method = "DELETE", .path = path};
    struct remote_reply reply = {.status = 0};
    bool good = remote_call(invocation->remote, &request, &reply, &invocation->failure);
    remote_reply_clear(&reply);
    if (good)
        invocation_say(invocation, "Revoked. It stops working within 5 seconds.");
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static const struct command command_create = {
    .name = "create",
    .summary = "Create a token.",
    .description =
        "Writes the token to standard output, alone, and everything else to standard error. The "
        "service does not show it again. Your own token needs the scope admin.",
    .examples = "  provisor tokens create --name ci --scopes read,write --expires 90d > token\n"
                "  provisor tokens create --name dashboard --scopes read",
    .groups = {&create_group},
    .run = run_create};

static const struct command command_revoke = {
    .name = "revoke",
    .summary = "Revoke a token.",
    .positional = "TOKEN",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor tokens revoke 01a210ce-8c30-7732-99ba-b11b0a9d16ee",
    .run = run_revoke};

static const struct command *const subcommands[] = {&command_create, &command_revoke, NULL};

const struct command command_tokens = {
    .name = "tokens",
    .summary = "List the tokens of your team.",
    .description = "Lists tokens with their scopes, expiry and last use; never the tokens "
                   "themselves. The state marks tokens that are revoked, that have expired, and "
                   "that end within 14 days. Your own token needs the scope admin.",
    .examples = "  provisor tokens\n"
                "  provisor tokens -o csv",
    .groups = {&list_group},
    .subcommands = subcommands,
    .run = run};
