#include "codec/json/shape.h"

#include <assert.h>
#include <math.h>

#include "codec/json/names.h"

static void *at(void *object, size_t offset)
{
    return (char *)object + offset;
}

static const void *at_const(const void *object, size_t offset)
{
    return (const char *)object + offset;
}

/* --- decoding --- */

static bool is_sent(const struct shape_member *member)
{
    return (member->flags & SHAPE_READ_ONLY) == 0;
}

static void refuse_member(const struct codec_node *node, const struct shape *shape, const char *key)
{
    struct nearest nearest = {.word = NULL};
    for (size_t i = 0; i < shape->n && codec_keeps_fault(node); i++)
        if (is_sent(&shape->members[i]))
            nearest_try(&nearest, key, shape->members[i].name);
    codec_fault_unknown(node, key, &nearest);
}

/* Which members of an object are which rows: where[i] - 1 is the member of row i, 0: it has none. It
 * holds for all objects that share the keys, of which a list is mostly made. */
enum { ROWS_MAX = 128 };
struct matching {
    const struct json_keys *keys; /* NULL: of no object yet */
    uint32_t where[ROWS_MAX];
};

/* Members mostly come in the order of the rows: each search begins behind the row found last. */
static size_t find_row(const struct shape *shape, struct strview key, size_t *next)
{
    for (size_t tried = 0; tried < shape->n; tried++) {
        size_t row = *next;
        *next = row + 1 == shape->n ? 0 : row + 1;
        if (strview_is(key, shape->members[row].name) && is_sent(&shape->members[row]))
            return row;
    }
    return SIZE_MAX;
}

/* Members that are unknown are faults, in each object. */
static void
match(const struct codec_node *node, const struct shape *shape, struct matching *matching)
{
    size_t n = json_value_members(node->json);
    size_t next = 0;
    bool known = true;
    if (n > 0 && matching->keys != NULL && node->json->items[-1].keys == matching->keys)
        return;
    memset(matching->where, 0, shape->n * sizeof *matching->where);
    for (size_t i = 0; i < n; i++) {
        size_t row = find_row(shape, json_value_key_view(node->json, i), &next);
        if (row == SIZE_MAX)
            refuse_member(node, shape, json_value_key(node->json, i));
        else
            matching->where[row] = (uint32_t)i + 1;
        known = known && row != SIZE_MAX;
    }
    matching->keys = n > 0 && known ? node->json->items[-1].keys : NULL;
}

static int64_t most_of(const struct shape_member *member, const void *limits)
{
    if (member->limit > 0)
        return *(const int64_t *)at_const(limits, member->limit - 1);
    return member->most == 0 ? INT64_MAX : member->most;
}

static void
refuse_twice(const struct codec_node *list, const struct shape *shape, const void *items, size_t n)
{
    const struct shape_member *member = shape->members;
    while (strcmp(member->name, shape->unique) != 0)
        member++;
    bool counted = member->kind == SHAPE_KIND_COUNT;
    size_t size = counted ? sizeof(int64_t) : sizeof(struct strview);
    char *values = codec_allocate(list, n, size);
    for (size_t i = 0; values != NULL && i < n; i++)
        memcpy(values + i * size, at_const(items, i * shape->size + member->at), size);
    if (values != NULL && counted)
        codec_refuse_same_ids(list, (void *)values, n, shape->twice);
    else if (values != NULL)
        codec_refuse_same_texts(list, shape->unique, (void *)values, n, shape->twice);
}

/* What an item that could not be decoded holds. */
static void set_unknown(const struct shape *shape, void *object)
{
    for (size_t i = 0; i < shape->n; i++) {
        const struct shape_member *member = &shape->members[i];
        void *value = at(object, member->at);
        switch (member->kind) {
        case SHAPE_KIND_NUMBER:
            *(double *)value = (double)NAN;
            break;
        case SHAPE_KIND_RANGE:
            ((double *)value)[0] = ((double *)value)[1] = (double)NAN;
            break;
        case SHAPE_KIND_COUNT:
            *(int64_t *)value = RUN_UNKNOWN;
            break;
        case SHAPE_KIND_INTEGER:
            *(int64_t *)value = INT64_MIN;
            break;
        case SHAPE_KIND_SIZE:
            *(size_t *)value = SIZE_MAX;
            break;
        case SHAPE_KIND_INSTANT:
            *(int64_t *)value = RUN_NO_INSTANT;
            break;
        case SHAPE_KIND_OBJECT:
            set_unknown(member->of, value);
            break;
        case SHAPE_KIND_BOOLEAN:
        case SHAPE_KIND_TEXT:
        case SHAPE_KIND_NAME:
        case SHAPE_KIND_ID:
        case SHAPE_KIND_LABELS:
        case SHAPE_KIND_WORD:
        case SHAPE_KIND_WORDS:
        case SHAPE_KIND_OBJECTS:
        case SHAPE_KIND_CODE:
            break; /* zeros */
        }
    }
}

