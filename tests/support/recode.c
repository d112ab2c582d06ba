/*
 * A filter: `recode KIND [BLOCK]` writes its input as a stream of that kind, `recode plain` reads a
 * stream of any kind and says on stderr which it was and whether it was whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compression/compression.h"
#include "streams.h"

static int encode(enum stream_kind kind, size_t block)
{
    struct stream plain = {NULL, 0, 0};
    struct stream coded = {NULL, 0, 0};
    static char bytes[1 << 16];
    size_t n;
    while ((n = fread(bytes, 1, sizeof bytes, stdin)) > 0)
        stream_add(&plain, bytes, n);
    stream_encode(&coded, kind, plain.bytes == NULL ? "" : plain.bytes, plain.n, block);
    bool done = fwrite(coded.bytes, 1, coded.n, stdout) == coded.n && fflush(stdout) == 0;
    stream_fini(&plain);
    stream_fini(&coded);
    return done ? 0 : 1;
}

static enum pv_code to_stdout(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    (void)context;
    return fwrite(bytes, 1, n, stdout) == n ? PV_OK : pv_fail(err, PV_E_INTERNAL, "cannot write");
}

static int decode(void)
{
    const struct compression_limits limits = {
        .total_bytes = 1ULL << 40, .ratio = 1e6, .window_log_max = 23};
    struct pv_error err;
    pv_error_clear(&err);
    struct decompressor *framing = decompressor_create(&limits, to_stdout, NULL);
    if (framing == NULL)
        return 1;
    static char bytes[1 << 16];
    enum pv_code code = PV_OK;
    bool truncated = false;
    size_t n;
    while (code == PV_OK && (n = fread(bytes, 1, sizeof bytes, stdin)) > 0)
        code = decompressor_feed(framing, bytes, n, &err);
    if (code == PV_OK)
        code = decompressor_finish(framing, &truncated, &err);
    if (code == PV_OK)
        fprintf(stderr, "%s, %s\n", compression_kind(framing), truncated ? "truncated" : "whole");
    else
        fprintf(stderr, "%s: %s\n", pv_code_name(code), err.detail);
    decompressor_destroy(framing);
    return code == PV_OK && fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "plain") == 0)
        return decode();
    for (int k = 0; argc > 1 && k < STREAM_KINDS; k++)
        if (strcmp(argv[1], stream_name((enum stream_kind)k)) == 0)
            return encode((enum stream_kind)k, argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
    fprintf(stderr, "usage: recode KIND [BLOCK] | recode plain\n");
    return 2;
}
