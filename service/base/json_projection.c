#include "base/json_projection.h"

#include <string.h>

struct projection {
    const char *at;
    const char *end;
    char *out;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next character that is no white space; '\0' at the end. */
static char peek(struct projection *p)
{
    while (p->at < p->end && is_space(*p->at))
        p->at++;
    return p->at < p->end ? *p->at : '\0';
}

static bool take(struct projection *p, char c)
{
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

/* Behind the string that begins here. */
static bool skip_string(struct projection *p)
{
    for (p->at++; p->at < p->end; p->at++) {
        if (*p->at == '\\' && p->end - p->at > 1)
            p->at++;
        else if (*p->at == '"') {
            p->at++;
            return true;
        }
    }
    return false;
}

static bool ends_scalar(char c)
{
    return c == ',' || c == ']' || c == '}' || c == ':' || is_space(c);
}

/* Behind the value that begins here: its brackets are counted, nothing is called again. */
static bool skip_value(struct projection *p)
{
    size_t open = 0;
    do {
        char c = peek(p);
        if (c == '"') {
            if (!skip_string(p))
                return false;
        } else if (c == '{' || c == '[') {
            open++;
            p->at++;
        } else if ((c == '}' || c == ']' || c == ',' || c == ':') && open > 0) {
            open -= c == '}' || c == ']' ? 1 : 0;
            p->at++;
        } else if (c == '\0' || ends_scalar(c)) {
            return false;
        } else {
            while (p->at < p->end && !ends_scalar(*p->at))
                p->at++;
        }
    } while (open > 0);
    return true;
}

static void put(struct projection *p, const char *from, size_t n)
{
    memcpy(p->out, from, n);
    p->out += n;
}

static bool copy_value(struct projection *p)
{
    (void)peek(p);
    const char *from = p->at;
    if (!skip_value(p))
        return false;
    put(p, from, (size_t)(p->at - from));
    return true;
}

static const struct json_selection *find(const struct json_selection *selection,
                                         struct strview name)
{
    for (; selection != NULL; selection = selection->next)
        if (selection->name.at == NULL || strview_equal(selection->name, name))
            return selection;
    return NULL;
}

static bool project_value(struct projection *p, const struct json_selection *selection);

static bool project_member(struct projection *p, const struct json_selection *selection, bool first)
{
    if (peek(p) != '"')
        return false;
    const char *key = p->at;
    if (!skip_string(p))
        return false;
    size_t key_n = (size_t)(p->at - key);
    const struct json_selection *found = find(selection, (struct strview){key + 1, key_n - 2});
    if (!take(p, ':'))
        return false;
    if (found == NULL)
        return skip_value(p);
    put(p, ",", first ? 0 : 1);
    put(p, key, key_n);
    put(p, ":", 1);
    return found->within == NULL ? copy_value(p) : project_value(p, found->within);
}

static bool project_object(struct projection *p, const struct json_selection *selection)
{
    p->at++;
    put(p, "{", 1);
    const char *begin = p->out;
    bool more = peek(p) != '}';
    while (more) {
        if (!project_member(p, selection, p->out == begin))
            return false;
        more = take(p, ',');
    }
    put(p, "}", 1);
    return take(p, '}');
}

/* Where an array stands in an array, its items are projected, too, and so on: by a count of what is
 * open, for the depth of arrays is not bounded by the selection. */
static bool project_array(struct projection *p, const struct json_selection *selection)
{
    size_t open = 0;
    do {
        char c = peek(p);
        if (c == '[' || c == ']' || c == ',') {
            open += c == '[' ? 1 : 0;
            open -= c == ']' ? 1 : 0;
            put(p, p->at, 1);
            p->at++;
        } else if (c == '{' ? !project_object(p, selection) : !copy_value(p)) {
            return false;
        }
    } while (open > 0);
    return true;
}

/* Calls itself once for each object that the selection goes into, whose depth its maker bounds. */
static bool project_value(struct projection *p, const struct json_selection *selection)
{
    char c = peek(p);
    if (c == '{')
        return project_object(p, selection);
    return c == '[' ? project_array(p, selection) : copy_value(p);
}

bool json_project(struct strview json,
                  const struct json_selection *selection,
                  struct arena *arena,
                  struct strview *out)
{
    char *text = arena_alloc(arena, json.n + 1);
    struct projection p = {json.at, json.at + json.n, text};
    if (text == NULL || !project_value(&p, selection) || peek(&p) != '\0')
        return false;
    *p.out = '\0';
    *out = (struct strview){text, (size_t)(p.out - text)};
    return true;
}