static void decode_matched(const struct codec_node *node,
                           const struct shape *shape,
                           const void *limits,
                           void *object,
                           struct matching *matching);

static void decode_objects(const struct codec_node *node,
                           const struct shape_member *member,
                           const void *limits,
                           void *object)
{
    struct codec_node list;
    struct matching matching;
    size_t n;
    assert(member->item == member->of->size && member->of->n <= ROWS_MAX);
    matching.keys = NULL;
    char *items = codec_list(node, member->name, member->flags, (size_t)member->least,
                             (size_t)most_of(member, limits), member->of->size, &list, &n);
    *(void **)at(object, member->at) = items;
    *(size_t *)at(object, member->n_at) = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        char *out = items + i * member->of->size;
        if (codec_expect_object(&item))
            decode_matched(&item, member->of, limits, out, &matching);
        else
            set_unknown(member->of, out);
    }
    if (member->of->unique != NULL && n > 0)
        refuse_twice(&list, member->of, items, n);
}

static void decode_object(const struct codec_node *node,
                          const struct shape_member *member,
                          const void *limits,
                          void *object)
{
    assert(member->item == member->of->size);
    struct codec_node part = codec_object(node, member->name, member->flags);
    if (part.json != NULL)
        shape_decode(&part, member->of, limits, at(object, member->at));
}

static double high_of(const struct shape_member *member, const void *limits)
{
    if (member->limit > 0)
        return (double)most_of(member, limits);
    return member->high == 0 ? (double)INFINITY : member->high;
}

static int64_t decode_integer(struct codec_node *sent,
                              const struct shape_member *member,
                              const void *limits,
                              int64_t absent)
{
    return codec_expect(sent, member->flags)
               ? codec_as_integer(sent, member->least, most_of(member, limits))
               : absent;
}

static void decode_range(const struct codec_node *node,
                         const struct shape_member *member,
                         const void *limits,
                         double range[2])
{
    struct codec_node pair = codec_array(node, member->name, member->flags, 2, 2);
    range[0] = range[1] = (double)NAN;
    for (size_t i = 0; pair.json != NULL && i < 2; i++) {
        struct codec_node end = codec_item(&pair, i);
        range[i] = codec_as_number(&end, member->flags, member->low, high_of(member, limits));
    }
    if (range[0] > range[1])
        codec_fault(&pair, "out_of_range", "begins above its end");
}

