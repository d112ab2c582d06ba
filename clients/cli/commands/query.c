#include "cli/commands/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "threads/clock.h"

enum { PAGE_ITEMS = 200 };

void query_begin(struct query *query, struct invocation *invocation)
{
    *query = (struct query){.n = 0, .invocation = invocation};
}

void query_add(struct query *query, const char *name, const char *value)
{
    if (value == NULL)
        return;
    if (query->n == QUERY_ITEMS_MAX) {
        query->failed = true;
        (void)fail(&query->invocation->failure, EXIT_USAGE, "there are more than %d conditions",
                   QUERY_ITEMS_MAX);
        return;
    }
    query->items[query->n++] = (struct remote_parameter){name, value};
    query->items[query->n] = (struct remote_parameter){NULL, NULL};
}

void query_option(struct query *query, const char *option, const char *name)
{
    size_t at = 0;
    for (const char *text;
         (text = argument_next(query->invocation->arguments, option, &at)) != NULL;)
        query_add(query, name, text);
}

static char *new_text(struct query *query)
{
    return query->texts[query->n_texts++ % QUERY_TEXTS_MAX];
}

/* --- instants --- */

static bool is_date(const char *text)
{
    static const char shape[] = "dddd-dd-dd";
    size_t i = 0;
    for (; shape[i] != '\0'; i++)
        if (shape[i] == 'd' ? isdigit((unsigned char)text[i]) == 0 : text[i] != '-')
            return false;
    return text[i] == '\0';
}

bool read_instant(struct invocation *invocation,
                  const char *option,
                  const char *text,
                  bool ahead,
                  char out[QUERY_TEXT])
{
    double seconds;
    int64_t us;
    (void)snprintf(out, QUERY_TEXT, "%.100s%s", text, is_date(text) ? "T00:00:00Z" : "");
    if (option_read_number(OPTION_DURATION, text, &seconds) && seconds < 1e10) {
        us = clock_wall_us() + (int64_t)((ahead ? seconds : -seconds) * 1e6);
        instant_format(us - us % 1000000, out);
        return true;
    }
    if (instant_parse(out, &us))
        return true;
    return fail(&invocation->failure, EXIT_USAGE,
                "--%s: '%.60s' is neither an instant such as 2026-01-05 or 2026-01-05T10:00:00Z "
                "nor a time such as 7d",
                option, text);
}

void query_instant(struct query *query, const char *option, const char *name)
{
    const char *text = argument_text(query->invocation->arguments, option);
    if (text == NULL)
        return;
    char *out = new_text(query);
    if (read_instant(query->invocation, option, text, false, out))
        query_add(query, name, out);
    else
        query->failed = true;
}

/* --- sizes --- */

void query_size(struct query *query, const char *option, const char *name)
{
    if (!argument_given(query->invocation->arguments, option))
        return;
    char *out = new_text(query);
    double blocks = argument_number(query->invocation->arguments, option, 0);
    out[writer_format_number(blocks, out)] = '\0';
    query_add(query, name, out);
}

void query_sizes(struct query *query, const char *option, const char *name)
{
    const char *text = argument_text(query->invocation->arguments, option);
    if (text == NULL)
        return;
    char *out = new_text(query);
    size_t at = 0;
    for (;;) {
        char item[64];
        size_t n = strcspn(text, ",");
        double blocks;
        (void)snprintf(item, sizeof item, "%.*s", (int)n, text);
        if (!option_read_number(OPTION_SIZE, item, &blocks) || at + 40 > QUERY_TEXT) {
            query->failed = true;
            (void)fail(&query->invocation->failure, EXIT_USAGE,
                       "--%s: '%.60s' is not a number of input blocks such as 64, or bytes with a "
                       "unit such as 8GiB",
                       option, item);
            return;
        }
        at += writer_format_number(blocks, out + at);
        if (text[n] == '\0')
            break;
        out[at++] = ',';
        text += n + 1;
    }
    out[at] = '\0';
    query_add(query, name, out);
}

