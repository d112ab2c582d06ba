#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include "base/arena.h"
#include "base/error.h"
#include "http/message.h"

/*
 * The request target as it stands in the request line, taken apart. It is split at '/' first and
 * each segment is percent-decoded afterwards, so that %2F stays inside its segment. Decoding is
 * strict: a NUL, a broken %XX or bytes that are not UTF-8 are refused. In the query '+' is a space,
 * as every form encoder writes it; a plus sign is sent as %2B.
 */
struct http_target {
    const char *path; /* as sent, without the query */
    const char **segments;
    size_t n_segments; /* "/" has one, empty */
    struct http_parameter *query;
    size_t n_query;
    bool asterisk; /* "*": the server itself, only OPTIONS may ask that */
};

/*
 * raw      "/path?query", "http://host/path?query" or "*"
 * target   strings live in the arena; written only on PV_OK.
 *
 * PV_E_SYNTAX: the target is malformed; a fault names the query parameter where one is to blame.
 */
enum pv_code http_target_parse(const char *raw,
                               struct arena *arena,
                               struct http_target *target,
                               struct pv_error *err) PV_MUSTCHECK;

/*
 * Percent-decode `text` into the arena. NULL when the text is malformed (*code is PV_E_SYNTAX) or
 * memory is exhausted (PV_E_MEMORY).
 */
const char *http_percent_decode(struct strview text,
                                bool plus_is_space,
                                struct arena *arena,
                                enum pv_code *code);

#endif
