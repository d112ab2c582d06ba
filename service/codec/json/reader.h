#ifndef CODEC_JSON_READER_H
#define CODEC_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json/parse.h"
#include "base/nearest.h"
#include "core/history/run.h"

/*
 * JSON in, checked values out. A getter that meets a fault records it in the reader's error with
 * the JSON Pointer of the member and answers a harmless value, so a decoder reads straight down
 * without a branch per field and asks once at the end (codec_result). Pointers are only built when
 * there is a fault.
 */
struct codec_reader {
    struct arena *arena; /* texts and arrays of results */
    struct pv_error *err;
};

/* A place in the document: chained on the stack of the decoder, valid as long as its parents are.
 */
struct codec_node {
    struct codec_reader *reader;
    const struct codec_node *up;   /* NULL: the top */
    const char *key;               /* member of up; NULL: an item */
    size_t index;                  /* item of up */
    const struct json_value *json; /* borrowed; NULL when absent (or null and CODEC_NULLABLE) */
};

enum codec_flags {
    CODEC_OPTIONAL = 0,
    CODEC_REQUIRED = 1, /* absence is a fault */
    CODEC_NULLABLE = 2, /* null counts as absent */
    CODEC_ABOVE = 4     /* numbers: the lower bound itself is not allowed */
};

/* How much a document may hold; both are judged before anything is built from it. */
struct codec_bounds {
    size_t depth;  /* levels of nesting */
    size_t values; /* members and items, a little over-counted */
};

/* A JSON text being read. */
struct codec_document {
    struct codec_reader reader;
    struct codec_node top;
    struct arena tree; /* counted to the account of the reader's arena */
};

/*
 * Parse one JSON text whose top is an object; then decode from &document->top into the arena, and
 * codec_close. Neither document nor arena may move meanwhile. On failure there is nothing to close.
 * PV_E_SYNTAX: not JSON, a key twice, NaN, a number out of range, bad UTF-8, deeper than allowed.
 * PV_E_LIMIT: more values than allowed. PV_E_INVALID: JSON, but no object.
 * PV_E_MEMORY: also when the account has not as much as the tree is estimated to take.
 */
enum pv_code codec_open(struct codec_document *document,
                        const char *text,
                        size_t n,
                        const struct codec_bounds *bounds,
                        struct arena *arena,
                        struct pv_error *err) PV_MUSTCHECK;

/* codec_result of all that was decoded. The tree is gone; what was decoded stays in the arena. */
enum pv_code codec_close(struct codec_document *document) PV_MUSTCHECK;

/* PV_OK, or the code of the faults so far. */
enum pv_code codec_result(const struct codec_reader *reader) PV_MUSTCHECK;

/* Members of an object. The node of an absent member has json == NULL. */
struct codec_node codec_member(const struct codec_node *object, const char *key);
struct codec_node codec_item(const struct codec_node *array, size_t index);
struct codec_node codec_member_at(const struct codec_node *object,
                                  size_t i);                          /* as in the document */
bool codec_present(const struct codec_node *object, const char *key); /* there and not null */

/* Whether one more fault is kept, and not only counted: what is said in it is worth working out. */
bool codec_keeps_fault(const struct codec_node *node);

/* The fault of a member that an object may not have; nearest: what it may have been meant to be. */
void codec_fault_unknown(const struct codec_node *object,
                         const char *key,
                         const struct nearest *nearest);

/* Every member that is not in the NULL-terminated list is a fault (code unknown_field). */
void codec_refuse_unknown(const struct codec_node *object, const char *const known[]);

/* Objects and arrays; json is NULL when absent or at fault. Item counts outside [least, most] are
 * faults. */
struct codec_node codec_object(const struct codec_node *object, const char *key, unsigned flags);
struct codec_node codec_array(
    const struct codec_node *object, const char *key, unsigned flags, size_t least, size_t most);
bool codec_expect_object(const struct codec_node *node); /* for items */

/* n cleared things of a size in the reader's arena; NULL, and the reader's error, where there is no
 * memory. */