/* --- lists --- */

static size_t limit_of(const struct query *query, size_t fallback)
{
    return (size_t)argument_number(query->invocation->arguments, "limit", (double)fallback);
}

json_t *query_items(struct query *query, const char *path, size_t fallback, bool *more)
{
    size_t limit = limit_of(query, fallback);
    *more = false;
    if (query->failed)
        return NULL;
    /* One more than are shown, to know whether there are. */
    json_t *items =
        remote_list(query->invocation->remote, path, query->n == 0 ? NULL : query->items,
                    limit == 0 ? 0 : limit + 1, &query->invocation->failure);
    if (items != NULL && limit > 0 && json_array_size(items) > limit) {
        *more = true;
        (void)json_array_remove(items, limit);
    }
    return items;
}

int query_list(struct query *query,
               const char *path,
               size_t fallback,
               const char *what,
               const struct column columns[],
               size_t n_columns)
{
    struct invocation *invocation = query->invocation;
    bool more;
    json_t *items = query_items(query, path, fallback, &more);
    if (items == NULL)
        return invocation_failed(invocation);
    bool good = true;
    if (json_array_size(items) == 0 && invocation_for_people(invocation))
        invocation_say(invocation, "There are no such %s.", what);
    else
        good = invocation_write_list(invocation, items, columns, n_columns);
    if (good && more)
        invocation_say(invocation, "There are more %s: --limit shows more.", what);
    json_decref(items);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static json_t *get_page(struct query *query, const char *path, size_t limit, const char *cursor)
{
    struct remote_parameter all[QUERY_ITEMS_MAX + 3];
    char number[24];
    memcpy(all, query->items, query->n * sizeof *all);
    (void)snprintf(number, sizeof number, "%zu", limit);
    all[query->n] = (struct remote_parameter){"limit", number};
    all[query->n + 1] = (struct remote_parameter){"cursor", cursor[0] == '\0' ? NULL : cursor};
    all[query->n + 2] = (struct remote_parameter){NULL, NULL};
    return remote_get(query->invocation->remote, path, all, &query->invocation->failure);
}

json_t *query_pages(struct query *query, const char *path, size_t fallback)
{
    size_t limit = limit_of(query, fallback);
    json_t *whole = NULL;
    char cursor[1024] = "";
    size_t got = 0;
    if (query->failed)
        return NULL;
    do {
        size_t left = limit - got;
        json_t *page = get_page(query, path, left < PAGE_ITEMS ? left : PAGE_ITEMS, cursor);
        const char *next =
            page == NULL ? NULL : remote_next_page(path, page, cursor, &query->invocation->failure);
        if (next == NULL) {
            json_decref(page);
            json_decref(whole);
            return NULL;
        }
        (void)snprintf(cursor, sizeof cursor, "%s", next);
        got += json_array_size(json_object_get(page, "items"));
        if (whole == NULL) {
            whole = page;
            continue;
        }
        (void)json_array_extend(json_object_get(whole, "items"), json_object_get(page, "items"));
        (void)json_object_set(whole, "next_cursor", json_object_get(page, "next_cursor"));
        json_decref(page);
    } while (cursor[0] != '\0' && got < limit);
    return whole;
}

/* --- paths --- */

bool path_of_word(struct invocation *invocation,
                  const char *before,
                  size_t index,
                  const char *after,
                  char out[PATH_TEXT])
{
    const char *word = invocation_word(invocation, index);
    if (word[0] == '\0')
        return fail(&invocation->failure, EXIT_USAGE, "the name is empty");
    return remote_path(invocation->remote, before, word, after, out, &invocation->failure);
}

int delete_path(struct invocation *invocation, const char *path, const char *what)
{
    struct remote_request request = {.method = "DELETE",
                                     .path = path,
                                     .if_match = argument_text(invocation->arguments, "if-match")};
    struct remote_reply reply = {.status = 0};
    bool good = remote_call(invocation->remote, &request, &reply, &invocation->failure);
    remote_reply_clear(&reply);
    if (!good)
        return invocation_failed(invocation);
    invocation_say(invocation, "Deleted: %s.", what);
    return EXIT_DONE;
}

int delete_named(struct invocation *invocation, const char *collection, const char *noun)
{
    char path[PATH_TEXT];
    char what[PATH_TEXT];
    (void)snprintf(what, sizeof what, "the %.40s %.900s", noun, invocation_word(invocation, 0));
    if (!path_of_word(invocation, collection, 0, "", path) ||
        !invocation_confirmed(invocation, what))
        return invocation_failed(invocation);
    return delete_path(invocation, path, what);
}

static bool send_document(struct invocation *invocation,
                          const char *method,
                          const char *path,
                          json_t *document,
                          bool once,
                          struct remote_reply *reply)
{
    *reply = (struct remote_reply){.status = 0};
    char *text = document == NULL ? NULL : json_dumps(document, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(document);
    if (text == NULL)
        return fail_memory(&invocation->failure);
    struct remote_request request = {
        .method = method, .path = path, .text = text, .n_text = strlen(text), .once = once};
    bool good = remote_call(invocation->remote, &request, reply, &invocation->failure);
    free(text);
    return good;
}

bool post_document(struct invocation *invocation,
                   const char *path,
                   json_t *document,
                   bool once,
                   struct remote_reply *reply)
{
    return send_document(invocation, "POST", path, document, once, reply);
}

void name_command_of_member(struct invocation *invocation,
                            const struct remote_reply *reply,
                            const char *pointer,
                            const char *command)
{
    const json_t *errors = json_object_get(reply->json, "errors");
    for (size_t i = 0; i < json_array_size(errors); i++)
        if (strcmp(json_text_at(json_array_get(errors, i), "pointer", ""), pointer) == 0 &&
            strcmp(json_text_at(json_array_get(errors, i), "code", ""), "unknown_field") == 0)
            (void)fail_next(&invocation->failure, "`provisor %s` reads files with %s", command,
                            pointer + 1);
}

bool patch_document(struct invocation *invocation,
                    const char *path,
                    json_t *document,
                    struct remote_reply *reply)
{
    return send_document(invocation, "PATCH", path, document, false, reply);
}

int query_ids(struct query *query, const char *path, size_t fallback)
{
    bool more;
    query_add(query, "fields", "id");
    json_t *items = query_items(query, path, fallback, &more);
    if (items == NULL)
        return invocation_failed(query->invocation);
    for (size_t i = 0; i < json_array_size(items); i++) {
        print_safely(stdout, json_text_at(json_array_get(items, i), "id", ""));
        putchar('\n');
    }
    json_decref(items);
    return EXIT_DONE;
}

/* --- sizes --- */

/* By what the sizes of the latest run are measured, NULL if that is unknown. */
static json_t *measure_of_sizes(struct invocation *invocation)
{
    static const struct remote_parameter query[] = {{"include", "last_run"}, {NULL, NULL}};
    struct failure none = {.status = EXIT_DONE};
    char path[PATH_TEXT];
    if (!path_of_word(invocation, "/v1/applications/", 0, "", path))
        return NULL;
    json_t *application = remote_get(invocation->remote, path, query, &none);
    json_t *measure =
        json_incref((json_t *)(uintptr_t)json_at(application, "last_run.problem_size_measured_by"));
    json_decref(application);
    return measure;
}

json_t *rows_with_size_unit(struct invocation *invocation, const json_t *items, const char *within)
{
    json_t *rows = json_deep_copy(items);
    json_t *measure = invocation_for_people(invocation) && json_array_size(rows) > 0
                          ? measure_of_sizes(invocation)
                          : NULL;
    for (size_t i = 0; measure != NULL && i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        (void)json_object_set(within == NULL ? row : json_object_get(row, within),
                              "problem_size_measured_by", measure);
    }
    json_decref(measure);
    return rows;
}
