/* Plain bytes on their way to the sink: the limits that stop compression bombs, and room where
 * codings write without a copy. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/duty.h"
#include "compression/compression_internal.h"

/* `waiting` bytes are decoded and not yet counted. */
static enum pv_code
check_total(const struct decompressor *framing, size_t waiting, size_t n, struct pv_error *err)
{
    uint64_t left = framing->limits.total_bytes - framing->bytes_out;
    if (waiting <= left && n <= left - waiting)
        return PV_OK;
    return pv_fail(err, PV_E_LIMIT,
                   "the log holds more than %" PRIu64 " bytes once it is decompressed "
                   "(eventlog_plain_bytes_max)",
                   framing->limits.total_bytes);
}

enum pv_code
decompressor_emit(struct decompressor *framing, const char *bytes, size_t n, struct pv_error *err)
{
    if (n == 0)
        return PV_OK;
    PV_TRY(check_total(framing, 0, n, err));
    framing->bytes_out += n;
    if (framing->coding != &compression_plain &&
        compression_ratio_exceeded(framing->bytes_out, framing->bytes_in, framing->limits.ratio))
        return pv_fail(err, PV_E_LIMIT,
                       "the content is compressed more than %.0f times (eventlog_ratio_max)",
                       framing->limits.ratio);
    duty_works_on();
    return framing->sink(framing->context, bytes, n, err);
}

enum pv_code decompressor_flush(struct decompressor *framing, struct pv_error *err)
{
    size_t n = framing->filled;
    framing->filled = 0;
    return decompressor_emit(framing, framing->buffer, n, err);
}

static enum pv_code
large_room(struct decompressor *framing, size_t n, char **room, struct pv_error *err)
{
    if (n > framing->n_large) {
        PV_TRY(decompressor_count(framing, &framing->large_counted, n, err));
        /* What was there has been handed on: nothing to keep, so nothing to copy. */
        free(framing->large);
        framing->large = malloc(n);
        framing->n_large = framing->large == NULL ? 0 : n;
    }
    *room = framing->large;
    return framing->large == NULL ? pv_no_memory(err) : PV_OK;
}

enum pv_code
decompressor_room(struct decompressor *framing, size_t n, char **room, struct pv_error *err)
{
    enum pv_code code = check_total(framing, framing->filled, n, err);
    if (code == PV_OK && n > FRAMING_BUFFER - framing->filled)
        code = decompressor_flush(framing, err);
    if (code == PV_OK && n > FRAMING_BUFFER)
        return large_room(framing, n, room, err);
    *room = framing->buffer + framing->filled;
    return code;
}

enum pv_code decompressor_wrote(struct decompressor *framing, size_t n, struct pv_error *err)
{
    if (n > FRAMING_BUFFER)
        return decompressor_emit(framing, framing->large, n, err);
    framing->filled += n;
    return PV_OK;
}
