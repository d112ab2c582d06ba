#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strview.h"

/*
 * Writes JSON straight into memory: no tree, so a schedule of a million tasks costs its text only.
 * Commas are the writer's business. Doubles are printed in the shortest form that reads back the
 * same; NAN and infinities become null. Running out of memory is remembered and reported by
 * writer_finish.
 */
/* As deep as a request may be (json_depth_max), and some more. */
enum { WRITER_DEPTH_MAX = 520 };

struct writer {
    struct arena *arena;
    char *text;
    size_t n;
    size_t capacity;
    unsigned depth;
    bool comma[WRITER_DEPTH_MAX];
    bool after_key;
    bool failed;
    unsigned digits; /* significant ones of numbers that are not whole; 0: all that there are */
};

enum { WRITER_DIGITS_MAX = 15 };

/* What is predicted is not known to more digits; the errors of the best histories are percents. */
enum { WRITER_DIGITS_MEANT = 7 };

/* Numbers from here on have so many digits. Answers what it was, to be set again. */
static inline unsigned writer_set_digits(struct writer *w, unsigned digits)
{
    unsigned before = w->digits;
    w->digits = digits;
    return before;
}

/* The value to so many significant digits, 1 to WRITER_DIGITS_MAX; a whole number as it is. */
double writer_rounded(double value, unsigned digits);

/* The least such value that is no less than this one. */
double writer_rounded_up(double value, unsigned digits);

void writer_init(struct writer *w, struct arena *arena);

void writer_begin_object(struct writer *w);
void writer_end_object(struct writer *w);
void writer_begin_array(struct writer *w);
void writer_end_array(struct writer *w);
void writer_key(struct writer *w, const char *key);
void writer_key_view(struct writer *w, struct strview key);

void writer_number(struct writer *w, double value);
void writer_integer(struct writer *w, int64_t value);
void writer_boolean(struct writer *w, bool value);
void writer_null(struct writer *w);
void writer_text(struct writer *w, struct strview text); /* at == NULL: null */
void writer_string(struct writer *w, const char *text);  /* NULL: null */
void writer_raw(struct writer *w, struct strview json);  /* one complete JSON value */
void writer_instant(struct writer *w, int64_t us);       /* RFC 3339; INSTANT_UNKNOWN: null */

/* Key and value in one call; unknown values (NAN, a negative count, NULL) become null. */
void writer_member_number(struct writer *w, const char *key, double value);
void writer_member_integer(struct writer *w, const char *key, int64_t value);
void writer_member_count(struct writer *w, const char *key, int64_t value); /* negative: null */
void writer_member_boolean(struct writer *w, const char *key, bool value);
void writer_member_text(struct writer *w, const char *key, struct strview text);
void writer_member_string(struct writer *w, const char *key, const char *text);
void writer_member_instant(struct writer *w, const char *key, int64_t us);
void writer_member_null(struct writer *w, const char *key);
void writer_member_numbers(struct writer *w, const char *key, const double values[], size_t n);
void writer_member_pair(struct writer *w,
                        const char *key,
                        const double pair[2]); /* NAN twice: null */

/* A member that is an object or array: its key, and its beginning. */
void writer_member_object(struct writer *w, const char *key);
void writer_member_array(struct writer *w, const char *key);
/* Likewise; where it is not known, null instead, and false: there is nothing to end. */
static inline bool writer_member_object_or_null(struct writer *w, const char *key, bool known)
{
    (known ? writer_member_object : writer_member_null)(w, key);
    return known;
}
static inline bool writer_member_array_or_null(struct writer *w, const char *key, bool known)
{
    (known ? writer_member_array : writer_member_null)(w, key);
    return known;
}

/* Behind a complete value: a line feed, and another value may follow (NDJSON). */
void writer_end_line(struct writer *w);

/* How much there is, and back to that: what was written since is gone. Both between lines only. */
static inline size_t writer_size(const struct writer *w)
{
    return w->n;
}
static inline void writer_take_back(struct writer *w, size_t size)
{
    w->n = size;
}

/* The finished text (NUL-terminated, in the arena), or NULL when memory ran out. */
const char *writer_finish(struct writer *w, size_t *n);

/* Shortest decimal form that reads back as `value` (finite), of a whole number its digits alone:
 * counts that are doubles inside are integers outside. Returns its length. */
size_t writer_format_number(double value, char out[32]);
size_t writer_format_integer(int64_t value, char out[24]);

#endif
