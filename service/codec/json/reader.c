#include "codec/json/reader.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duty.h"
#include "base/instant.h"
#include "base/plural.h"
#include "base/uuid.h"

/* How much is read, and how many values are made, before the thread may pause: some 0.1 ms each. */
enum { PAUSE_BYTES = 1 << 16, PAUSE_VALUES = 1 << 11 };

/* What there is in a document. */
struct extent {
    size_t depth;
    size_t commas;
    size_t objects;
    size_t arrays;
    size_t members;
    size_t longest; /* text, in bytes */
};

static size_t count_values(const struct extent *seen)
{
    return seen->commas + seen->objects + seen->arrays;
}

/* The index of the quote that ends the text which begins behind `from`; n: none does. */
static size_t end_of_text(const char *text, size_t n, size_t from)
{
    size_t i = from + 1;
    while (i < n && text[i] != '"')
        i += text[i] == '\\' ? 2 : 1;
    return i;
}

/* What there is to do about a byte; most are OTHER. */
enum mark { OTHER, QUOTE, OPEN, CLOSE, COMMA, COLON };
static const unsigned char marks[256] = {['"'] = QUOTE, ['{'] = OPEN,  ['['] = OPEN, ['}'] = CLOSE,
                                         [']'] = CLOSE, [','] = COMMA, [':'] = COLON};

/*
 * Judged on the raw text, as far as the bounds allow: a tree takes some fifty bytes a value and
 * hundreds an object, so that a body of commas would cost many times its own size.
 */
static struct extent reader_measure(const char *text, size_t n, const struct codec_bounds *stop)
{
    struct extent seen = {0};
    size_t depth = 0;
    size_t pause = PAUSE_BYTES;
    for (size_t i = 0; i < n; i++) {
        enum mark mark = marks[(unsigned char)text[i]];
        if (mark == OTHER)
            continue;
        if (mark == QUOTE) {
            size_t end = end_of_text(text, n, i);
            if (end - i > seen.longest)
                seen.longest = end - i;
            i = end;
        } else if (mark == COLON) {
            seen.members++;
        } else if (mark == CLOSE) {
            depth -= depth > 0;
        } else {
            seen.commas += mark == COMMA;
            seen.objects += text[i] == '{';
            seen.arrays += text[i] == '[';
            depth += mark == OPEN;
            if (depth > seen.depth)
                seen.depth = depth;
            if (seen.depth > stop->depth || count_values(&seen) > stop->values)
                break;
        }
        if (i >= pause) {
            duty_works_on();
            pause = i + PAUSE_BYTES;
        }
    }
    return seen;
}

/*
 * About what jansson 2.14 asks for in bytes, of which it gives nothing back to an arena: tables
 * and buffers that grow are there in all their sizes, keys twice. An object has room for eight
 * members at first.
 */
static size_t tree_bytes(const struct extent *seen, size_t n)
{
    enum {
        OBJECT_BYTES = 208,
        ARRAY_BYTES = 112,
        MEMBER_BYTES = 80,
        TABLE_BYTES = 64, /* of a member beyond the eighth, at most */
        ITEM_BYTES = 32,
        SCALAR_BYTES = 48
    };
    const size_t values = count_values(seen);
    const size_t items = values > seen->members ? values - seen->members : 0;
    const size_t roomy = 8 * seen->objects;
    return seen->objects * OBJECT_BYTES + seen->arrays * ARRAY_BYTES +
           seen->members * MEMBER_BYTES +
           (seen->members > roomy ? seen->members - roomy : 0) * TABLE_BYTES + items * ITEM_BYTES +
           (seen->commas + 1) * SCALAR_BYTES + 2 * n + 4 * seen->longest;
}

/*
 * What jansson asks for while it parses comes from an arena, and goes with it: a million values are
 * given back at once, and to the system. It would not survive an answer of NULL everywhere (it
 * asserts that there was memory for the text of a number), so lack of memory leaves it by longjmp:
 * all that it holds is in the arena.
 */
