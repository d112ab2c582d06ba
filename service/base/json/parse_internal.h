#ifndef BASE_JSON_PARSE_INTERNAL_H
#define BASE_JSON_PARSE_INTERNAL_H

#include "base/json/find.h"
#include "base/json/parse.h"

/* Values wait on a stack until the array or object that they are in is at its end; there, each
 * behind its key. */
union json_slot {
    struct json_key key;
    struct json_value value;
};
_Static_assert(sizeof(union json_slot) == 16, "keys and values take as much");

/* An array or object that has begun. */
struct json_frame {
    size_t from; /* of the stack */
    bool object;
    bool follows;                 /* the keys so far are those of `keys` */
    const struct json_keys *keys; /* of the last object at this depth; NULL: there was none */
};

struct json_parser {
    const char *begin;
    const char *at;
    const char *end;
    struct json_frame *frames;
    size_t depth;
    size_t deepest;
    union json_slot *stack;
    union json_slot *top;
    union json_slot *made; /* where the next values go that are complete */
    char *texts;           /* where the next text goes, and as many bytes as are left to read */
    size_t values;         /* until the thread may pause */
    struct pv_error *err;
};

/* The next byte that is not blank; '\0' at the end (and where there is one). */
static inline char json_parser_peek(struct json_parser *p)
{
    while (p->at < p->end && json_is_blank(*p->at))
        p->at++;
    return p->at < p->end ? *p->at : '\0';
}

/* A fault at a place of the text. false. */
bool json_parser_fault(const struct json_parser *p, const char *at, const char *format, ...)
    PV_PRINTF(3, 4);

/* Where the parser stands something else is expected. false. */
bool json_parser_expects(const struct json_parser *p, const char *what);

/* Standing at a quote: the text behind it, resolved. */
bool json_parser_take_text(struct json_parser *p, struct strview *text);

/* Standing at a digit or '-'. */
bool json_parser_take_number(struct json_parser *p, struct json_value *value);

#endif
