#ifndef CLI_COMMANDS_REGISTERED_H
#define CLI_COMMANDS_REGISTERED_H

#include "cli/commands/invocation.h"

/* What has a name and versions: clusters and price books. */
struct registered {
    const char *collection; /* "/v1/clusters/" */
    const char *noun;       /* "cluster" */
    const struct column *columns;
    size_t n_columns;
    const char *const *read_only; /* members of replies that a PUT does not take; ended by NULL */
};

/* GET of the one that word 0 names, for people with a member "etag" besides. The reply, and a record
 * to show; false: recorded. */
bool registered_get(struct invocation *invocation,
                    const struct registered *kind,
                    struct remote_reply *reply,
                    json_t **shown);

/* PUT of a body under the name of word 0. Says whether it was made or replaced. */
int registered_put(struct invocation *invocation,
                   const struct registered *kind,
                   const char *text,
                   size_t n_text,
                   const char *content_type,
                   const struct remote_parameter *query);

/* The same with the document in a file, JSON or YAML; members of replies that cannot be written are
 * left out, so that what `show -o json` wrote can be put back. */
int registered_put_document(struct invocation *invocation,
                            const struct registered *kind,
                            const char *file);

/* DELETE with --yes. */
int registered_delete(struct invocation *invocation, const struct registered *kind);

#define OPTION_IF_MATCH                                                                            \
    {                                                                                              \
        "if-match", 0, OPTION_TEXT, "ETAG",                                                        \
            "Only if it still has this version, as `show` prints it.", false                       \
    }
#define OPTION_CREATE                                                                              \
    {                                                                                              \
        "create", 0, OPTION_FLAG, NULL, "Only if there is none of this name yet.", false           \
    }

#endif