/* sent: the member, whose json is NULL where it is absent. */
static void decode_member(const struct codec_node *node,
                          struct codec_node *sent,
                          const struct shape_member *member,
                          const void *limits,
                          void *object)
{
    const char *name = member->name;
    unsigned flags = member->flags;
    void *value = at(object, member->at);
    switch (member->kind) {
    case SHAPE_KIND_NUMBER:
        *(double *)value = codec_expect(sent, flags)
                               ? codec_as_number(sent, flags, member->low, high_of(member, limits))
                               : (double)NAN;
        break;
    case SHAPE_KIND_COUNT:
        *(int64_t *)value = decode_integer(sent, member, limits, RUN_UNKNOWN);
        break;
    case SHAPE_KIND_INTEGER:
        *(int64_t *)value = decode_integer(sent, member, limits, INT64_MIN);
        break;
    case SHAPE_KIND_SIZE:
        *(size_t *)value = (size_t)decode_integer(sent, member, limits, RUN_UNKNOWN);
        break;
    case SHAPE_KIND_RANGE:
        decode_range(node, member, limits, value);
        break;
    case SHAPE_KIND_BOOLEAN:
        *(bool *)value = (flags & SHAPE_TRUE) != 0;
        if (codec_expect(sent, flags))
            *(bool *)value = codec_as_boolean(sent, *(bool *)value);
        break;
    case SHAPE_KIND_TEXT:
        (void)codec_expect(sent, flags);
        *(struct strview *)value =
            codec_as_text(sent, (size_t)member->least, (size_t)most_of(member, limits));
        break;
    case SHAPE_KIND_NAME:
        (void)codec_expect(sent, flags);
        *(struct strview *)value = codec_as_name(sent);
        break;
    case SHAPE_KIND_INSTANT:
        *(int64_t *)value = codec_instant(node, name, flags);
        break;
    case SHAPE_KIND_ID:
        codec_uuid(node, name, flags, value);
        break;
    case SHAPE_KIND_LABELS:
        codec_labels(node, name, flags, (size_t)most_of(member, limits), value,
                     at(object, member->n_at));
        break;
    case SHAPE_KIND_WORD:
        (void)codec_expect(sent, flags);
        *(unsigned *)value = (unsigned)codec_as_choice(
            sent, member->words, (flags & SHAPE_KEEP) != 0 ? *(unsigned *)value : 0);
        break;
    case SHAPE_KIND_WORDS:
        *(unsigned *)value = codec_words(node, name, flags, (size_t)member->least, member->words);
        break;
    case SHAPE_KIND_OBJECT:
        decode_object(node, member, limits, object);
        break;
    case SHAPE_KIND_OBJECTS:
        decode_objects(node, member, limits, object);
        break;
    case SHAPE_KIND_CODE:
        if (member->decode != NULL)
            member->decode(node, limits, object);
        break;
    }
}

static void decode_matched(const struct codec_node *node,
                           const struct shape *shape,
                           const void *limits,
                           void *object,
                           struct matching *matching)
{
    match(node, shape, matching);
    for (size_t i = 0; i < shape->n; i++) {
        const struct shape_member *member = &shape->members[i];
        if (!is_sent(member))
            continue;
        struct codec_node sent = {.reader = node->reader, .up = node, .key = member->name};
        if (matching->where[i] > 0)
            sent.json = json_value_member_at(node->json, matching->where[i] - 1);
        if (member->given_at > 0)
            *(bool *)at(object, member->given_at - 1) = sent.json != NULL;
        if ((member->flags & SHAPE_KEEP) != 0 &&
            (sent.json == NULL ||
             (json_value_is_null(sent.json) && (member->flags & CODEC_NULLABLE) != 0)))
            continue;
        decode_member(node, &sent, member, limits, object);
    }
    if (shape->check != NULL)
        shape->check(node, limits, object);
}

void shape_decode(const struct codec_node *node,
                  const struct shape *shape,
                  const void *limits,
                  void *object)
{
    struct matching matching;
    assert(shape->n <= ROWS_MAX);
    matching.keys = NULL;
    decode_matched(node, shape, limits, object, &matching);
}

bool shape_has(const struct codec_node *node, const struct shape *shape, unsigned flags)
{
    for (size_t i = 0; i < shape->n; i++)
        if ((shape->members[i].flags & flags) != 0 &&
            json_value_member(node->json, shape->members[i].name) != NULL)
            return true;
    return false;
}

/* --- encoding --- */

void shape_encode_labels(struct writer *w, const struct run_label labels[], size_t n)
{
    writer_begin_object(w);
    for (size_t i = 0; i < n; i++) {
        writer_key_view(w, labels[i].key);
        writer_text(w, labels[i].value);
    }
    writer_end_object(w);
}

static bool is_unknown(const struct shape_member *member, const void *value)
{
    switch (member->kind) {
    case SHAPE_KIND_NUMBER:
    case SHAPE_KIND_RANGE:
        return isnan(*(const double *)value);
    case SHAPE_KIND_COUNT:
        return *(const int64_t *)value < 0;
    case SHAPE_KIND_INTEGER:
        return *(const int64_t *)value == INT64_MIN;
    case SHAPE_KIND_BOOLEAN:
        return !*(const bool *)value;
    case SHAPE_KIND_TEXT:
    case SHAPE_KIND_NAME:
        return ((const struct strview *)value)->at == NULL;
    case SHAPE_KIND_INSTANT:
        return *(const int64_t *)value == RUN_NO_INSTANT;
    case SHAPE_KIND_ID:
        return *(const char *)value == '\0';
    case SHAPE_KIND_SIZE:
        return *(const size_t *)value == SIZE_MAX;
    case SHAPE_KIND_OBJECTS:
        return *(const void *const *)value == NULL;
    default:
        return false;
    }
}