static _Thread_local struct {
    struct arena *tree; /* NULL: nothing is being parsed */
    size_t values;      /* made since the thread last might pause */
    jmp_buf no_memory;
} parsing;

static void *parser_alloc(size_t n)
{
    if (parsing.tree == NULL)
        return malloc(n);
    if (++parsing.values == PAUSE_VALUES) {
        parsing.values = 0;
        duty_works_on();
    }
    void *at = arena_alloc(parsing.tree, n);
    if (at == NULL)
        longjmp(parsing.no_memory, 1);
    return at;
}

static void parser_free(void *at)
{
    if (parsing.tree == NULL)
        free(at);
}

/* Before main, so before there is a thread or a tree. */
__attribute__((constructor)) static void set_up_parser(void)
{
    json_set_alloc_funcs(parser_alloc, parser_free);
    json_object_seed(0);
}

/* false: no memory. *json is NULL where the text is none. */
static bool
parse_into(struct arena *tree, const char *text, size_t n, json_t **json, json_error_t *why)
{
    parsing.tree = tree;
    if (setjmp(parsing.no_memory) != 0) {
        parsing.tree = NULL;
        return false;
    }
    *json = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, why);
    parsing.tree = NULL;
    return true;
}

static enum pv_code not_json(const json_error_t *why, struct pv_error *err)
{
    if (why->line <= 1) /* a line of NDJSON has a number of its own */
        return pv_fail(err, PV_E_SYNTAX, "not valid JSON at column %d: %s", why->column, why->text);
    return pv_fail(err, PV_E_SYNTAX, "not valid JSON at line %d, column %d: %s", why->line,
                   why->column, why->text);
}

static enum pv_code parse(struct arena *tree,
                          const char *text,
                          size_t n,
                          const struct codec_bounds *bounds,
                          json_t **json,
                          struct pv_error *err)
{
    duty_parses(n);
    if (n == 0)
        return pv_fail(err, PV_E_SYNTAX, "the body is empty where a JSON object is expected");
    const struct extent seen = reader_measure(text, n, bounds);
    if (seen.depth > bounds->depth)
        return pv_fail(err, PV_E_SYNTAX,
                       "the JSON is nested deeper than %zu levels (json_depth_max)", bounds->depth);
    if (count_values(&seen) > bounds->values)
        return pv_fail(err, PV_E_LIMIT, "the JSON holds more than %zu value%s (json_values_max)",
                       bounds->values, PLURAL(bounds->values));
    json_error_t why;
    if (!arena_reserve(tree, tree_bytes(&seen, n)) || !parse_into(tree, text, n, json, &why))
        return pv_no_memory(err);
    arena_end_reserve(tree);
    if (*json == NULL)
        return not_json(&why, err);
    if (!json_is_object(*json)) {
        (void)pv_fault(err, PV_PLACE_POINTER, "", "wrong_type", "must be an object");
        return PV_E_INVALID;
    }
    return PV_OK;
}

enum pv_code codec_open(struct codec_document *document,
                        const char *text,
                        size_t n,
                        const struct codec_bounds *bounds,
                        struct arena *arena,
                        struct pv_error *err)
{
    json_t *json = NULL;
    *document = (struct codec_document){.reader = {arena, err}};
    arena_init_beside(&document->tree, arena, 0);
    enum pv_code code = parse(&document->tree, text, n, bounds, &json, err);
    if (code != PV_OK)
        arena_fini(&document->tree);
    else
        document->top = (struct codec_node){.reader = &document->reader, .json = json};
    return code;
}

enum pv_code codec_close(struct codec_document *document)
{
    arena_fini(&document->tree);
    document->top.json = NULL;
    return codec_result(&document->reader);
}

enum pv_code codec_result(const struct codec_reader *reader)
{
    return reader->err->code;
}

