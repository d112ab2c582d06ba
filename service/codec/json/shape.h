#ifndef CODEC_JSON_SHAPE_H
#define CODEC_JSON_SHAPE_H

#include "base/json_writer.h"
#include "codec/json/bounds.h"
#include "codec/json/reader.h"

/*
 * The shape of a JSON object as a table: one row for each member, which says where in a struct its
 * value lives and what it may be. One interpreter decodes, refuses unknown members and encodes, so
 * that a member is written once. Members that do not fit a row (unions, rules across members,
 * values that are worked out) are rows too, with functions of their own (SHAPE_CODE).
 *
 * tests/contract compares each table with its schema in openapi/.
 */
enum shape_kind {
    SHAPE_KIND_NUMBER,  /* double; unknown: NAN */
    SHAPE_KIND_COUNT,   /* int64_t; unknown: RUN_UNKNOWN */
    SHAPE_KIND_INTEGER, /* int64_t of either sign; unknown: INT64_MIN */
    SHAPE_KIND_SIZE,    /* size_t; unknown: SIZE_MAX */
    SHAPE_KIND_BOOLEAN, /* bool */
    SHAPE_KIND_RANGE,   /* two doubles from `low` to `high`, not descending; unknown: NAN */
    SHAPE_KIND_TEXT,    /* struct strview; unknown: at == NULL; least and most in bytes */
    SHAPE_KIND_NAME,    /* likewise, by the rule of names */
    SHAPE_KIND_INSTANT, /* int64_t, microseconds; unknown: RUN_NO_INSTANT */
    SHAPE_KIND_ID,      /* char[37], a UUID; unknown: "" */
    SHAPE_KIND_LABELS,  /* struct run_label * and their number */
    SHAPE_KIND_WORD,    /* unsigned or enum: the place of the word in `words` */
    SHAPE_KIND_WORDS,   /* unsigned or enum: a list of words, bit i for words[i] */
    SHAPE_KIND_OBJECT,  /* a struct by the shape `of`, part of this one */
    SHAPE_KIND_OBJECTS, /* a pointer to structs by the shape `of`, and their number */
    SHAPE_KIND_CODE     /* by `decode` and `encode`; either may be NULL */
};

/* Flags beyond those of the reader (CODEC_REQUIRED, CODEC_NULLABLE, CODEC_ABOVE). */
enum shape_flags {
    SHAPE_READ_ONLY = 1 << 4,    /* in replies alone: unknown in a request */
    SHAPE_WRITE_ONLY = 1 << 5,   /* in requests alone */
    SHAPE_OMIT_UNKNOWN = 1 << 6, /* replies leave it out where it is unknown (false) */
    SHAPE_TRUE = 1 << 7,         /* booleans: true where absent */
    SHAPE_KNOWN = 1 << 8,        /* null in requests, but never in replies */
    SHAPE_KEEP = 1 << 20         /* where it is absent (or null) the struct keeps what it holds */
};
/* Flags that a shape gives a meaning of its own: shape_encode leaves out, shape_has finds. */
#define SHAPE_GROUP(n) (1 << (9 + (n)))

struct shape_member {
    const char *name;
    enum shape_kind kind;
    unsigned flags;
    size_t at;           /* offset of the value */
    size_t n_at;         /* of the number of labels or objects (size_t) */
    size_t given_at;     /* one more than the offset of a bool that says whether it was sent */
    double low, high;    /* numbers; high 0: no upper bound */
    int64_t least, most; /* counts, bytes, items; most 0: no upper bound */
    size_t limit;        /* one more than the offset of `most` (int64_t or size_t) in the limits */
    const struct shape *of;
    size_t item; /* size of the struct that `of` is to fill */
    const char *const *words;
    /* node: the object that has the member; object: the struct; context: as given by the caller. */
    void (*decode)(const struct codec_node *node, const void *limits, void *object);
    void (*encode)(struct writer *w, const void *object, const void *context);
};

struct shape {
    const char *request; /* schemas of the contract that it is compared with; NULL: none */
    const char *reply;
    unsigned reply_without;   /* flags of members that the reply never has */
    unsigned reply_sometimes; /* and of those that it may have */
    const struct shape_member *members;
    size_t n;
    size_t size; /* of the struct */
    /* After the members: rules across them. NULL: none. */
    void (*check)(const struct codec_node *node, const void *limits, void *object);
    /* A name, text or count that no two items of a list have alike: the second one is a fault
     * (duplicate, `twice`) there. NULL: none. */
    const char *unique;
    const char *twice;
};

/* Rows begin with the name and one of these, which fail to compile on a member of another type; of
 * a range and, when it is decoded, of an object the size tells. */
