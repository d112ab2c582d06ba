#ifndef CODEC_JSON_NDJSON_H
#define CODEC_JSON_NDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"

/*
 * Bytes in pieces of any size, whole lines out. Blank lines are passed over but count, so that
 * `line` is what an editor shows. One splitter belongs to one thread at a time.
 */

/* text is not NUL-terminated and valid for the call alone. Anything but PV_OK stops the splitter,
 * which passes it on. */
typedef enum pv_code (*ndjson_sink)(
    void *context, uint64_t line, const char *text, size_t n, struct pv_error *err);

struct ndjson {
    ndjson_sink sink;
    void *context;
    size_t line_bytes_max;
    const char *setting; /* that says so, for messages; static, import_line_bytes_max at first */
    uint64_t line;       /* the one that is being read, from 1 */
    char *kept;          /* its beginning, from pieces before */
    size_t kept_n;
    size_t capacity;
    struct ledger_account *account; /* what is kept is counted there; borrowed; NULL: nowhere */
    bool pause;                     /* the sink's, who has enough for now: see ndjson_feed_some */
};

/* Allocates nothing yet. */
void ndjson_init(struct ndjson *ndjson,
                 size_t line_bytes_max,
                 struct ledger_account *account,
                 ndjson_sink sink,
                 void *context);
void ndjson_fini(struct ndjson *ndjson);

/* PV_E_LIMIT: a line longer than line_bytes_max; PV_E_MEMORY, also where the account does not
 * allow it; what the sink answered. */
enum pv_code
ndjson_feed(struct ndjson *ndjson, const char *bytes, size_t n, struct pv_error *err) PV_MUSTCHECK;

/* The same, but only up to the end of the line at which the sink sets `pause`; *taken: so many of
 * the bytes were read. The rest is for the next call, which clears `pause`. */
enum pv_code ndjson_feed_some(struct ndjson *ndjson,
                              const char *bytes,
                              size_t n,
                              size_t *taken,
                              struct pv_error *err) PV_MUSTCHECK;

/* The last line may lack its line feed. */
enum pv_code ndjson_finish(struct ndjson *ndjson, struct pv_error *err) PV_MUSTCHECK;

#endif