size_t codec_pointer_segment(const char *key, size_t at, char *out, size_t n)
{
    for (; *key != '\0' && at + 1 < n; key++) {
        if (*key == '~' || *key == '/') {
            if (at + 2 >= n)
                break;
            out[at++] = '~';
            out[at++] = *key == '~' ? '0' : '1';
        } else {
            out[at++] = *key;
        }
    }
    for (; ((unsigned char)*key & 0xC0) == 0x80; key--)
        at--; /* the rest of a character did not fit */
    return at;
}

static size_t put_path(const struct codec_node *node, char *out, size_t n)
{
    if (node == NULL || node->up == NULL)
        return 0;
    size_t at = put_path(node->up, out, n);
    if (at + 1 < n)
        out[at++] = '/';
    if (node->key != NULL)
        return codec_pointer_segment(node->key, at, out, n);
    char index[24];
    (void)snprintf(index, sizeof index, "%zu", node->index);
    return codec_pointer_segment(index, at, out, n);
}

void codec_pointer(const struct codec_node *node, char *out, size_t n)
{
    out[put_path(node, out, n)] = '\0';
}

PV_PRINTF(3, 0)
static void
fault_at(const struct codec_node *node, const char *code, const char *format, va_list args)
{
    char pointer[sizeof((struct pv_fault *)0)->at];
    codec_pointer(node, pointer, sizeof pointer);
    char detail[sizeof((struct pv_fault *)0)->detail];
    (void)vsnprintf(detail, sizeof detail, format, args);
    (void)pv_fault(node->reader->err, PV_PLACE_POINTER, pointer, code, "%s", detail);
}

void codec_fault(const struct codec_node *node, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fault_at(node, code, format, args);
    va_end(args);
}

void codec_fault_member(
    const struct codec_node *object, const char *key, const char *code, const char *format, ...)
{
    struct codec_node member = {.reader = object->reader, .up = object, .key = key};
    va_list args;
    va_start(args, format);
    fault_at(&member, code, format, args);
    va_end(args);
}

struct codec_node codec_member(const struct codec_node *object, const char *key)
{
    return (struct codec_node){.reader = object->reader,
                               .up = object,
                               .key = key,
                               .json = json_object_get(object->json, key)};
}

struct codec_node codec_item(const struct codec_node *array, size_t index)
{
    return (struct codec_node){.reader = array->reader,
                               .up = array,
                               .index = index,
                               .json = json_array_get(array->json, index)};
}

bool codec_present(const struct codec_node *object, const char *key)
{
    json_t *json = json_object_get(object->json, key);
    return json != NULL && !json_is_null(json);
}

void codec_fault_unknown(const struct codec_node *object,
                         const char *key,
                         const struct nearest *nearest)
{
    bool near = nearest->word != NULL;
    codec_fault_member(object, key, "unknown_field", "there is no such field here%s%s%s",
                       near ? "; did you mean " : "", near ? nearest->word : "", near ? "?" : "");
}

void codec_refuse_unknown(const struct codec_node *object, const char *const known[])
{
    const char *key;
    json_t *value;
    json_object_foreach(object->json, key, value)
    {
        struct nearest nearest = {.word = NULL};
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0)
            i++;
        if (known[i] != NULL)
            continue;
        for (size_t k = 0; k < i; k++)
            nearest_try(&nearest, key, known[k]);
        codec_fault_unknown(object, key, &nearest);
    }
}

/* The member where it is there to be judged; records the fault of a missing one. */
static struct codec_node wanted(const struct codec_node *object, const char *key, unsigned flags)
{
    struct codec_node node = codec_member(object, key);
    if (node.json == NULL && (flags & CODEC_REQUIRED) != 0)
        codec_fault(&node, "required", "is required");
    if (json_is_null(node.json) && (flags & CODEC_NULLABLE) != 0)
        node.json = NULL;
    return node;
}

struct codec_node codec_object(const struct codec_node *object, const char *key, unsigned flags)
{
    struct codec_node node = wanted(object, key, flags);
    if (node.json != NULL && !codec_expect_object(&node))
        node.json = NULL;
    return node;
}

