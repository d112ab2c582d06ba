#include "codec/json/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duty.h"
#include "base/instant.h"
#include "base/plural.h"
#include "base/quantity_text.h"
#include "base/uuid.h"
#include "codec/json/bounds.h"

static enum pv_code parse(struct arena *tree,
                          const char *text,
                          size_t n,
                          const struct codec_bounds *bounds,
                          const struct json_value **json,
                          struct pv_error *err)
{
    duty_parses(n);
    if (n == 0)
        return pv_fail(err, PV_E_SYNTAX, "the body is empty where a JSON object is expected");
    const struct json_bounds most = {bounds->depth, bounds->values};
    const struct json_extent extent = json_measure(text, n, &most);
    if (extent.too_deep)
        return pv_fail(err, PV_E_SYNTAX,
                       "the JSON is nested deeper than %zu levels (json_depth_max)", bounds->depth);
    if (extent.too_many)
        return pv_fail(err, PV_E_LIMIT, "the JSON holds more than %zu value%s (json_values_max)",
                       bounds->values, PLURAL(bounds->values));
    PV_TRY(json_parse(text, n, &extent, bounds->depth, tree, json, err));
    if (!json_value_is_object(*json)) {
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
    const struct json_value *json = NULL;
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
                               .json = json_value_member(object->json, key)};
}

struct codec_node codec_member_at(const struct codec_node *object, size_t i)
{
    return (struct codec_node){.reader = object->reader,
                               .up = object,
                               .key = json_value_key(object->json, i),
                               .json = json_value_member_at(object->json, i)};
}

struct codec_node codec_item(const struct codec_node *array, size_t index)
{
    return (struct codec_node){.reader = array->reader,
                               .up = array,
                               .index = index,
                               .json = json_value_item(array->json, index)};
}

bool codec_present(const struct codec_node *object, const char *key)
{
    const struct json_value *json = json_value_member(object->json, key);
    return json != NULL && !json_value_is_null(json);
}

void codec_fault_unknown(const struct codec_node *object,
                         const char *key,
                         const struct nearest *nearest)
{
    bool near = nearest->word != NULL;
    codec_fault_member(object, key, "unknown_field", "there is no such member here%s%s%s",
                       near ? "; did you mean " : "", near ? nearest->word : "", near ? "?" : "");
}

bool codec_keeps_fault(const struct codec_node *node)
{
    return node->reader->err->n_faults < PV_FAULTS_MAX;
}

void codec_refuse_unknown(const struct codec_node *object, const char *const known[])
{
    for (size_t m = 0; m < json_value_members(object->json); m++) {
        const char *key = json_value_key(object->json, m);
        struct nearest nearest = {.word = NULL};
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0)
            i++;
        if (known[i] != NULL)
            continue;
        for (size_t k = 0; k < i && codec_keeps_fault(object); k++)
            nearest_try(&nearest, key, known[k]);
        codec_fault_unknown(object, key, &nearest);
    }
}

bool codec_expect(struct codec_node *node, unsigned flags)
{
    if (node->json == NULL && (flags & CODEC_REQUIRED) != 0)
        codec_fault(node, "required", "is required");
    if (json_value_is_null(node->json) && (flags & CODEC_NULLABLE) != 0)
        node->json = NULL;
    return node->json != NULL;
}

/* The member where it is there to be judged; records the fault of a missing one. */
static struct codec_node wanted(const struct codec_node *object, const char *key, unsigned flags)
{
    struct codec_node node = codec_member(object, key);
    (void)codec_expect(&node, flags);
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
    if (json_value_is_object(node->json))
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
    size_t n = json_value_items(node.json);
    if (!json_value_is_array(node.json))
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
        list->json == NULL ? NULL : codec_allocate(list, json_value_items(list->json), size);
    *n = items == NULL ? 0 : json_value_items(list->json);
    return items;
}

