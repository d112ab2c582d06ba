#include "compression/lzf_expand.h"

#include <string.h>

/* Runs are short: a copy of a fixed length, where both sides have room for it, is a few moves. */
enum { RUN_MAX = 32, STRIDE = 16 };

static void
copy_run(unsigned char *out, size_t room, const unsigned char *in, size_t left, size_t n)
{
    if (room >= RUN_MAX && left >= RUN_MAX)
        memcpy(out, in, RUN_MAX);
    else
        memcpy(out, in, n);
}

/* n bytes from `distance` back; they may overlap what is written, which then repeats. */
static void copy_back(unsigned char *out, size_t room, size_t distance, size_t n)
{
    const unsigned char *from = out - distance;
    if (distance >= STRIDE && room >= n + STRIDE) {
        for (size_t i = 0; i < n; i += STRIDE)
            memcpy(out + i, from + i, STRIDE);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = from[i];
}

bool lzf_expand(const unsigned char *in, size_t n_in, unsigned char *out, size_t n_out)
{
    size_t at = 0;
    size_t done = 0;
    while (at < n_in) {
        unsigned control = in[at++];
        size_t n;
        if (control < RUN_MAX) {
            n = control + 1U;
            if (n > n_in - at || n > n_out - done)
                return false;
            copy_run(out + done, n_out - done, in + at, n_in - at, n);
            at += n;
        } else {
            n = (control >> 5) + 2U;
            if (control >> 5 == 7) {
                if (at == n_in)
                    return false;
                n += in[at++];
            }
            if (at == n_in)
                return false;
            size_t distance = ((control & 0x1fU) << 8 | in[at++]) + (size_t)1;
            if (distance > done || n > n_out - done)
                return false;
            copy_back(out + done, n_out - done, distance, n);
        }
        done += n;
    }
    return done == n_out;
}
