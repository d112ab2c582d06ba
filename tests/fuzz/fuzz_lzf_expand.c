/*
 * Any bytes as LZF, into memory of exactly the length that the first two bytes announce. A fast and
 * careful decoder must agree with a slow one that does a byte at a time.
 */
#include <stdbool.h>
#include <string.h>

#include "compression/lzf_expand.h"
#include "fuzz.h"

static bool expand_slowly(const uint8_t *in, size_t n_in, uint8_t *out, size_t n_out)
{
    size_t done = 0;
    for (size_t at = 0; at < n_in;) {
        size_t control = in[at++];
        size_t left = control < 32 ? control + 1 : (control >> 5) + 2;
        size_t distance = 0;
        if (control >= 32) {
            if (left == 9) {
                if (at >= n_in)
                    return false;
                left += in[at++];
            }
            if (at >= n_in)
                return false;
            distance = (control % 32) * 256 + in[at++] + 1;
        }
        for (; left > 0; left--) {
            if (done >= n_out || (distance == 0 ? at >= n_in : distance > done))
                return false;
            out[done] = distance == 0 ? in[at++] : out[done - distance];
            done++;
        }
    }
    return done == n_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    size_t n_out = (size_t)data[0] << 8 | data[1];
    uint8_t *in = malloc(n - 2 + 1);
    uint8_t *out = malloc(n_out + 1);
    uint8_t *slow = malloc(n_out + 1);
    FUZZ_REQUIRE(in != NULL && out != NULL && slow != NULL);
    /* At the end of their blocks, so that the first byte beyond is no one's. */
    memcpy(in + 1, data + 2, n - 2);
    bool whole = lzf_expand(in + 1, n - 2, out + 1, n_out);
    FUZZ_REQUIRE(whole == expand_slowly(in + 1, n - 2, slow + 1, n_out));
    if (whole)
        FUZZ_REQUIRE(memcmp(out + 1, slow + 1, n_out) == 0);
    free(in);
    free(out);
    free(slow);
    return 0;
}
