#include "base/json/parse.h"

#include <string.h>

#include "base/duty.h"
#include "base/json/keys.h"
#include "base/json/parse_internal.h"

/* How many values are made before the thread may pause: some 0.05 ms. */
enum { PAUSE_VALUES = 1 << 11 };

/* As many as 31 bits count. */
static const size_t TEXT_MAX = INT32_MAX;

static struct json_value *push(struct json_parser *p)
{
    if (--p->values == 0) {
        p->values = PAUSE_VALUES;
        duty_works_on();
    }
    return &(p->top++)->value;
}

/* --- containers --- */

static bool begin(struct json_parser *p, bool object)
{
    struct json_frame *frame = &p->frames[p->depth++];
    if (p->depth > p->deepest) {
        frame->keys = NULL;
        p->deepest = p->depth;
    }
    frame->from = (size_t)(p->top - p->stack);
    frame->object = object;
    frame->follows = frame->keys != NULL;
    p->at++;
    return true;
}

/* Slots that are complete and stay. */
static union json_slot *keep(struct json_parser *p, size_t n)
{
    union json_slot *kept = p->made;
    p->made += n;
    return kept;
}

static uint32_t *keep_places(struct json_parser *p, size_t n)
{
    return (uint32_t *)(void *)keep(p, (n * sizeof(uint32_t) + sizeof(union json_slot) - 1) /
                                           sizeof(union json_slot));
}

/* The keys of an object that has n members from the slot on. NULL, and a fault: one is there twice.
 */
static const struct json_keys *
make_keys(struct json_parser *p, const union json_slot *from, size_t n)
{
    struct json_keys *keys = (struct json_keys *)(void *)keep(p, n + 1);
    uint32_t *order = NULL;
    *keys = (struct json_keys){.n = (uint32_t)n};
    for (size_t i = 0; i < n; i++)
        keys->keys[i] = from[2 * i].key;
    if (n > JSON_KEYS_FEW) {
        order = keep_places(p, n);
        json_keys_sort(keys, order, keep_places(p, n));
        keys->order = order;
    }
    size_t twice = json_keys_twice(keys, order);
    if (twice == SIZE_MAX)
        return keys;
    struct strview name = {keys->keys[twice].at, keys->keys[twice].n};
    char text[64];
    strview_shorten(name, text, sizeof text);
    (void)json_parser_fault(p, p->begin + keys->keys[twice].from,
                            "the object has two members named \"%s\"", text);
    return NULL;
}

static bool end_object(struct json_parser *p)
{
    struct json_frame *frame = &p->frames[--p->depth];
    union json_slot *from = p->stack + frame->from;
    size_t n = (size_t)(p->top - from) / 2;
    struct json_value object = {.kind = JSON_VALUE_OBJECT, .n = (uint32_t)n};
    p->at++;
    if (n > 0) {
        if (!frame->follows || n != frame->keys->n) {
            const struct json_keys *keys = make_keys(p, from, n);
            if (keys == NULL)
                return false;
            frame->keys = keys;
        }
        union json_slot *made = keep(p, n + 1);
        made[0].value.keys = frame->keys;
        for (size_t i = 0; i < n; i++)
            made[i + 1] = from[2 * i + 1];
        object.items = &made[1].value;
    }
    p->top = from;
    *push(p) = object;
    return true;
}

static bool end_array(struct json_parser *p)
{
    union json_slot *from = p->stack + p->frames[--p->depth].from;
    size_t n = (size_t)(p->top - from);
    union json_slot *made = keep(p, n);
    p->at++;
    memcpy(made, from, n * sizeof *made);
    p->top = from;
    *push(p) =
        (struct json_value){.kind = JSON_VALUE_ARRAY, .n = (uint32_t)n, .items = &made->value};
    return true;
}

/* --- values --- */

static bool take_text(struct json_parser *p)
{
    struct strview text;
    if (!json_parser_take_text(p, &text))
        return false;
    *push(p) = (struct json_value){.kind = JSON_VALUE_TEXT, .n = (uint32_t)text.n, .text = text.at};
    return true;
}

static bool take_word(struct json_parser *p, const char *word, size_t n, enum json_value_kind kind)
{
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n) != 0)
        return json_parser_expects(p, "a value");
    p->at += n;
    *push(p) = (struct json_value){.kind = (uint8_t)kind};
    return true;
}

/* A value that is complete, or the beginning of an array or object. */
static inline bool take_value(struct json_parser *p)
{
    char c = json_parser_peek(p);
    switch (c) {
    case '"':
        return take_text(p);
    case '{':
        return begin(p, true);
    case '[':
        return begin(p, false);
    case 't':
        return take_word(p, "true", 4, JSON_VALUE_TRUE);
    case 'f':
        return take_word(p, "false", 5, JSON_VALUE_FALSE);
    case 'n':
        return take_word(p, "null", 4, JSON_VALUE_NULL);
    default:
        if (c == '-' || json_is_digit(c))
            return json_parser_take_number(p, push(p));
        return json_parser_expects(p, "a value");
    }
}

/* --- members --- */

/* As memcmp answers, for texts so short that calling it takes longer than comparing. */
static inline bool equal_bytes(const char *a, const char *b, size_t n)
{
    uint64_t x;
    uint64_t y;
    size_t i = 0;
    if (n < sizeof x) {
        while (i < n && a[i] == b[i])
            i++;
        return i == n;
    }
    /* The last eight are compared where they begin, be it in those before. */
    for (;; i = i + 2 * sizeof x < n ? i + sizeof x : n - sizeof x) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        if (x != y || i + sizeof x == n)
            return x == y;
    }
}