double codec_as_number(const struct codec_node *node, unsigned flags, double low, double high)
{
    if (!json_value_is_number(node->json)) {
        codec_fault(node, "wrong_type", "must be a number");
        return NAN;
    }
    double value = json_value_number(node->json);
    bool below = (flags & CODEC_ABOVE) != 0 ? value <= low : value < low;
    if (below && value <= 0 && low > 0 && low <= CODEC_SECONDS_MIN) {
        /* The bound only keeps quotients finite: 0 is the mistake. */
        codec_fault(node, "out_of_range", "must be greater than 0, is %s",
                    quantity_digits(value, 15).text);
        return NAN;
    }
    if (below) {
        codec_fault(node, "out_of_range", "must be %s %s, is %s",
                    (flags & CODEC_ABOVE) != 0 ? "greater than" : "at least",
                    quantity_digits(low, 15).text, quantity_digits(value, 15).text);
        return NAN;
    }
    if (value > high) {
        bool is_percent = high <= 1 && value > 1 && value <= 100;
        if (is_percent)
            codec_fault(node, "out_of_range", "must be at most %s, is %s; %s %% are %s",
                        quantity_digits(high, 15).text, quantity_digits(value, 15).text,
                        quantity_digits(value, 15).text, quantity_digits(value / 100, 15).text);
        else
            codec_fault(node, "out_of_range", "must be at most %s, is %s",
                        quantity_digits(high, 15).text, quantity_digits(value, 15).text);
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
    bool is_real = json_value_is(node->json, JSON_VALUE_REAL);
    double real = is_real ? node->json->real : 0;
    if (json_value_is_integer(node->json)) {
        value = node->json->integer;
    } else if (is_real && real == floor(real) && fabs(real) <= 9007199254740992.0) {
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

bool codec_as_boolean(const struct codec_node *node, bool otherwise)
{
    if (json_value_is_boolean(node->json))
        return json_value_is_true(node->json);
    codec_fault(node, "wrong_type", "must be true or false");
    return otherwise;
}

bool codec_boolean(const struct codec_node *object, const char *key, unsigned flags, bool absent)
{
    struct codec_node node = wanted(object, key, flags);
    return node.json == NULL ? absent : codec_as_boolean(&node, absent);
}

/* The text of a string member, still the tree's; at == NULL when absent or at fault. */
static struct strview borrowed_text(const struct codec_node *node)
{
    if (node->json == NULL)
        return (struct strview){NULL, 0};
    if (!json_value_is_text(node->json))
        codec_fault(node, "wrong_type", "must be a string");
    return json_value_view(node->json);
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

struct strview codec_as_text(const struct codec_node *node, size_t least, size_t most)
{
    struct strview text = borrowed_text(node);
    if (text.at == NULL)
        return text;
    if (text.n < least || text.n > most) {
        codec_fault(node, "out_of_range", "must be %zu to %zu bytes long, is %zu", least, most,
                    text.n);
        return (struct strview){NULL, 0};
    }
    return keep_text(node, text);
}

struct strview codec_text(
    const struct codec_node *object, const char *key, unsigned flags, size_t least, size_t most)
{
    struct codec_node node = wanted(object, key, flags);
    return codec_as_text(&node, least, most);
}

bool codec_is_name(struct strview text)
{
    if (text.n == 0 || !strview_is_utf8(text))
        return false;
    size_t characters = 0;
    bool blank = true;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 0x20 || c == 0x7f)
            return false;
        blank = blank && c == ' ';
        /* U+0080..U+009F, the other control characters, are C2 80 .. C2 9F. */
        if (c == 0xc2 && (unsigned char)text.at[i + 1] < 0xa0)
            return false;
        characters += (c & 0xc0) != 0x80;
    }
    return characters <= 255 && !blank;
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
    return json_value_view(node->json);
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
    for (size_t i = 0; list.json != NULL && i < json_value_items(list.json); i++) {
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

size_t codec_as_choice(const struct codec_node *node, const char *const words[], size_t absent)
{
    struct strview text = borrowed_text(node);
    size_t word = text.at == NULL ? SIZE_MAX : find_word(node, text, words);
    return word == SIZE_MAX ? absent : word;
}

size_t codec_choice(const struct codec_node *object,
                    const char *key,
                    unsigned flags,
                    const char *const words[],
                    size_t absent)
{
    struct codec_node node = wanted(object, key, flags);
    return codec_as_choice(&node, words, absent);
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
    size_t count = json_value_members(map.json);
    if (count > most) {
        codec_fault(&map, "too_many_items", "may hold at most %zu labels, has %zu", most, count);
        return;
    }
    struct run_label *all = codec_allocate(&map, count, sizeof *all);
    if (all == NULL)
        return;
    size_t i = 0;
    for (size_t m = 0; m < count; m++) {
        struct codec_node node = codec_member_at(&map, m);
        struct strview name = json_value_key_view(map.json, m);
        if (!codec_is_name(name)) {
            codec_fault(&node, "invalid_name",
                        "a label's key must be 1 to 255 characters without control characters");
            continue;
        }
        all[i].key = keep_text(&node, name);
        all[i].value = codec_as_text(&node, 0, 1024);
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
    size_t n = json_value_items(array->json);
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
