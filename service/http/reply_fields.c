#include "http/reply_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/plural.h"

static const char parameter[] = "fields";

const struct http_reply_members *http_reply_members_find(const struct http_reply_members *table,
                                                         const struct http_request *request)
{
    for (; table != NULL && table->template != NULL; table++)
        if (table->method == request->method && strcmp(table->template, request->template) == 0)
            return table;
    return NULL;
}

static const struct http_member *find_member(const struct http_members *of, struct strview name)
{
    for (size_t i = 0; of != NULL && i < of->n; i++)
        if (strview_is(name, of->members[i].name))
            return &of->members[i];
    return NULL;
}

/* before: what the name follows, its dot included. */
static enum pv_code refuse_name(const struct http_members *of,
                                struct strview before,
                                struct strview name,
                                struct pv_error *err)
{
    if (name.n == 0)
        return pv_fault(err, PV_PLACE_PARAMETER, parameter, "unknown_field",
                        "has a name without text");
    char asked[NEAREST_LENGTH_MAX + 2];
    struct nearest nearest = {.word = NULL};
    (void)snprintf(asked, sizeof asked, "%.*s", (int)name.n, name.at);
    for (size_t i = 0; of != NULL && i < of->n; i++)
        nearest_try(&nearest, asked, of->members[i].name);
    const char *near = nearest.word;
    struct strview path = strview_clip((struct strview){before.at, before.n + name.n}, 80);
    return pv_fault(err, PV_PLACE_PARAMETER, parameter, "unknown_field",
                    "the reply never has %.*s%s%.*s%s%s", (int)path.n, path.at,
                    near == NULL ? "" : "; did you mean ", near == NULL ? 0 : (int)before.n,
                    before.at, near == NULL ? "" : near, near == NULL ? "" : "?");
}

/* The name among its siblings, put there if it is new. NULL: memory is exhausted. */
static struct json_selection *
add_name(struct json_selection **siblings, struct strview name, bool *is_new, struct arena *arena)
{
    for (; *siblings != NULL; siblings = &(*siblings)->next)
        if (strview_equal((*siblings)->name, name))
            break;
    *is_new = *siblings == NULL;
    if (*is_new)
        *siblings = arena_calloc(arena, 1, sizeof **siblings);
    if (*is_new && *siblings != NULL)
        (*siblings)->name = name;
    return *siblings;
}

/* One name of a path, and what its value has. */
struct step {
    struct strview name;
    struct strview rest; /* behind it and its dot; n 0: it is the last one */
    const struct http_members *of;
    bool known;
};

/* Where a map's values have no members, all of the rest is a key of it. */
static struct step take_step(const struct http_members *of, struct strview path)
{
    bool is_map = of != NULL && of->is_map;
    bool is_key = is_map && of->values == NULL && find_member(of, path) == NULL;
    const char *dot = is_key ? NULL : memchr(path.at, '.', path.n);
    struct step step = {.name = {path.at, dot == NULL ? path.n : (size_t)(dot - path.at)}};
    const struct http_member *member = find_member(of, step.name);
    if (dot != NULL)
        step.rest = (struct strview){dot + 1, path.n - step.name.n - 1};
    step.known = member != NULL || (is_map && step.name.n > 0);
    step.of = member != NULL ? member->of : step.known ? of->values : NULL;
    if (dot != NULL && step.rest.n == 0) { /* "verdict.": nothing follows the dot */
        step.name.n++;
        step.known = false;
    }
    return step;
}

static enum pv_code
check_path(struct strview path, const struct http_members *of, struct pv_error *err)
{
    struct strview rest = path;
    for (unsigned depth = 0; depth < HTTP_FIELDS_DEPTH_MAX; depth++) {
        struct step step = take_step(of, rest);
        if (!step.known)
            return refuse_name(of, (struct strview){path.at, (size_t)(rest.at - path.at)},
                               step.name, err);
        if (step.rest.n == 0)
            return PV_OK;
        of = step.of;
        rest = step.rest;
    }
    return pv_fault(err, PV_PLACE_PARAMETER, parameter, "out_of_range",
                    "may name members of at most %d levels", HTTP_FIELDS_DEPTH_MAX);
}

