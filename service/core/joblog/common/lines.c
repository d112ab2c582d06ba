#include "core/joblog/common/lines.h"

#include <string.h>

/* Keep the unfinished line, or begin to drop it. */
static enum pv_code lines_hold(
    struct lines *lines, struct budget *budget, const char *bytes, size_t n, struct pv_error *err)
{
    if (lines->dropping || n == 0)
        return PV_OK;
    if (n > lines->longest - lines->n_carry) {
        lines->dropping = true;
        lines->n_carry = 0;
        return PV_OK;
    }
    PV_TRY(budget_grow(budget, lines->carry, lines->capacity, lines->n_carry + n, err));
    memcpy(lines->carry + lines->n_carry, bytes, n);
    lines->n_carry += n;
    return PV_OK;
}

static enum pv_code announce(struct lines *lines,
                             struct strview line,
                             const struct lines_sink *sink,
                             struct pv_error *err)
{
    lines->count++;
    if (lines->dropping || line.n > lines->longest) {
        lines->dropping = false;
        sink->too_long(sink->context);
        return PV_OK;
    }
    return sink->line(sink->context, line, err);
}

/* The n bytes up to a newline end a line. */
static enum pv_code end_line(struct lines *lines,
                             struct budget *budget,
                             const char *bytes,
                             size_t n,
                             const struct lines_sink *sink,
                             struct pv_error *err)
{
    struct strview line = {bytes, n};
    if (lines->n_carry > 0) {
        PV_TRY(lines_hold(lines, budget, bytes, n, err));
        line = (struct strview){lines->carry, lines->n_carry};
        lines->n_carry = 0;
    }
    return announce(lines, line, sink, err);
}

enum pv_code lines_feed(struct lines *lines,
                        struct budget *budget,
                        const char *bytes,
                        size_t n,
                        const struct lines_sink *sink,
                        struct pv_error *err)
{
    const char *end = bytes + n;
    const char *newline;
    while (bytes < end && (newline = memchr(bytes, '\n', (size_t)(end - bytes))) != NULL) {
        PV_TRY(end_line(lines, budget, bytes, (size_t)(newline - bytes), sink, err));
        bytes = newline + 1;
    }
    return lines_hold(lines, budget, bytes, (size_t)(end - bytes), err);
}

enum pv_code lines_finish(struct lines *lines, const struct lines_sink *sink, struct pv_error *err)
{
    if (lines->n_carry == 0 && !lines->dropping)
        return PV_OK;
    struct strview line = {lines->carry, lines->n_carry};
    lines->n_carry = 0;
    return announce(lines, line, sink, err);
}

void lines_fini(struct lines *lines, struct budget *budget)
{
    budget_free(budget, lines->carry, lines->capacity, 1);
    lines->carry = NULL;
    lines->capacity = 0;
    lines->n_carry = 0;
}