/* Standing at a quote: is it this key, as it is mostly written? */
static inline bool is_key(const struct json_parser *p, const struct json_key *key)
{
    return key->plain && (size_t)(p->end - p->at) > key->n + 1U &&
           equal_bytes(p->at + 1, key->at, key->n) && p->at[key->n + 1] == '"';
}

static bool take_other_key(struct json_parser *p, struct json_frame *frame)
{
    const char *from = p->at;
    struct strview name;
    frame->follows = false;
    if (!json_parser_take_text(p, &name))
        return false;
    (p->top++)->key = (struct json_key){.at = name.at,
                                        .n = (uint32_t)name.n,
                                        .plain = (size_t)(p->at - from) == name.n + 2,
                                        .from = (uint32_t)(from - p->begin) & INT32_MAX};
    return true;
}

/* Standing at a quote. */
static inline bool take_key(struct json_parser *p, struct json_frame *frame)
{
    size_t i = ((size_t)(p->top - p->stack) - frame->from) / 2;
    if (frame->follows && i < frame->keys->n && is_key(p, &frame->keys->keys[i])) {
        p->at += frame->keys->keys[i].n + 2;
        (p->top++)->key = frame->keys->keys[i];
        return true;
    }
    return take_other_key(p, frame);
}

static inline bool take_member(struct json_parser *p, struct json_frame *frame)
{
    if (!take_key(p, frame))
        return false;
    if (json_parser_peek(p) != ':')
        return json_parser_expects(p, "':' behind the name of a member");
    p->at++;
    return take_value(p);
}

static bool step_object(struct json_parser *p, struct json_frame *frame)
{
    bool first = (size_t)(p->top - p->stack) == frame->from;
    char c = json_parser_peek(p);
    if (c == '}')
        return end_object(p);
    if (!first) {
        if (c != ',')
            return json_parser_expects(p, "',' or '}'");
        p->at++;
        c = json_parser_peek(p);
    }
    if (c != '"')
        return json_parser_expects(p, first ? "a member's name in quotes, or '}',"
                                            : "a member's name in quotes");
    return take_member(p, frame);
}

static bool step_array(struct json_parser *p, const struct json_frame *frame)
{
    bool first = (size_t)(p->top - p->stack) == frame->from;
    char c = json_parser_peek(p);
    if (c == ']')
        return end_array(p);
    if (!first) {
        if (c != ',')
            return json_parser_expects(p, "',' or ']'");
        p->at++;
    }
    return take_value(p);
}

/* Depth was measured, so there are frames enough. */
static bool parse(struct json_parser *p)
{
    if (!take_value(p))
        return false;
    while (p->depth > 0) {
        struct json_frame *frame = &p->frames[p->depth - 1];
        if (!(frame->object ? step_object(p, frame) : step_array(p, frame)))
            return false;
    }
    (void)json_parser_peek(p);
    return p->at == p->end || json_parser_expects(p, "the end of the text");
}

/* --- memory --- */

/* Each value is on the stack or complete, never both. */
static size_t stack_slots(const struct json_extent *extent)
{
    return extent->commas + extent->objects + extent->arrays + 1 + extent->members;
}

/* An object needs a slot before its values, and keys of its own one for each, one for all and, where
 * they are sorted, less than half of one for each. */
static size_t made_slots(const struct json_extent *extent)
{
    return stack_slots(extent) + extent->members + 2 * extent->objects;
}

size_t json_parse_bytes(const struct json_extent *extent, size_t n, size_t depth)
{
    return (stack_slots(extent) + made_slots(extent)) * sizeof(union json_slot) +
           depth * sizeof(struct json_frame) + n + JSON_COPY_SLACK + 1;
}

enum pv_code json_parse(const char *text,
                        size_t n,
                        const struct json_extent *extent,
                        size_t depth,
                        struct arena *arena,
                        const struct json_value **value,
                        struct pv_error *err)
{
    if (n > TEXT_MAX)
        return pv_fail(err, PV_E_LIMIT, "the JSON is longer than %zu bytes", TEXT_MAX);
    union json_slot *made = arena_alloc(arena, json_parse_bytes(extent, n, depth));
    if (made == NULL)
        return pv_no_memory(err);
    union json_slot *stack = made + made_slots(extent);
    struct json_frame *frames = (struct json_frame *)(void *)(stack + stack_slots(extent));
    struct json_parser parser = {.begin = text,
                                 .at = text,
                                 .end = text + n,
                                 .frames = frames,
                                 .stack = stack,
                                 .top = stack,
                                 .made = made,
                                 .texts = (char *)(frames + depth),
                                 .values = PAUSE_VALUES,
                                 .err = err};
    if (!parse(&parser))
        return PV_E_SYNTAX;
    *value = &stack->value;
    return PV_OK;
}

enum pv_code json_parse_own(struct strview text,
                            struct arena *arena,
                            const struct json_value **value,
                            struct pv_error *err)
{
    static const struct json_bounds bounds = {WRITER_DEPTH_MAX, SIZE_MAX};
    const struct json_extent extent = json_measure(text.at, text.n, &bounds);
    if (extent.too_deep)
        return pv_fail(err, PV_E_SYNTAX, "the JSON is nested deeper than %d levels",
                       WRITER_DEPTH_MAX);
    return json_parse(text.at, text.n, &extent, bounds.depth, arena, value, err);
}