bool codec_expect_object(const struct codec_node *node)
{
    if (json_is_object(node->json))
        return true;
    codec_fault(node, "wrong_type", "must be an object");
    return false;
}

struct codec_node codec_array(
    const struct codec_node *object, const char *key, unsigned flags, size_t least, size_t most)
{
    struct codec_node node = wanted(object, key, flags);
    if (node.json == NULL)
        return node;
    size_t n = json_array_size(node.json);
    if (!json_is_array(node.json))
        codec_fault(&node, "wrong_type", "must be an array");
    else if (n < least)
        codec_fault(&node, "too_few_items", "needs at least %zu item%s, has %zu", least,
                    PLURAL(least), n);
    else if (n > most)
        codec_fault(&node, "too_many_items", "may hold at most %zu item%s, has %zu", most,
                    PLURAL(most), n);
    else
        return node;
    node.json = NULL;
    return node;
}

void *codec_allocate(const struct codec_node *node, size_t n, size_t size)
{
    void *made = arena_calloc(node->reader->arena, n, size);
    if (made == NULL)
        (void)pv_no_memory(node->reader->err);
    return made;
}

void *codec_list(const struct codec_node *object,
                 const char *key,
                 unsigned flags,
                 size_t least,
                 size_t most,
                 size_t size,
                 struct codec_node *list,
                 size_t *n)
{
    *list = codec_array(object, key, flags, least, most);
    void *items =
        list->json == NULL ? NULL : codec_allocate(list, json_array_size(list->json), size);
    *n = items == NULL ? 0 : json_array_size(list->json);
    return items;
}

double codec_as_number(const struct codec_node *node, unsigned flags, double low, double high)
{
    if (!json_is_number(node->json)) {
        codec_fault(node, "wrong_type", "must be a number");
        return NAN;
    }
    double value = json_number_value(node->json);
    bool below = (flags & CODEC_ABOVE) != 0 ? value <= low : value < low;
    if (below) {
        codec_fault(node, "out_of_range", "must be %s %.15g, is %.15g",
                    (flags & CODEC_ABOVE) != 0 ? "greater than" : "at least", low, value);
        return NAN;
    }
    if (value > high) {
        bool is_percent = high <= 1 && value > 1 && value <= 100;
        if (is_percent)
            codec_fault(node, "out_of_range",
                        "must be at most %.15g, is %.15g; %.15g percent are %.15g", high, value,
                        value, value / 100);
        else
            codec_fault(node, "out_of_range", "must be at most %.15g, is %.15g", high, value);
        return NAN;
    }
    return value;
}

double codec_number(
    const struct codec_node *object, const char *key, unsigned flags, double low, double high)
{
    struct codec_node node = wanted(object, key, flags);
    return node.json == NULL ? (double)NAN : codec_as_number(&node, flags, low, high);
}

int64_t codec_as_integer(const struct codec_node *node, int64_t low, int64_t high)
{
    int64_t value = 0;
    double real = json_is_real(node->json) ? json_real_value(node->json) : 0;
    if (json_is_integer(node->json)) {
        value = json_integer_value(node->json);
    } else if (json_is_real(node->json) && real == floor(real) &&
               fabs(real) <= 9007199254740992.0) {
        value = (int64_t)real; /* 16.0 is the integer 16 */
    } else {
        codec_fault(node, "wrong_type", "must be an integer");
        return RUN_UNKNOWN;
    }
    if (value < low || value > high) {
        codec_fault(node, "out_of_range", "must be from %lld to %lld, is %lld", (long long)low,
                    (long long)high, (long long)value);
        return RUN_UNKNOWN;
    }
    return value;
}

int64_t codec_integer(
    const struct codec_node *object, const char *key, unsigned flags, int64_t low, int64_t high)
{
    struct codec_node node = wanted(object, key, flags);
    return node.json == NULL ? RUN_UNKNOWN : codec_as_integer(&node, low, high);
}

