/*
 * Prints what the contract tests compare with openapi/provisor.yaml and docs/problems.yaml:
 *   call METHOD TEMPLATE ACCESS
 *   problem NAME STATUS
 *   shape REQUEST REPLY                     schemas, - for none
 *   member NAME KIND FLAGS LEAST MOST LOW HIGH     of the shape before, - for no bound
 *   { ... }                                 around the members of an object or of a list's items
 * FLAGS are letters: r required, n nullable, a above (the lower bound is excluded), s sent in
 * requests, w written in replies, k known (never null in replies), o may be left out of replies,
 * t true where absent.
 */
#include <inttypes.h>
#include <stdio.h>

#include "api/api.h"
#include "codec/json/shape.h"
#include "http/problem.h"

/* All that headers of the codec declare (list_shapes.py); ends with NULL. */
extern const struct shape *const shapes[];

static const char *kind_name(enum shape_kind kind)
{
    switch (kind) {
    case SHAPE_KIND_NUMBER:
        return "number";
    case SHAPE_KIND_COUNT:
        return "count";
    case SHAPE_KIND_INTEGER:
        return "integer";
    case SHAPE_KIND_SIZE:
        return "count";
    case SHAPE_KIND_RANGE:
        return "range";
    case SHAPE_KIND_BOOLEAN:
        return "boolean";
    case SHAPE_KIND_TEXT:
        return "text";
    case SHAPE_KIND_NAME:
        return "name";
    case SHAPE_KIND_INSTANT:
        return "instant";
    case SHAPE_KIND_ID:
        return "id";
    case SHAPE_KIND_LABELS:
        return "labels";
    case SHAPE_KIND_WORD:
        return "word";
    case SHAPE_KIND_WORDS:
        return "words";
    case SHAPE_KIND_OBJECT:
        return "object";
    case SHAPE_KIND_OBJECTS:
        return "objects";
    case SHAPE_KIND_CODE:
        return "code";
    }
    return "?";
}

static void print_flags(const struct shape *shape, const struct shape_member *member)
{
    const struct {
        char letter;
        bool set;
    } flags[] = {
        {'r', (member->flags & CODEC_REQUIRED) != 0},
        {'n', (member->flags & CODEC_NULLABLE) != 0},
        {'a', (member->flags & CODEC_ABOVE) != 0},
        {'s', (member->flags & SHAPE_READ_ONLY) == 0},
        {'w', (member->flags & (SHAPE_WRITE_ONLY | shape->reply_without)) == 0},
        {'k', (member->flags & SHAPE_KNOWN) != 0},
        {'o', (member->flags & (SHAPE_OMIT_UNKNOWN | shape->reply_sometimes)) != 0},
        {'t', (member->flags & SHAPE_TRUE) != 0},
    };
    putchar(' ');
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].set)
            putchar(flags[i].letter);
    printf("-");
}

static void print_members(const struct shape *shape)
{
    for (size_t i = 0; i < shape->n; i++) {
        const struct shape_member *member = &shape->members[i];
        bool bounded = member->most != 0 && member->limit == 0;
        printf("member %s %s", member->name, kind_name(member->kind));
        print_flags(shape, member);
        printf(" %" PRId64, member->least);
        if (bounded)
            printf(" %" PRId64, member->most);
        else
            printf(" -");
        printf(" %.17g", member->low);
        if (member->high == 0 || member->limit != 0)
            printf(" -");
        else
            printf(" %.17g", member->high);
        for (size_t word = 0; member->words != NULL && member->words[word] != NULL; word++)
            printf(" %s", member->words[word]);
        printf("\n");
        if (member->of != NULL) {
            printf("{\n");
            print_members(member->of);
            printf("}\n");
        }
    }
}

static void print_shapes(void)
{
    for (size_t i = 0; shapes[i] != NULL; i++) {
        printf("shape %s %s\n", shapes[i]->request == NULL ? "-" : shapes[i]->request,
               shapes[i]->reply == NULL ? "-" : shapes[i]->reply);
        print_members(shapes[i]);
    }
}

int main(void)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    static const char *const access[] = {"public", "read", "write", "admin"};
    for (const struct http_route *route = api_routes; route->template != NULL; route++)
        printf("call %s %s %s\n", methods[route->method], route->template, access[route->access]);
    /* These two are between the functions of the program and no problems. */
    for (int code = 0; code < PV_CODE_COUNT; code++)
        if (code != PV_OK && code != PV_E_LEASE_LOST)
            printf("problem %s %u\n", pv_code_name((enum pv_code)code),
                   http_status_of((enum pv_code)code));
    print_shapes();
    return 0;
}
