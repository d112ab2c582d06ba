#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json/parse_internal.h"

enum { WORD_MAX = 24 };

/* Characters from 1 on, in a line from 1 on. */
static void count_place(const struct json_parser *p, const char *at, size_t *line, size_t *column)
{
    *line = 1;
    *column = 1;
    for (const char *c = p->begin; c < at; c++) {
        bool feed = *c == '\n';
        *line += feed;
        *column = feed ? 1 : *column + (((unsigned char)*c & 0xc0) != 0x80);
    }
}

bool json_parser_fault(const struct json_parser *p, const char *at, const char *format, ...)
{
    char what[sizeof p->err->detail];
    size_t line, column;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    count_place(p, at, &line, &column);
    if (line == 1) /* a line of NDJSON has a number of its own */
        (void)pv_fail(p->err, PV_E_SYNTAX, "not valid JSON at column %zu: %s", column, what);
    else
        (void)pv_fail(p->err, PV_E_SYNTAX, "not valid JSON at line %zu, column %zu: %s", line,
                      column, what);
    return false;
}

/* A byte order mark, which nobody would see. */
static bool begins_with_mark(const struct json_parser *p)
{
    return p->end - p->at >= 3 && memcmp(p->at, "\xef\xbb\xbf", 3) == 0;
}

/* What begins at `at`, as it can be shown: a word or number, or a character. */
static size_t shown(const struct json_parser *p)
{
    size_t n = 0;
    while (n < WORD_MAX && n < (size_t)(p->end - p->at) && isalnum((unsigned char)p->at[n]))
        n++;
    if (n > 0)
        return n;
    if ((unsigned char)*p->at < ' ' || begins_with_mark(p))
        return 0;
    return strview_character((struct strview){p->at, (size_t)(p->end - p->at)});
}

bool json_parser_expects(const struct json_parser *p, const char *what)
{
    if (p->at == p->end)
        return json_parser_fault(p, p->at, "%s is expected where the text ends", what);
    size_t n = shown(p);
    if (n == 0)
        return json_parser_fault(p, p->at, "%s is expected, not the byte 0x%02x", what,
                                 (unsigned char)*p->at);
    return json_parser_fault(p, p->at, "%s is expected, not %.*s", what, (int)n, p->at);
}
