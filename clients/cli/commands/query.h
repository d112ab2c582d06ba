#ifndef CLI_COMMANDS_QUERY_H
#define CLI_COMMANDS_QUERY_H

#include "cli/commands/invocation.h"

/* The query of a request, put together from the options of a command. */
enum { QUERY_ITEMS_MAX = 64, QUERY_TEXTS_MAX = 8, QUERY_TEXT = 2048 };

struct query {
    struct remote_parameter items[QUERY_ITEMS_MAX + 1]; /* ended by a NULL name */
    size_t n;
    char texts[QUERY_TEXTS_MAX][QUERY_TEXT]; /* of values that were made */
    size_t n_texts;
    struct invocation *invocation;
    bool failed; /* recorded */
};

void query_begin(struct query *query, struct invocation *invocation);

/* value NULL: left out. */
void query_add(struct query *query, const char *name, const char *value);

/* The value of an option, if it was given; a repeated one as often. */
void query_option(struct query *query, const char *option, const char *name);

/* An option that is an instant (2026-01-05, 2026-01-05T10:00:00Z) or a time ago (7d). */
void query_instant(struct query *query, const char *option, const char *name);

/* An option that is a size, in blocks; and one that is several of them, separated by commas. */
void query_size(struct query *query, const char *option, const char *name);
void query_sizes(struct query *query, const char *option, const char *name);

/* An instant as query_instant reads it, in RFC 3339; ahead: a duration counts from now on. False:
 * recorded, with the option's name. */
bool read_instant(struct invocation *invocation,
                  const char *option,
                  const char *text,
                  bool ahead,
                  char out[QUERY_TEXT]);

/*
 * The items of a collection in the form asked for; at most --limit of them (`fallback` without it,
 * 0: all). That there are more is said on standard error. what: "applications".
 */
int query_list(struct query *query,
               const char *path,
               size_t fallback,
               const char *what,
               const struct column columns[],
               size_t n_columns);

/* Their ids alone, one a line. */
int query_ids(struct query *query, const char *path, size_t fallback);

/* The items alone; *more: there are more than --limit. NULL: recorded. */
json_t *query_items(struct query *query, const char *path, size_t fallback, bool *more);

/* The first page of a collection with members of its own, extended by the items of the pages behind
 * it, at most --limit; next_cursor is that of the last one. */
json_t *query_pages(struct query *query, const char *path, size_t fallback);

enum { PATH_TEXT = 1024 };

/* The path that names what word number `index` says, between before and after; an empty word is
 * EXIT_USAGE. */
bool path_of_word(struct invocation *invocation,
                  const char *before,
                  size_t index,
                  const char *after,
                  char out[PATH_TEXT]);

/* A copy of items whose `problem_size` (in their member `within`; NULL: in themselves) has the unit by
 * which the application of word 0 measures sizes, for cells of sizes; people only. Free it. */
json_t *rows_with_size_unit(struct invocation *invocation, const json_t *items, const char *within);

/* POST of a document, which is freed; once: a repetition would do it twice. False: recorded. Free the
 * reply with remote_reply_clear in any case. */
bool post_document(struct invocation *invocation,
                   const char *path,
                   json_t *document,
                   bool once,
                   struct remote_reply *reply);

/* After a refused document: if the service does not know the member at `pointer`, the failure names the
 * command whose files have it. */
void name_command_of_member(struct invocation *invocation,
                            const struct remote_reply *reply,
                            const char *pointer,
                            const char *command);

/* Likewise PATCH, of members that may be set twice. */
bool patch_document(struct invocation *invocation,
                    const char *path,
                    json_t *document,
                    struct remote_reply *reply);

/* DELETE of the one of a collection, such as "/v1/webhooks/", that word 0 names, once it is confirmed;
 * noun: what it is called. */
int delete_named(struct invocation *invocation, const char *collection, const char *noun);

/* DELETE of a path, with --if-match where the command has it; what is said on success. */
int delete_path(struct invocation *invocation, const char *path, const char *what);

/* --limit, and --label, --since and --until, as most lists have them. */
#define OPTION_LIMIT                                                                               \
    {                                                                                              \
        "limit", 0, OPTION_COUNT, NULL, "At most so many; 50 without it.", false                   \
    }
#define OPTION_IDS                                                                                 \
    {                                                                                              \
        "ids", 0, OPTION_FLAG, NULL, "The ids alone, one a line.", false                           \
    }
#define OPTION_LABEL                                                                               \
    {                                                                                              \
        "label", 0, OPTION_TEXT, "KEY:VALUE", "Only those with this label; may be repeated.", true \
    }
#define OPTION_SINCE                                                                               \
    {                                                                                              \
        "since", 0, OPTION_TEXT, "WHEN",                                                           \
            "From then on: 2026-01-05, 2026-01-05T10:00:00Z, or 7d for seven days ago.", false     \
    }
#define OPTION_UNTIL                                                                               \
    {                                                                                              \
        "until", 0, OPTION_TEXT, "WHEN", "Before then; as --since.", false                         \
    }
#define OPTION_YES                                                                                 \
    {                                                                                              \
        "yes", 0, OPTION_FLAG, NULL, "Really delete it.", false                                    \
    }
#define OPTIONS_END                                                                                \
    {                                                                                              \
        NULL, 0, OPTION_FLAG, NULL, NULL, false                                                    \
    }

#define COUNT(columns) (sizeof(columns) / sizeof *(columns))

#endif