/* A path that was checked; all of a value outweighs members of it. */
static enum pv_code add_path(struct strview path,
                             const struct http_members *of,
                             struct json_selection **siblings,
                             struct arena *arena,
                             struct pv_error *err)
{
    for (struct strview rest = path; rest.n > 0;) {
        struct step step = take_step(of, rest);
        bool is_new;
        struct json_selection *selected = add_name(siblings, step.name, &is_new, arena);
        if (selected == NULL)
            return pv_no_memory(err);
        bool is_whole = !is_new && selected->within == NULL;
        if (step.rest.n == 0)
            selected->within = NULL;
        if (is_whole)
            break;
        of = step.of;
        siblings = &selected->within;
        rest = step.rest;
    }
    return PV_OK;
}

/* Without the blanks around a name: people write a list with them. */
static struct strview trim(struct strview name)
{
    while (name.n > 0 && name.at[0] == ' ') {
        name.at++;
        name.n--;
    }
    while (name.n > 0 && name.at[name.n - 1] == ' ')
        name.n--;
    return name;
}

static size_t count_names(const char *text)
{
    size_t n = 1;
    for (; *text != '\0'; text++)
        n += *text == ',';
    return n;
}

static enum pv_code check_size(const char *text, size_t most, struct pv_error *err)
{
    if (*text == '\0')
        return pv_fault(err, PV_PLACE_PARAMETER, parameter, "out_of_range",
                        "must list names, such as id,created_at");
    if (strlen(text) > HTTP_FIELDS_BYTES_MAX)
        return pv_fault(err, PV_PLACE_PARAMETER, parameter, "out_of_range",
                        "may have at most %d bytes", HTTP_FIELDS_BYTES_MAX);
    if (count_names(text) > most)
        return pv_fault(err, PV_PLACE_PARAMETER, parameter, "too_many_items",
                        "may list at most %zu name%s (fields_max), lists %zu", most, PLURAL(most),
                        count_names(text));
    return PV_OK;
}

/* Of a page: the items, with these members, and all that stands beside them. */
static enum pv_code wrap_items(struct json_selection *item,
                               const struct json_selection **selection,
                               struct arena *arena,
                               struct pv_error *err)
{
    struct json_selection *page = arena_calloc(arena, 2, sizeof *page);
    if (page == NULL)
        return pv_no_memory(err);
    page[0] =
        (struct json_selection){.name = strview_of("items"), .next = &page[1], .within = item};
    *selection = page;
    return PV_OK;
}

enum pv_code http_reply_fields_parse(const char *text,
                                     const struct http_reply_members *row,
                                     size_t most,
                                     struct arena *arena,
                                     const struct json_selection **selection,
                                     struct pv_error *err)
{
    struct json_selection *top = NULL;
    PV_TRY(check_size(text, most, err));
    enum pv_code code = PV_OK;
    for (const char *at = text; at != NULL;) {
        size_t n = strcspn(at, ",");
        struct strview path = trim((struct strview){at, n});
        enum pv_code checked = check_path(path, row->members, err);
        if (checked == PV_OK)
            PV_TRY(add_path(path, row->members, &top, arena, err));
        else
            code = checked;
        at = at[n] == '\0' ? NULL : at + n + 1;
    }
    *selection = top;
    return code == PV_OK && row->is_page ? wrap_items(top, selection, arena, err) : code;
}

enum pv_code http_reply_fields_apply(const struct json_selection *selection,
                                     struct arena *arena,
                                     struct http_response *response,
                                     struct pv_error *err)
{
    const char *type = response->content_type;
    struct strview body = {response->body, response->body_n};
    if (response->body_n == 0 && response->source == NULL)
        return PV_OK;
    if (response->source != NULL || (type != NULL && strcmp(type, "application/json") != 0))
        return pv_fault(err, PV_PLACE_PARAMETER, parameter, "conflict",
                        "must be left out unless the reply is JSON: this reply is %s",
                        type == NULL ? "sent in pieces" : type);
    struct strview part;
    if (!json_project(body, selection, arena, &part))
        return pv_no_memory(err);
    response->body = part.at;
    response->body_n = part.n;
    return PV_OK;
}
