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
    for (size_t i = 0; i < shape->n; i++)
        if (is_sent(&shape->members[i]))
            nearest_try(&nearest, key, shape->members[i].name);
    codec_fault_unknown(node, key, &nearest);
}

/* Members mostly come in the order of the rows: each search begins behind the row found last. */
static void refuse_unknown(const struct codec_node *node, const struct shape *shape)
{
    const char *key;
    json_t *value;
    size_t row = 0;
    json_object_foreach(node->json, key, value)
    {
        size_t tried = 0;
        while (tried < shape->n &&
               (strcmp(shape->members[row].name, key) != 0 || !is_sent(&shape->members[row]))) {
            row = row + 1 == shape->n ? 0 : row + 1;
            tried++;
        }
        if (tried == shape->n)
            refuse_member(node, shape, key);
        else
            row = row + 1 == shape->n ? 0 : row + 1;
    }
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

static void decode_objects(const struct codec_node *node,
                           const struct shape_member *member,
                           const void *limits,
                           void *object)
{
    struct codec_node list;
    size_t n;
    assert(member->item == member->of->size);
    char *items = codec_list(node, member->name, member->flags, (size_t)member->least,
                             (size_t)most_of(member, limits), member->of->size, &list, &n);
    *(void **)at(object, member->at) = items;
    *(size_t *)at(object, member->n_at) = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        char *out = items + i * member->of->size;
        if (codec_expect_object(&item))
            shape_decode(&item, member->of, limits, out);
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

static void decode_member(const struct codec_node *node,
                          const struct shape_member *member,
                          const void *limits,
                          void *object)
{
    const char *name = member->name;
    unsigned flags = member->flags;
    void *value = at(object, member->at);
    switch (member->kind) {
    case SHAPE_KIND_NUMBER:
        *(double *)value = codec_number(node, name, flags, member->low, high_of(member, limits));
        break;
    case SHAPE_KIND_COUNT:
        *(int64_t *)value =
            codec_integer(node, name, flags, member->least, most_of(member, limits));
        break;
    case SHAPE_KIND_INTEGER:
        *(int64_t *)value = INT64_MIN;
        if (codec_present(node, name) || (flags & CODEC_REQUIRED) != 0)
            *(int64_t *)value =
                codec_integer(node, name, flags, member->least, most_of(member, limits));
        break;
    case SHAPE_KIND_SIZE:
        *(size_t *)value =
            (size_t)codec_integer(node, name, flags, member->least, most_of(member, limits));
        break;
    case SHAPE_KIND_RANGE:
        decode_range(node, member, limits, value);
        break;
    case SHAPE_KIND_BOOLEAN:
        *(bool *)value = codec_boolean(node, name, flags, (flags & SHAPE_TRUE) != 0);
        break;
    case SHAPE_KIND_TEXT:
        *(struct strview *)value =
            codec_text(node, name, flags, (size_t)member->least, (size_t)most_of(member, limits));
        break;
    case SHAPE_KIND_NAME:
        *(struct strview *)value = codec_name(node, name, flags);
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
        *(unsigned *)value = (unsigned)codec_choice(
            node, name, flags, member->words, (flags & SHAPE_KEEP) != 0 ? *(unsigned *)value : 0);
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

void shape_decode(const struct codec_node *node,
                  const struct shape *shape,
                  const void *limits,
                  void *object)
{
    refuse_unknown(node, shape);
    for (size_t i = 0; i < shape->n; i++) {
        const struct shape_member *member = &shape->members[i];
        if (!is_sent(member))
            continue;
        if (member->given_at > 0)
            *(bool *)at(object, member->given_at - 1) =
                json_object_get(node->json, member->name) != NULL;
        json_t *sent = json_object_get(node->json, member->name);
        if ((member->flags & SHAPE_KEEP) != 0 &&
            (sent == NULL || (json_is_null(sent) && (member->flags & CODEC_NULLABLE) != 0)))
            continue;
        decode_member(node, member, limits, object);
    }
    if (shape->check != NULL)
        shape->check(node, limits, object);
}

bool shape_has(const struct codec_node *node, const struct shape *shape, unsigned flags)
{
    for (size_t i = 0; i < shape->n; i++)
        if ((shape->members[i].flags & flags) != 0 &&
            json_object_get(node->json, shape->members[i].name) != NULL)
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
