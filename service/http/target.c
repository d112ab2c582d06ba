#include "http/target.h"

#include <string.h>
#include <strings.h>

#include "base/hex.h"

const char *http_percent_decode(struct strview text,
                                bool plus_is_space,
                                struct arena *arena,
                                enum pv_code *code)
{
    *code = PV_E_MEMORY;
    char *out = arena_alloc(arena, text.n + 1);
    if (out == NULL)
        return NULL;
    *code = PV_E_SYNTAX;
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.at[i];
        if (c == '%') {
            bool whole = text.n - i > 2;
            int high = whole ? hex_digit(text.at[i + 1]) : -1;
            int low = whole ? hex_digit(text.at[i + 2]) : -1;
            if (high < 0 || low < 0)
                return NULL;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c == '\0')
            return NULL;
        out[n++] = c;
    }
    out[n] = '\0';
    if (!strview_is_utf8((struct strview){out, n}))
        return NULL;
    *code = PV_OK;
    return out;
}

/* RFC 3986 lets only ASCII stand unencoded; a fragment never travels. */
static bool is_clean(const char *raw)
{
    for (const char *c = raw; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 0x7f || *c == '#' || *c == '"' || *c == '<' || *c == '>' ||
            *c == '\\')
            return false;
    return true;
}

/* The path of an absolute-form target, or NULL when it is no such thing. */
static const char *after_authority(const char *raw)
{
    size_t scheme;
    if (strncasecmp(raw, "http://", 7) == 0)
        scheme = 7;
    else if (strncasecmp(raw, "https://", 8) == 0)
        scheme = 8;
    else
        return NULL;
    const char *authority = raw + scheme;
    size_t n = strcspn(authority, "/?");
    return n == 0 ? NULL : authority + n;
}

static size_t target_count(struct strview text, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.at[i] == c;
    return n;
}

/* Cuts the next piece, up to `separator` or the end, off the front of *rest. */
static struct strview next_piece(struct strview *rest, char separator)
{
    const char *end = rest->n == 0 ? NULL : memchr(rest->at, separator, rest->n);
    size_t n = end == NULL ? rest->n : (size_t)(end - rest->at);
    struct strview piece = {rest->at, n};
    size_t skip = end == NULL ? n : n + 1;
    rest->at += skip;
    rest->n -= skip;
    return piece;
}

static enum pv_code
parse_path(struct strview path, struct arena *arena, struct http_target *t, struct pv_error *err)
{
    t->path = arena_strndup(arena, path.at, path.n);
    t->n_segments = target_count(path, '/');
    t->segments = arena_calloc(arena, t->n_segments, sizeof *t->segments);
    if (t->path == NULL || t->segments == NULL)
        return pv_no_memory(err);
    struct strview rest = {path.at + 1, path.n - 1};
    for (size_t i = 0; i < t->n_segments; i++) {
        enum pv_code code;
        t->segments[i] = http_percent_decode(next_piece(&rest, '/'), false, arena, &code);
        if (t->segments[i] == NULL)
            return pv_fail(err, code,
                           "segment %zu of the path is not percent-encoded UTF-8 without NUL",
                           i + 1);
    }
    return PV_OK;
}

static enum pv_code parse_parameter(struct strview piece,
                                    struct arena *arena,
                                    struct http_parameter *parameter,
                                    struct pv_error *err)
{
    struct strview value = piece;
    struct strview name = next_piece(&value, '=');
    enum pv_code code;
    parameter->name = http_percent_decode(name, true, arena, &code);
    if (parameter->name != NULL && parameter->name[0] == '\0') {
        parameter->name = NULL;
        code = PV_E_SYNTAX;
    }
    if (parameter->name == NULL)
        return pv_fail(err, code, "the name of a query parameter is empty or badly encoded");
    parameter->value = http_percent_decode(value, true, arena, &code);
    if (parameter->value == NULL) {
        (void)pv_fail(err, code, "the query is badly encoded");
        (void)pv_fault(err, PV_PLACE_PARAMETER, parameter->name, "encoding",
                       "must be percent-encoded UTF-8 without NUL");
        return code;
    }
    return PV_OK;
}

static enum pv_code
parse_query(struct strview query, struct arena *arena, struct http_target *t, struct pv_error *err)
{
    t->query = arena_calloc(arena, target_count(query, '&') + 1, sizeof *t->query);
    if (t->query == NULL)
        return pv_no_memory(err);
    while (query.n > 0) {
        struct strview piece = next_piece(&query, '&');
        if (piece.n == 0)
            continue;
        enum pv_code code = parse_parameter(piece, arena, &t->query[t->n_query], err);
        if (code != PV_OK)
            return code;
        t->n_query++;
    }
    return PV_OK;
}

enum pv_code http_target_parse(const char *raw,
                               struct arena *arena,
                               struct http_target *target,
                               struct pv_error *err)
{
    if (strcmp(raw, "*") == 0) {
        *target = (struct http_target){.path = "*", .asterisk = true};
        return PV_OK;
    }
    if (!is_clean(raw))
        return pv_fail(err, PV_E_SYNTAX,
                       "the request target holds a character that must be "
                       "percent-encoded");
    const char *origin = raw[0] == '/' ? raw : after_authority(raw);
    if (origin == NULL)
        return pv_fail(err, PV_E_SYNTAX, "the request target is neither a path nor an http URL");
    size_t n = strcspn(origin, "?");
    struct strview path = n == 0 ? strview_of("/") : (struct strview){origin, n};
    struct strview query = strview_of(origin[n] == '?' ? origin + n + 1 : "");

    struct http_target parsed = {0};
    enum pv_code code = parse_path(path, arena, &parsed, err);
    if (code == PV_OK)
        code = parse_query(query, arena, &parsed, err);
    if (code == PV_OK)
        *target = parsed;
    return code;
}
