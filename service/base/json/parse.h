#ifndef BASE_JSON_PARSE_H
#define BASE_JSON_PARSE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json/measure.h"
#include "base/json/value.h"

/*
 * A JSON text (RFC 8259) into a tree, in one pass without recursion. Numbers are rounded as by
 * strtod. Objects whose members have the names of the object before them, at the same depth and in
 * the same order, share these: their names are compared and not read, which makes lists of like
 * objects quick to read and small.
 */

/* What json_parse takes from its arena, in one piece: known beforehand from what was measured. */
size_t json_parse_bytes(const struct json_extent *extent, size_t n, size_t depth);

/*
 * text      n bytes, below 2 GiB, borrowed for the call
 * extent    as measured of this text within the bounds
 * depth     levels of nesting that the bounds allow
 * value     in the arena
 *
 * PV_E_SYNTAX: no JSON, with line and column in characters from 1; also a name twice in an object,
 * an integer beyond int64, a number beyond double, \u0000 and what is not UTF-8.
 * PV_E_LIMIT: a longer text. PV_E_MEMORY.
 */
enum pv_code json_parse(const char *text,
                        size_t n,
                        const struct json_extent *extent,
                        size_t depth,
                        struct arena *arena,
                        const struct json_value **value,
                        struct pv_error *err) PV_MUSTCHECK;

/* The same for what the service has written itself: measured, and nested no deeper than
 * WRITER_DEPTH_MAX. PV_E_SYNTAX where it is, too. */
enum pv_code json_parse_own(struct strview text,
                            struct arena *arena,
                            const struct json_value **value,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
