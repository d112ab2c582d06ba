#include "cli/commands/one_call.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands/findings.h"
#include "cli/commands/operation.h"
#include "cli/commands/query.h"

enum { ITEMS_SHOWN = 50 };

static const struct option_spec list_options[] = {OPTION_LIMIT, OPTIONS_END};
const struct option_group one_call_list_options = {"Options", list_options};

static const struct option_spec delete_options[] = {OPTION_YES, OPTIONS_END};
const struct option_group one_call_delete_options = {"Options", delete_options};

/* --- the reply --- */

/* Rows of an object by name. NULL where there is none. */
static json_t *rows_by_key(const json_t *object, const char *key)
{
    const char *name;
    json_t *value;
    json_t *rows = json_is_object(object) ? json_array() : NULL;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        json_t *row = json_is_object(value) ? json_copy(value) : json_pack("{s:O}", "value", value);
        (void)json_object_set_new(row, key, json_string(name));
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

static struct section section_of(const struct call_part *part, const json_t *reply, json_t *made)
{
    const json_t *value = part->path[0] == '\0' ? reply : json_at(reply, part->path);
    if (part->key != NULL) {
        json_t *rows = rows_by_key(value, part->key);
        value = rows;
        (void)json_array_append_new(made, rows);
    }
    return (struct section){.title = part->title,
                            .value = value,
                            .columns = part->columns,
                            .n_columns = part->n_columns};
}

static bool
write_reply(struct invocation *invocation, const struct one_call *call, const json_t *reply)
{
    struct section sections[CALL_PARTS_MAX + 2];
    json_t *made = json_array();
    size_t n = 0;
    while (n < CALL_PARTS_MAX && call->parts[n].columns != NULL) {
        sections[n] = section_of(&call->parts[n], reply, made);
        n++;
    }
    sections[n++] = findings_reasons(reply);
    sections[n++] = findings_warnings(reply);
    const bool good = invocation_write_report(invocation, sections, n, reply);
    json_decref(made);
    return good;
}

/* Long work is an operation, whose result is the reply. */
static bool
write_operation(struct invocation *invocation, const struct one_call *call, const json_t *begun)
{
    json_t *operation = operation_follow(invocation, json_text_at(begun, "id", ""));
    const bool good = operation != NULL && operation_outcome(invocation, operation) == EXIT_DONE &&
                      write_reply(invocation, call, json_object_get(operation, "result"));
    json_decref(operation);
    return good;
}

/* --- the request --- */

static bool make_path(struct invocation *invocation, const char *template, char path[PATH_TEXT])
{
    const char *hole = strstr(template, "{}");
    char before[PATH_TEXT];
    if (hole == NULL) {
        (void)snprintf(path, PATH_TEXT, "%s", template);
        return true;
    }
    (void)snprintf(before, sizeof before, "%.*s", (int)(hole - template), template);
    return path_of_word(invocation, before, 0, hole + 2, path);
}

/* The body as text, NULL without one; free it. False: recorded. */
static bool read_body(struct invocation *invocation, const struct one_call *call, char **text)
{
    *text = NULL;
    if (!call->has_file)
        return true;
    const size_t last = invocation->arguments->n_positional - 1;
    json_t *document = invocation_read_document(invocation, invocation_word(invocation, last));
    if (document != NULL && call->prepare != NULL) {
        json_t *prepared = call->prepare(invocation, document);
        json_decref(document);
        document = prepared;
    }
    if (document == NULL)
        return false;
    for (size_t i = 0; call->read_only != NULL && call->read_only[i] != NULL; i++)
        (void)json_object_del(document, call->read_only[i]);
    *text = json_dumps(document, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(document);
    return *text != NULL || fail_memory(&invocation->failure);
}

static bool ask(struct invocation *invocation, const struct one_call *call, const char *path)
{
    char *text;
    struct remote_reply reply = {.status = 0};
    if (!read_body(invocation, call, &text))
        return false;
    const struct remote_request request = {.method = call->method,
                                           .path = path,
                                           .text = text,
                                           .n_text = text == NULL ? 0 : strlen(text),
                                           .once = call->once};
    bool good = remote_call(invocation->remote, &request, &reply, &invocation->failure);
    free(text);
    if (good && reply.status == 202)
        good = write_operation(invocation, call, reply.json);
    else if (good && reply.json != NULL)
        good = write_reply(invocation, call, reply.json);
    remote_reply_clear(&reply);
    return good;
}

static int list(struct invocation *invocation, const struct one_call *call)
{
    static struct query query;
    query_begin(&query, invocation);
    return query_list(&query, call->path, ITEMS_SHOWN, call->noun, call->parts[0].columns,
                      call->parts[0].n_columns);
}

/* DELETE of what a word names, or of the one thing that the path names. */
static int delete (struct invocation *invocation, const struct one_call *call, const char *path)
{
    char what[PATH_TEXT];
    (void)snprintf(what, sizeof what, "the %.40s%s%.900s", call->noun,
                   invocation->arguments->n_positional > 0 ? " " : "",
                   invocation_word(invocation, 0));
    if (!invocation_confirmed(invocation, what))
        return invocation_failed(invocation);
    return delete_path(invocation, path, what);
}

int one_call_run(struct invocation *invocation)
{
    const struct arguments *arguments = invocation->arguments;
    const struct one_call *call = arguments->path[arguments->depth - 1]->context;
    const bool deletes = strcmp(call->method, "DELETE") == 0;
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, deletes ? 1U << FORM_TABLE : FORMS_OF_TABLES))
        return invocation_failed(invocation);
    if (call->is_list)
        return list(invocation, call);
    if (!make_path(invocation, call->path, path))
        return invocation_failed(invocation);
    if (deletes)
        return delete (invocation, call, path);
    return ask(invocation, call, path) ? EXIT_DONE : invocation_failed(invocation);
}