static void encode_objects(struct writer *w,
                           const struct shape_member *member,
                           const void *object,
                           const void *context)
{
    const void *items = *(void *const *)at_const(object, member->at);
    size_t n = *(const size_t *)at_const(object, member->n_at);
    bool known = items != NULL || (member->flags & CODEC_NULLABLE) == 0 || n > 0 ||
                 (member->flags & SHAPE_KEEP) == 0;
    if (!writer_member_array_or_null(w, member->name, known))
        return;
    for (size_t i = 0; i < n; i++)
        shape_encode(w, member->of, at_const(items, i * member->of->size), 0, context);
    writer_end_array(w);
}

static void encode_value(struct writer *w,
                         const struct shape_member *member,
                         const void *object,
                         const void *context)
{
    const void *value = at_const(object, member->at);
    const char *name = member->name;
    switch (member->kind) {
    case SHAPE_KIND_NUMBER:
        writer_member_number(w, name, *(const double *)value);
        break;
    case SHAPE_KIND_COUNT:
        writer_member_count(w, name, *(const int64_t *)value);
        break;
    case SHAPE_KIND_INTEGER:
        writer_key(w, name);
        if (*(const int64_t *)value == INT64_MIN)
            writer_null(w);
        else
            writer_integer(w, *(const int64_t *)value);
        break;
    case SHAPE_KIND_SIZE:
        writer_member_count(w, name, (int64_t) * (const size_t *)value);
        break;
    case SHAPE_KIND_RANGE:
        writer_member_pair(w, name, value);
        break;
    case SHAPE_KIND_BOOLEAN:
        writer_member_boolean(w, name, *(const bool *)value);
        break;
    case SHAPE_KIND_TEXT:
    case SHAPE_KIND_NAME:
        writer_member_text(w, name, *(const struct strview *)value);
        break;
    case SHAPE_KIND_INSTANT:
        writer_member_instant(w, name, *(const int64_t *)value);
        break;
    case SHAPE_KIND_ID:
        writer_member_string(w, name, *(const char *)value == '\0' ? NULL : value);
        break;
    case SHAPE_KIND_LABELS:
        writer_key(w, name);
        shape_encode_labels(w, *(struct run_label *const *)value,
                            *(const size_t *)at_const(object, member->n_at));
        break;
    case SHAPE_KIND_WORD:
        writer_member_string(w, name, member->words[*(const unsigned *)value]);
        break;
    case SHAPE_KIND_WORDS:
        writer_member_array(w, name);
        for (size_t i = 0; member->words[i] != NULL; i++)
            if ((*(const unsigned *)value & 1U << i) != 0)
                writer_string(w, member->words[i]);
        writer_end_array(w);
        break;
    case SHAPE_KIND_OBJECT:
        writer_key(w, name);
        shape_encode(w, member->of, value, 0, context);
        break;
    case SHAPE_KIND_OBJECTS:
        encode_objects(w, member, object, context);
        break;
    case SHAPE_KIND_CODE:
        break;
    }
}

void shape_encode(struct writer *w,
                  const struct shape *shape,
                  const void *object,
                  unsigned without,
                  const void *context)
{
    writer_begin_object(w);
    for (size_t i = 0; i < shape->n; i++) {
        const struct shape_member *member = &shape->members[i];
        if ((member->flags & (without | SHAPE_WRITE_ONLY)) != 0)
            continue;
        if (member->kind != SHAPE_KIND_CODE) {
            if ((member->flags & SHAPE_OMIT_UNKNOWN) == 0 ||
                !is_unknown(member, at_const(object, member->at)))
                encode_value(w, member, object, context);
        } else if (member->encode != NULL) {
            member->encode(w, object, context);
        }
    }
    writer_end_object(w);
}