bool codec_boolean(const struct codec_node *object, const char *key, unsigned flags, bool absent)
{
    struct codec_node node = wanted(object, key, flags);
    if (node.json == NULL)
        return absent;
    if (!json_is_boolean(node.json)) {
        codec_fault(&node, "wrong_type", "must be true or false");
        return absent;
    }
    return json_is_true(node.json);
}

/* The text of a string member, still jansson's; at == NULL when absent or at fault. */
static struct strview borrowed_text(const struct codec_node *node)
{
    if (node->json == NULL)
        return (struct strview){NULL, 0};
    if (!json_is_string(node->json)) {
        codec_fault(node, "wrong_type", "must be a string");
        return (struct strview){NULL, 0};
    }
    return (struct strview){json_string_value(node->json), json_string_length(node->json)};
}

static struct strview keep_text(const struct codec_node *node, struct strview text)
{
    if (text.at == NULL)
        return text;
    struct strview copy = arena_copy(node->reader->arena, text);
    if (copy.at == NULL)
        (void)pv_no_memory(node->reader->err);
    return copy;
}

struct strview codec_text(
    const struct codec_node *object, const char *key, unsigned flags, size_t least, size_t most)
{
    struct codec_node node = wanted(object, key, flags);
    struct strview text = borrowed_text(&node);
    if (text.at == NULL)
        return text;
    if (text.n < least || text.n > most) {
        codec_fault(&node, "out_of_range", "must be %zu to %zu bytes long, is %zu", least, most,
                    text.n);
        return (struct strview){NULL, 0};
    }
    return keep_text(&node, text);
}

bool codec_is_name(struct strview text)
{
    if (text.n == 0 || !strview_is_utf8(text))
        return false;
    size_t characters = 0;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 0x20 || c == 0x7f)
            return false;
        /* U+0080..U+009F, the other control characters, are C2 80 .. C2 9F. */
        if (c == 0xc2 && (unsigned char)text.at[i + 1] < 0xa0)
            return false;
        characters += (c & 0xc0) != 0x80;
    }
    return characters <= 255;
}

struct strview codec_as_name(const struct codec_node *node)
{
    struct strview text = borrowed_text(node);
    if (text.at == NULL)
        return text;
    if (!codec_is_name(text)) {
        codec_fault(node, "invalid_name", "must be 1 to 255 characters without control characters");
        return (struct strview){NULL, 0};
    }
    return keep_text(node, text);
}

struct strview codec_name(const struct codec_node *object, const char *key, unsigned flags)
{
    struct codec_node node = wanted(object, key, flags);
    return codec_as_name(&node);
}

struct strview codec_string(const struct codec_node *node)
{
    return (struct strview){json_string_value(node->json), json_string_length(node->json)};
}

/* SIZE_MAX and a fault: it is none of them. */
static size_t
find_word(const struct codec_node *node, struct strview text, const char *const words[])
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (strview_is(text, words[i]))
            return i;
    const char *all = "";
    struct nearest nearest = {.word = NULL};
    for (size_t i = 0; words[i] != NULL && all != NULL; i++) {
        all = arena_printf(node->reader->arena, "%s%s%s", all, i == 0 ? "" : ", ", words[i]);
        nearest_try(&nearest, text.at, words[i]);
    }
    /* Said where there is room for it: a hint that is cut off is none. */
    enum { WORDS_AROUND = sizeof "must be one of: ; did you mean ?" };
    bool near = all != NULL && nearest.word != NULL &&
                strlen(all) + strlen(nearest.word) + WORDS_AROUND <=
                    sizeof node->reader->err->faults->detail;
    if (all == NULL)
        (void)pv_no_memory(node->reader->err);
    else
        codec_fault(node, "not_allowed", "must be one of: %s%s%s%s", all,
                    near ? "; did you mean " : "", near ? nearest.word : "", near ? "?" : "");
    return SIZE_MAX;
}