void *codec_allocate(const struct codec_node *node, size_t n, size_t size);
/* An array and room for what its items become, *n things of a size. NULL when the array is absent
 * or at fault, or memory is exhausted: *n is 0 then. */
void *codec_list(const struct codec_node *object,
                 const char *key,
                 unsigned flags,
                 size_t least,
                 size_t most,
                 size_t size,
                 struct codec_node *list,
                 size_t *n);

/* Scalars: absent gives the last argument (or NAN, RUN_UNKNOWN, {NULL, 0}). Bounds are inclusive.
 */
double codec_number(
    const struct codec_node *object, const char *key, unsigned flags, double low, double high);
int64_t codec_integer(
    const struct codec_node *object, const char *key, unsigned flags, int64_t low, int64_t high);
bool codec_boolean(const struct codec_node *object, const char *key, unsigned flags, bool absent);
/* Copied into the arena; lengths in bytes. */
struct strview codec_text(
    const struct codec_node *object, const char *key, unsigned flags, size_t least, size_t most);
/* A name: 1 to 255 characters without control characters (docs/design.md, "Words and units"). */
struct strview codec_name(const struct codec_node *object, const char *key, unsigned flags);
/* Index into the NULL-terminated list of words. */
size_t codec_choice(const struct codec_node *object,
                    const char *key,
                    unsigned flags,
                    const char *const words[],
                    size_t absent);
/* RFC 3339 UTC -> microseconds; RUN_NO_INSTANT when absent. */
int64_t codec_instant(const struct codec_node *object, const char *key, unsigned flags);
/* UUID text, lower case, into out; "" when absent. */
void codec_uuid(const struct codec_node *object, const char *key, unsigned flags, char out[37]);
/* {"key": "value"}: sorted by key. */
void codec_labels(const struct codec_node *object,
                  const char *key,
                  unsigned flags,
                  size_t most,
                  struct run_label **labels,
                  size_t *n);

/* Which of the words (NULL-terminated, at most 32) the array lists: bit i for words[i]. Each may be
 * there once; an absent array is 0. */
unsigned codec_words(const struct codec_node *object,
                     const char *key,
                     unsigned flags,
                     size_t least,
                     const char *const words[]);

/* A string node, borrowed from the tree; at == NULL when it is none. */
struct strview codec_string(const struct codec_node *node);

/* The node is there to be judged; else its json is NULL: it is absent, a fault where it is required,
 * or null where it may be. */
bool codec_expect(struct codec_node *node, unsigned flags);

/* The node itself as a name, a number, ... (for items of arrays). */
struct strview codec_as_name(const struct codec_node *node);
double codec_as_number(const struct codec_node *node, unsigned flags, double low, double high);
bool codec_as_boolean(const struct codec_node *node, bool otherwise);
struct strview codec_as_text(const struct codec_node *node, size_t least, size_t most);
size_t codec_as_choice(const struct codec_node *node, const char *const words[], size_t absent);
int64_t codec_as_integer(const struct codec_node *node, int64_t low, int64_t high);

/* An array of numbers in the arena; n items. NULL when at fault. */
double *codec_as_numbers(const struct codec_node *array, unsigned flags, double low, double high);

/* A fault at the node, or at a member of it. */
void codec_fault(const struct codec_node *node, const char *code, const char *format, ...)
    PV_PRINTF(3, 4);
void codec_fault_member(const struct codec_node *object,
                        const char *key,
                        const char *code,
                        const char *format,
                        ...) PV_PRINTF(4, 5);

/* Put one segment of a JSON Pointer into out[n] from out[at] on, escaped (RFC 6901), without a NUL but
 * with room left for one. A character that does not fit is left out whole. Returns where it ends. */
size_t codec_pointer_segment(const char *key, size_t at, char *out, size_t n);

/* Pointer of a node, cut to n bytes between characters ("" for the top). */
void codec_pointer(const struct codec_node *node, char *out, size_t n);

/* Name rule, also for path segments. */
bool codec_is_name(struct strview text);

#endif
