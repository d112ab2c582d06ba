#include "cli/commands/registered.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands/query.h"

bool registered_get(struct invocation *invocation,
                    const struct registered *kind,
                    struct remote_reply *reply,
                    json_t **shown)
{
    char path[PATH_TEXT];
    *reply = (struct remote_reply){.status = 0};
    if (!path_of_word(invocation, kind->collection, 0, "", path))
        return false;
    struct remote_request request = {.method = "GET", .path = path};
    if (!remote_call(invocation->remote, &request, reply, &invocation->failure))
        return false;
    *shown = json_copy(reply->json);
    if (reply->etag[0] != '\0')
        (void)json_object_set_new(*shown, "etag", json_string(reply->etag));
    return true;
}

static void say_outcome(const struct invocation *invocation,
                        const struct registered *kind,
                        const struct remote_reply *reply)
{
    const char *name = invocation_word(invocation, 0);
    bool guarded = argument_given(invocation->arguments, "if-match");
    if (reply->status == 201)
        invocation_say(invocation, "Made the %s %s.", kind->noun, name);
    else
        invocation_say(invocation, "Replaced the %s %s%s.", kind->noun, name,
                       guarded ? "" : ", whatever its version was (--if-match guards it)");
    if (reply->etag[0] != '\0')
        invocation_say(invocation, "Its ETag is now %s.", reply->etag);
}

int registered_put(struct invocation *invocation,
                   const struct registered *kind,
                   const char *text,
                   size_t n_text,
                   const char *content_type,
                   const struct remote_parameter *query)
{
    char path[PATH_TEXT];
    const struct arguments *arguments = invocation->arguments;
    if (!path_of_word(invocation, kind->collection, 0, "", path))
        return invocation_failed(invocation);
    struct remote_request request = {.method = "PUT",
                                     .path = path,
                                     .query = query,
                                     .text = text,
                                     .n_text = n_text,
                                     .content_type = content_type,
                                     .if_match = argument_text(arguments, "if-match"),
                                     .if_none_match =
                                         argument_given(arguments, "create") ? "*" : NULL};
    struct remote_reply reply = {.status = 0};
    bool good = remote_call(invocation->remote, &request, &reply, &invocation->failure) &&
                invocation_write_record(invocation, reply.json, kind->columns, kind->n_columns);
    if (good)
        say_outcome(invocation, kind, &reply);
    else if (reply.status == 412)
        (void)fail_next(&invocation->failure, "`show` prints the version that is there now");
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

int registered_put_document(struct invocation *invocation,
                            const struct registered *kind,
                            const char *file)
{
    json_t *document = invocation_read_document(invocation, file);
    if (document == NULL)
        return invocation_failed(invocation);
    for (const char *const *member = kind->read_only; *member != NULL; member++)
        (void)json_object_del(document, *member);
    char *text = json_dumps(document, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(document);
    if (text == NULL) {
        (void)fail_memory(&invocation->failure);
        return invocation_failed(invocation);
    }
    int status = registered_put(invocation, kind, text, strlen(text), NULL, NULL);
    free(text);
    return status;
}

int registered_delete(struct invocation *invocation, const struct registered *kind)
{
    return delete_named(invocation, kind->collection, kind->noun);
}