unsigned codec_words(const struct codec_node *object,
                     const char *key,
                     unsigned flags,
                     size_t least,
                     const char *const words[])
{
    enum { WORDS_MAX = 64 };
    unsigned found = 0;
    struct codec_node list = codec_array(object, key, flags, least, WORDS_MAX);
    for (size_t i = 0; list.json != NULL && i < json_array_size(list.json); i++) {
        struct codec_node item = codec_item(&list, i);
        struct strview text = borrowed_text(&item);
        size_t word = text.at == NULL ? SIZE_MAX : find_word(&item, text, words);
        if (word != SIZE_MAX && (found & 1U << word) != 0)
            codec_fault(&item, "duplicate", "is listed twice");
        else if (word != SIZE_MAX)
            found |= 1U << word;
    }
    return found;
}

size_t codec_choice(const struct codec_node *object,
                    const char *key,
                    unsigned flags,
                    const char *const words[],
                    size_t absent)
{
    struct codec_node node = wanted(object, key, flags);
    struct strview text = borrowed_text(&node);
    size_t word = text.at == NULL ? SIZE_MAX : find_word(&node, text, words);
    return word == SIZE_MAX ? absent : word;
}

int64_t codec_instant(const struct codec_node *object, const char *key, unsigned flags)
{
    struct codec_node node = wanted(object, key, flags);
    struct strview text = borrowed_text(&node);
    int64_t us = RUN_NO_INSTANT;
    if (text.at != NULL && !instant_parse(text.at, &us)) {
        codec_fault(&node, "invalid_instant",
                    "must be an RFC 3339 instant such as 2026-01-05T10:00:00Z");
        return RUN_NO_INSTANT;
    }
    return us;
}

void codec_uuid(const struct codec_node *object, const char *key, unsigned flags, char out[37])
{
    out[0] = '\0';
    struct codec_node node = wanted(object, key, flags);
    struct strview text = borrowed_text(&node);
    if (text.at == NULL)
        return;
    if (text.n != 36 || !uuid_parse(text.at, out)) {
        out[0] = '\0';
        codec_fault(&node, "invalid_id", "must be a UUID");
    }
}

void codec_labels(const struct codec_node *object,
                  const char *key,
                  unsigned flags,
                  size_t most,
                  struct run_label **labels,
                  size_t *n)
{
    *labels = NULL;
    *n = 0;
    struct codec_node map = codec_object(object, key, flags);
    if (map.json == NULL)
        return;
    size_t count = json_object_size(map.json);
    if (count > most) {
        codec_fault(&map, "too_many_items", "may hold at most %zu labels, has %zu", most, count);
        return;
    }
    struct run_label *all = codec_allocate(&map, count, sizeof *all);
    if (all == NULL)
        return;
    size_t i = 0;
    const char *name;
    json_t *value;
    json_object_foreach(map.json, name, value)
    {
        struct codec_node node = codec_member(&map, name);
        if (!codec_is_name(strview_of(name))) {
            codec_fault(&node, "invalid_name",
                        "a label's key must be 1 to 255 characters without control characters");
            continue;
        }
        all[i].key = keep_text(&node, strview_of(name));
        all[i].value = codec_text(&map, name, CODEC_REQUIRED, 0, 1024);
        if (all[i].key.at == NULL || all[i].value.at == NULL)
            continue;
        i++;
    }
    qsort(all, i, sizeof *all, run_label_compare);
    *labels = all;
    *n = i;
}

double *codec_as_numbers(const struct codec_node *array, unsigned flags, double low, double high)
{
    size_t n = json_array_size(array->json);
    double *values = arena_array(array->reader->arena, n, sizeof *values);
    if (values == NULL) {
        (void)pv_no_memory(array->reader->err);
        return NULL;
    }
    size_t faults = array->reader->err->n_faults;
    for (size_t i = 0; i < n && array->reader->err->n_faults == faults; i++) {
        struct codec_node item = codec_item(array, i);
        values[i] = codec_as_number(&item, flags, low, high);
    }
    return array->reader->err->n_faults == faults ? values : NULL;
}
