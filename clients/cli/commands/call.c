#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/commands/commands.h"
#include "cli/commands/contract_calls.h"
#include "cli/commands/file_body.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "threads/clock.h"

/* `call`: any call of the contract, by its operation, with parameters and a file as its body. */

static const struct option_spec options[] = {
    {"file", 0, OPTION_FILE, NULL, "The body; - is standard input.", false},
    {"content-type", 0, OPTION_TEXT, "TYPE",
     "The media type of the body, if the call takes several; the first one without it.", false},
    {"list", 0, OPTION_FLAG, NULL, "List the calls, with the command that makes each.", false},
    {"yes", 0, OPTION_FLAG, NULL, "Really delete, if the call deletes.", false},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

/* --- which call --- */

static int list_calls(struct invocation *invocation)
{
    static const struct column columns[] = {{"operation", "operation", CELL_NAME, NULL},
                                            {"method", "method", CELL_TEXT, NULL},
                                            {"path", "path", CELL_NAME, NULL},
                                            {"command", "command", CELL_NAME, NULL},
                                            {"what it does", "summary", CELL_TEXT, NULL}};
    json_t *items = json_array();
    for (const struct contract_call *call = contract_calls; call->operation != NULL; call++)
        (void)json_array_append_new(
            items, json_pack("{s:s, s:s, s:s, s:s?, s:s}", "operation", call->operation, "method",
                             call->method, "path", call->path, "command",
                             command_of_call(call->operation), "summary", call->summary));
    const bool good = invocation_write_list(invocation, items, columns, COUNT(columns));
    json_decref(items);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* NULL: recorded. */
static const struct contract_call *find_call(struct invocation *invocation)
{
    const char *operation = invocation_word(invocation, 0);
    struct nearest nearest = {.word = NULL};
    for (const struct contract_call *call = contract_calls; call->operation != NULL; call++) {
        if (strcmp(call->operation, operation) == 0)
            return call;
        nearest_try(&nearest, operation, call->operation);
    }
    (void)fail(&invocation->failure, EXIT_USAGE, "the service has no call '%.60s'", operation);
    if (nearest.word != NULL)
        (void)fail_next(&invocation->failure, "did you mean %s?", nearest.word);
    else
        (void)fail_next(&invocation->failure, "`provisor call --list` lists them");
    return NULL;
}

/* --- parameters --- */

/* The value of PARAMETER=VALUE among the words; NULL: none has that name. */
static const char *value_of(const struct arguments *arguments, const char *name, size_t n)
{
    for (size_t i = 1; i < arguments->n_positional; i++) {
        const char *word = arguments->positional[i];
        if (strncmp(word, name, n) == 0 && word[n] == '=')
            return word + n + 1;
    }
    return NULL;
}

/* The place of a parameter, "path", in the table's "name:path ..."; NULL: it has none such. */
static const char *place_of(const char *parameters, const char *name, size_t n)
{
    for (const char *at = parameters; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, n) == 0 && at[n] == ':')
            return at + n + 1;
    return NULL;
}

static bool is_at(const char *place, const char *wanted)
{
    return place != NULL && strncmp(place, wanted, strlen(wanted)) == 0;
}

/* A value may become a line of the request's head, which a line end would split. */
static bool has_control_character(const char *text)
{
    while ((unsigned char)*text >= ' ' && *text != 0x7f)
        text++;
    return *text != '\0';
}

static bool check_words(struct invocation *invocation, const struct contract_call *call)
{
    const struct arguments *arguments = invocation->arguments;
    for (size_t i = 1; i < arguments->n_positional; i++) {
        const char *word = arguments->positional[i];
        const size_t n = strcspn(word, "=");
        const char *place = place_of(call->parameters, word, n);
        if (is_at(place, "header") && has_control_character(word))
            return fail(&invocation->failure, EXIT_USAGE,
                        "the value of %.*s must not hold control characters", (int)n, word);
        if (word[n] == '=' && place != NULL && !is_at(place, "query") &&
            value_of(arguments, word, n) != word + n + 1)
            return fail(&invocation->failure, EXIT_USAGE, "%.*s is given twice", (int)n, word);
        if (word[n] == '=' && place != NULL)
            continue;
        (void)fail(&invocation->failure, EXIT_USAGE, "'%.60s' is not a PARAMETER=VALUE of %s", word,
                   call->operation);
        return fail_next(&invocation->failure, "its parameters are: %s",
                         call->parameters[0] == '\0' ? "none" : call->parameters);
    }
    return true;
}

/* One part of the path, up to the closing brace at `end`. False: recorded. */
static bool fill_hole(struct invocation *invocation, const char *open, const char *end, char *path)
{
    const size_t n = (size_t)(end - open - 1);
    const char *value = value_of(invocation->arguments, open + 1, n);
    char *segment = NULL;
    if (value == NULL || value[0] == '\0')
        return fail(&invocation->failure, EXIT_USAGE, "%s needs %.*s=VALUE",
                    invocation_word(invocation, 0), (int)n, open + 1);
    segment = remote_segment(invocation->remote, value);
    if (segment == NULL)
        return fail_memory(&invocation->failure);
    const size_t at = strlen(path);
    const bool fits = at + strlen(segment) < PATH_TEXT;
    if (fits)
        (void)snprintf(path + at, PATH_TEXT - at, "%s", segment);
    free(segment);
    return fits || fail(&invocation->failure, EXIT_USAGE, "the parameters are too long");
}

static bool
make_path(struct invocation *invocation, const struct contract_call *call, char path[PATH_TEXT])
{
    path[0] = '\0';
    for (const char *at = call->path; *at != '\0';) {
        const size_t n = strcspn(at, "{");
        const size_t written = strlen(path);
        (void)snprintf(path + written, PATH_TEXT - written, "%.*s", (int)n, at);
        at += n;
        if (*at == '\0')
            break;
        const char *end = strchr(at, '}');
        if (!fill_hole(invocation, at, end, path))
            return false;
        at = end + 1;
    }
    return true;
}

/* Words of the query. Their names are kept in `names`, which has room for all of them. */
static void add_query(struct query *query, const struct contract_call *call, char (*names)[64])
{
    const struct arguments *arguments = query->invocation->arguments;
    for (size_t i = 1; i < arguments->n_positional; i++) {
        const char *word = arguments->positional[i];
        const size_t n = strcspn(word, "=");
        if (!is_at(place_of(call->parameters, word, n), "query") || query->n == QUERY_ITEMS_MAX)
            continue;
        (void)snprintf(names[query->n], sizeof names[0], "%.*s", (int)n, word);
        query_add(query, names[query->n], word + n + 1);
    }
}

/* Header fields that a request has members for. A call that takes a key gets one of its own. */
static void add_headers(const struct arguments *arguments,
                        const struct contract_call *call,
                        char key[40],
                        struct remote_request *request)
{
    static const char idempotency[] = "Idempotency-Key";
    const struct {
        const char *name;
        const char **member;
    } fields[] = {{"If-Match", &request->if_match},
                  {"If-None-Match", &request->if_none_match},
                  {"Prefer", &request->prefer},
                  {"X-Log-Source", &request->log_source},
                  {idempotency, &request->idempotency_key}};
    for (size_t i = 0; i < COUNT(fields); i++)
        *fields[i].member = value_of(arguments, fields[i].name, strlen(fields[i].name));
    if (request->idempotency_key == NULL &&
        place_of(call->parameters, idempotency, strlen(idempotency)) != NULL) {
        char made[37];
        clock_uuid7(made);
        (void)snprintf(key, 40, "\"%s\"", made);
        request->idempotency_key = key;
    }
    request->once = strcmp(call->method, "POST") == 0 && request->idempotency_key == NULL;
}

/* --- the body --- */

/* The media type of the body, "" where the call has none. False: recorded. */
static bool
choose_type(struct invocation *invocation, const struct contract_call *call, char type[128])
{
    const char *asked = argument_text(invocation->arguments, "content-type");
    const char *file = argument_text(invocation->arguments, "file");
    (void)snprintf(type, 128, "%.*s", (int)strcspn(call->bodies, " "), call->bodies);
    if (asked != NULL)
        (void)snprintf(type, 128, "%s", asked);
    if (file != NULL && call->bodies[0] == '\0')
        return fail(&invocation->failure, EXIT_USAGE, "--file: %s takes no body", call->operation);
    return asked == NULL || strstr(call->bodies, asked) != NULL ||
           fail(&invocation->failure, EXIT_USAGE, "--content-type: %s takes %s", call->operation,
                call->bodies);
}

/* --- the call --- */

static bool write_bytes(void *context, const void *bytes, size_t n, struct failure *failure)
{
    (void)context;
    return fwrite(bytes, 1, n, stdout) == n ||
           fail(failure, EXIT_FAILED, "standard output cannot be written");
}

static bool write_value(FILE *out,
                        enum output_form form,
                        const struct terminal *terminal,
                        void *context,
                        struct failure *failure)
{
    (void)terminal;
    return form == FORM_YAML ? yaml_text_write(out, context, failure)
                             : json_text_write(out, context, failure);
}

/* JSON in the form asked for, which may be a table of nothing else; other replies are written as they
 * are. */
static bool send(struct invocation *invocation, const struct remote_request *request)
{
    struct remote_reply reply = {.status = 0};
    bool good = remote_call(invocation->remote, request, &reply, &invocation->failure);
    if (good && reply.json != NULL)
        good = outputs_write(&invocation->outputs, write_value, reply.json, &invocation->failure);
    else if (good && request->sink == NULL && reply.n > 0)
        good = write_bytes(NULL, reply.text, reply.n, &invocation->failure);
    remote_reply_clear(&reply);
    return good;
}

static bool send_file(struct invocation *invocation, struct remote_request *request)
{
    const char *file = argument_text(invocation->arguments, "file");
    struct file_body body;
    if (file == NULL)
        return send(invocation, request);
    if (strcmp(request->content_type, "application/json") == 0) {
        json_t *document = invocation_read_document(invocation, file);
        char *text = document == NULL ? NULL : json_dumps(document, JSON_COMPACT | JSON_ENCODE_ANY);
        request->text = text;
        request->n_text = text == NULL ? 0 : strlen(text);
        const bool good = text != NULL && send(invocation, request);
        json_decref(document);
        free(text);
        return good;
    }
    const bool opened = file_body_open(invocation, file, &body);
    request->body = &body.body;
    const bool good = opened && send(invocation, request);
    file_body_close(&body);
    return good;
}

static bool make_call(struct invocation *invocation, const struct contract_call *call)
{
    static struct query query;
    static char names[QUERY_ITEMS_MAX][64];
    char path[PATH_TEXT], type[128], accept[512], key[40];
    if (!check_words(invocation, call) || !make_path(invocation, call, path) ||
        !choose_type(invocation, call, type))
        return false;
    if (strcmp(call->method, "DELETE") == 0 && !invocation_confirmed(invocation, path))
        return false;
    query_begin(&query, invocation);
    add_query(&query, call, names);
    const bool json = strstr(call->replies, "application/json") != NULL;
    (void)snprintf(accept, sizeof accept, "%s%sapplication/problem+json", call->replies,
                   call->replies[0] == '\0' ? "" : ", ");
    struct remote_request request = {.method = call->method,
                                     .path = path,
                                     .query = query.n == 0 ? NULL : query.items,
                                     .content_type = type,
                                     .accept = json ? NULL : accept,
                                     .sink = json ? NULL : write_bytes};
    add_headers(invocation->arguments, call, key, &request);
    return send_file(invocation, &request);
}

static int run(struct invocation *invocation)
{
    enum { FORMS = 1U << FORM_TABLE | 1U << FORM_JSON | 1U << FORM_YAML };
    const bool lists = argument_given(invocation->arguments, "list");
    if (!lists && invocation->arguments->n_positional == 0) {
        (void)fail(&invocation->failure, EXIT_USAGE, "provisor call needs an operation");
        (void)fail_next(&invocation->failure, "`provisor call --list` lists them");
        return invocation_failed(invocation);
    }
    if (lists)
        return outputs_read(invocation->arguments, FORMS_OF_TABLES, &invocation->outputs,
                            &invocation->failure)
                   ? list_calls(invocation)
                   : invocation_failed(invocation);
    const struct contract_call *call = find_call(invocation);
    if (call == NULL || !invocation_begin(invocation, FORMS) || !make_call(invocation, call))
        return invocation_failed(invocation);
    return EXIT_DONE;
}

const struct command command_call = {
    .name = "call",
    .summary = "Make any call of the service.",
    .description =
        "Makes the call that the contract names so, such as getAdvice. Parameters of the path, the "
        "query and the header are given as PARAMETER=VALUE, the body in a file. A JSON reply is "
        "written as JSON, or with -o yaml as YAML; other replies are written unchanged. A list is "
        "one page. --list shows all calls, and which command makes each.",
    .positional = "[CALL] [PARAMETER=VALUE...]",
    .positional_max = QUERY_ITEMS_MAX,
    .examples = "  provisor call --list\n"
                "  provisor call listAdvice limit=5\n"
                "  provisor call getAdvice id=01a210ce-8c30-7732-99ba-b11b0a9d16ee -o yaml\n"
                "  provisor call updateApplication name=nightly-etl --file application.yaml",
    .groups = {&group},
    .words = contract_call_words,
    .run = run};