#define SHAPE_OFFSET(T, path, ...)                                                                 \
    (offsetof(T, path) + 0 * sizeof(char[_Generic(((T *)0)->path, __VA_ARGS__, default : -1)]))
#define SHAPE_NUMBER(T, path) .kind = SHAPE_KIND_NUMBER, .at = SHAPE_OFFSET(T, path, double : 1)
#define SHAPE_COUNT(T, path) .kind = SHAPE_KIND_COUNT, .at = SHAPE_OFFSET(T, path, int64_t : 1)
#define SHAPE_INTEGER(T, path) .kind = SHAPE_KIND_INTEGER, .at = SHAPE_OFFSET(T, path, int64_t : 1)
#define SHAPE_SIZE(T, path) .kind = SHAPE_KIND_SIZE, .at = SHAPE_OFFSET(T, path, size_t : 1)
#define SHAPE_RANGE(T, path)                                                                       \
    .kind = SHAPE_KIND_RANGE,                                                                      \
    .at =                                                                                          \
        offsetof(T, path) + 0 * sizeof(char[sizeof((T *)0)->path == 2 * sizeof(double) ? 1 : -1])
#define SHAPE_BOOLEAN(T, path) .kind = SHAPE_KIND_BOOLEAN, .at = SHAPE_OFFSET(T, path, bool : 1)
#define SHAPE_TEXT(T, path) .kind = SHAPE_KIND_TEXT, .at = SHAPE_OFFSET(T, path, struct strview : 1)
#define SHAPE_NAME(T, path)                                                                        \
    .kind = SHAPE_KIND_NAME, .at = SHAPE_OFFSET(T, path, struct strview : 1), .least = 1,          \
    .most = CODEC_NAME_MAX
#define SHAPE_INSTANT(T, path) .kind = SHAPE_KIND_INSTANT, .at = SHAPE_OFFSET(T, path, int64_t : 1)
#define SHAPE_ID(T, path) .kind = SHAPE_KIND_ID, .at = SHAPE_OFFSET(T, path, char * : 1)
#define SHAPE_LABELS(T, path, count)                                                               \
    .kind = SHAPE_KIND_LABELS, .at = SHAPE_OFFSET(T, path, struct run_label * : 1),                \
    .n_at = SHAPE_OFFSET(T, count, size_t : 1)
#define SHAPE_WORD(T, path, list)                                                                  \
    .kind = SHAPE_KIND_WORD, .at = SHAPE_OFFSET(T, path, unsigned : 1, int : 1), .words = (list)
#define SHAPE_WORDS(T, path, list)                                                                 \
    .kind = SHAPE_KIND_WORDS, .at = SHAPE_OFFSET(T, path, unsigned : 1, int : 1), .words = (list)
#define SHAPE_OBJECT(T, path, shape)                                                               \
    .kind = SHAPE_KIND_OBJECT, .at = offsetof(T, path), .item = sizeof((T *)0)->path, .of = (shape)
#define SHAPE_OBJECTS(T, path, count, shape)                                                       \
    .kind = SHAPE_KIND_OBJECTS, .at = offsetof(T, path), .item = sizeof *((T *)0)->path,           \
    .n_at = SHAPE_OFFSET(T, count, size_t : 1), .of = (shape)
#define SHAPE_CODE .kind = SHAPE_KIND_CODE
#define SHAPE_GIVEN(T, path) .given_at = 1 + SHAPE_OFFSET(T, path, bool : 1)
/* The most there may be, or the highest number, is in the limits, a struct of the caller. */
#define SHAPE_LIMIT(L, path) .limit = 1 + SHAPE_OFFSET(L, path, int64_t : 1, size_t : 1)

#define SHAPE_OF(list, T) .members = (list), .n = sizeof(list) / sizeof *(list), .size = sizeof(T)

/*
 * Read the members of an object into the struct: each member that may be sent gets a value, unknown
 * where it is absent, null or at fault. With SHAPE_KEEP one that is absent or null keeps what it
 * had, but one at fault is unknown all the same. The rest of the struct stays as it is. Faults are
 * those of the getters in reader.h, first the unknown members, then by row. limits: what
 * SHAPE_LIMIT refers to; NULL where no row has one.
 */
void shape_decode(const struct codec_node *node,
                  const struct shape *shape,
                  const void *limits,
                  void *object);

/* Whether the object has a member, null or not, with one of the flags. */
bool shape_has(const struct codec_node *node, const struct shape *shape, unsigned flags);

/* Write the members as one object, in the order of the rows, without those that have one of the
 * flags. context is passed on to `encode` of SHAPE_CODE. */
void shape_encode(struct writer *w,
                  const struct shape *shape,
                  const void *object,
                  unsigned without,
                  const void *context);

/* Labels as an object, after their key. */
void shape_encode_labels(struct writer *w, const struct run_label labels[], size_t n);

#endif
