#ifndef CORE_HISTORY_NAME_FOLDING_H
#define CORE_HISTORY_NAME_FOLDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strview.h"

/*
 * Jobs that recur under a new name each time ("nightly-etl-2026-01-05") folded into one stable
 * application ("nightly-etl") by rules.
 *
 * A rule's pattern stands for a whole name: text as it is, and tokens in braces:
 *   {name} {rest}  one or more characters, captured      {any}     likewise, dropped
 *   {date}      2026-01-05, 2026_01_05, 2026.01.05, 20260105: a day there can be
 *   {period}    2026-W41, 2026W41-3, 2026Q4: an ISO week or its day, a quarter; {month} 2026-10
 *   {time}      10:00, 10:00:00.123, 10-00-00, 100000, with Z or +01:00 or without
 *   {epoch}     seconds (10 digits), milli- (13), micro- (16), nanoseconds (19) since 1970
 *   {uuid}      with hyphens or without                  {hex}     8 or more hex digits, mixed
 *   {number}    decimal digits                           {word}    letters and digits
 *   {sep}       one or more of - _ . : / @ + # ~ and blank
 *   {hour}      0 to 23                                  {trigger} scheduled, manual, backfill, ...
 *   {pod}       x7k2m, 7d9f8b6c5-x2k4q, as Kubernetes and Argo generate them
 *   {emr}       s-1A2B3C4D5E6F7, j-...: a step or a cluster of EMR
 * A rule with a property is about the value of that Spark property instead of the name, and only for
 * the name as the log has it. "key[Tag]" is a tag of a property that holds a JSON array of
 * {"key", "value"}, as Databricks has them.
 *
 * "{{" is a brace. The rule's application is text with {name} and {rest} in it. Where a name can be
 * split in several ways the earlier tokens take as little as possible.
 */
enum {
    NAME_RULES_MAX = 64,
    NAME_PATTERN_BYTES_MAX = 255,
    NAME_PATTERN_TOKENS_MAX = 12,
    NAME_PASSES_MAX = 4 /* a name is folded again until no rule applies, at most so often */
};

struct name_rule {
    struct strview name; /* what people call the rule */
    struct strview pattern;
    struct strview application;
    struct strview property; /* empty: the rule is about the name */
};

/* Rules turn the names of shells and servers into applications whose names begin so. */
#define NAME_SESSION "interactive session ("

bool name_is_session(struct strview application);

/* The rules in force where nobody has set others. */
extern const struct name_rule name_rules_default[];
extern const size_t name_rules_default_n;

/*
 * Is the rule well formed? PV_E_INVALID with one fault (PV_PLACE_POINTER "/pattern" or
 * "/application"): unknown or too many tokens, a brace left open, {name} or {rest} twice or used
 * without being captured, two open-ended tokens side by side.
 */
enum pv_code name_rule_check(const struct name_rule *rule, struct pv_error *err) PV_MUSTCHECK;

struct name_folding {
    struct strview application;      /* in the arena; the name itself where no rule applies */
    size_t n_applied;                /* rules that were applied, in order */
    size_t applied[NAME_PASSES_MAX]; /* indices into rules */
};

/*
 * Fold a name (UTF-8, 1 to 255 characters) by rules that were checked: the first that applies, then
 * again on what it gives. values: of the rules' properties, each empty where the log has none; NULL:
 * none has. A result that would be empty or longer than 255 bytes is none.
 * PV_E_MEMORY.
 */
enum pv_code name_fold(const struct name_rule rules[],
                       size_t n,
                       struct strview name,
                       const struct strview values[],
                       struct arena *arena,
                       struct name_folding *out,
                       struct pv_error *err) PV_MUSTCHECK;

#endif
