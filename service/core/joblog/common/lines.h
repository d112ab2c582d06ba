#ifndef CORE_JOBLOG_COMMON_LINES_H
#define CORE_JOBLOG_COMMON_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strview.h"
#include "core/joblog/common/budget.h"

/*
 * Cuts a stream of pieces into lines. A line that lies whole in a piece is handed on in place; only
 * what hangs over the end of a piece is copied. A line of more than `longest` bytes is dropped as
 * it passes and announced once, whatever the pieces were.
 */
struct lines_sink {
    enum pv_code (*line)(void *context, struct strview line, struct pv_error *err);
    void (*too_long)(void *context);
    void *context;
};

struct lines {
    size_t longest;
    char *carry; /* the beginning of a line whose end has not come yet */
    size_t n_carry;
    size_t capacity;
    bool dropping;  /* within a line that is too long */
    uint64_t count; /* blank lines and lines that are too long included */
};

/* Stops at the first code that is not PV_OK: the sink's, or one of budget_grow. */
enum pv_code lines_feed(struct lines *lines,
                        struct budget *budget,
                        const char *bytes,
                        size_t n,
                        const struct lines_sink *sink,
                        struct pv_error *err) PV_MUSTCHECK;

/* The stream ends: a last line without its newline is a line. */
enum pv_code
lines_finish(struct lines *lines, const struct lines_sink *sink, struct pv_error *err) PV_MUSTCHECK;

static inline bool lines_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Without the blanks around it. */
static inline struct strview lines_trim(struct strview line)
{
    for (; line.n > 0 && lines_is_blank(line.at[line.n - 1]); line.n--)
        ;
    for (; line.n > 0 && lines_is_blank(line.at[0]); line.n--)
        line.at++;
    return line;
}

void lines_fini(struct lines *lines, struct budget *budget);

#endif
