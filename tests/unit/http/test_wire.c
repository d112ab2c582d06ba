#include "http/wire.h"

#include <criterion/criterion.h>
#include <string.h>

#define HEAD "GET /a HTTP/1.1\r\nHost: h\r\n"
#define CHUNKED "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

struct sample {
    const char *text;
    size_t n;
};
#define SAMPLE(text)                                                                               \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

/* Reads it in pieces of `step` bytes; what is wrong, or NULL. */
static const char *read_in_pieces(struct http_wire *wire, const struct sample *sample, size_t step)
{
    http_wire_init(wire, 3);
    for (size_t at = 0; at < sample->n; at += step) {
        size_t good;
        size_t n = sample->n - at < step ? sample->n - at : step;
        const char *fault = http_wire_read(wire, sample->text + at, n, &good);
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

/* However it is cut, what is well-formed passes and is counted as so many requests. */
Test(wire, passes_what_is_well_formed, .timeout = 5)
{
    static const struct sample good[] = {
        SAMPLE(HEAD "\r\n" HEAD "X:y\r\n\r\n"),
        SAMPLE("\r\n" HEAD "\r\nPOST / HTTP/1.1\r\nHost:\r\nContent-Length: 3 \r\n\r\n\n\0 "),
        SAMPLE(CHUNKED "3;a=b\r\n\n\0\n\r\n0\r\nTrailer: x\r\n\r\n" HEAD "\r\n"),
        SAMPLE("GET /a?b=c&d=e&f HTTP/1.0\r\n\r\n" CHUNKED "00\r\n\r\n"),
    };
    struct http_wire wire;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (size_t step = 1; step < 200; step++) {
            const char *fault = read_in_pieces(&wire, &good[i], step);
            cr_assert_null(fault, "%zu by %zu: %s", i, step, fault);
            cr_assert_eq(wire.message, 2);
        }
}

Test(wire, finds_what_is_not, .timeout = 5)
{
    static const struct sample bad[] = {
        SAMPLE("GET /a\0b HTTP/1.1\r\n"),
        SAMPLE("GET  /a HTTP/1.1\r\n"),
        SAMPLE("GET /a  HTTP/1.1\r\n"),
        SAMPLE("GET /a b HTTP/1.1\r\n"),
        SAMPLE("GET\t/a HTTP/1.1\r\n"),
        SAMPLE("GET /a HTTP/1.1 \r\n"),
        SAMPLE("GET /a\r\n"),
        SAMPLE(" GET /a HTTP/1.1\r\n"),
        SAMPLE("GET /a HTTP/1.1\nHost: h\n\n"),
        SAMPLE("GET /a?b&c&d&e HTTP/1.1\r\n"),
        SAMPLE("GET /a HTTP/1.1\r\n\r\n"),
        SAMPLE("GET /a HTTP/1.1\rHost: h\r\n"),
        SAMPLE(HEAD "X: y\n\r\n"),
        SAMPLE(HEAD "X: y\r\n z\r\n\r\n"),
        SAMPLE(HEAD " X: y\r\n\r\n"),
        SAMPLE(HEAD "X: y\0z\r\n\r\n"),
        SAMPLE(HEAD "X\0: y\r\n\r\n"),
        SAMPLE(HEAD "nothing\r\n\r\n"),
        SAMPLE(HEAD "\r\r\n"),
        SAMPLE(HEAD "Content-Length: 1x\r\n\r\n"),
        SAMPLE(HEAD "Content-Length: -1\r\n\r\n"),
        SAMPLE(HEAD "Content-Length:\r\n\r\n"),
        SAMPLE(HEAD "Content-Length: 99999999999999999999999999\r\n\r\n"),
        SAMPLE("POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        SAMPLE(CHUNKED "1\nx\r\n"),
        SAMPLE(CHUNKED "1;a\nx\r\n"),
        SAMPLE(CHUNKED "1;a\0\r\nx\r\n"),
        SAMPLE(CHUNKED "1\r\nxy\r\n"),
        SAMPLE(CHUNKED "1\r\nx\n"),
        SAMPLE(CHUNKED "\r\n"),
        SAMPLE(CHUNKED "x\r\n"),
        SAMPLE(CHUNKED "-1\r\n"),
        SAMPLE(CHUNKED "10000000000000000\r\n"),
        SAMPLE(CHUNKED "0\r\nTrailer: x\n\r\n"),
        SAMPLE(CHUNKED "0\r\n folded\r\n\r\n"),
    };
    struct http_wire wire;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (size_t step = 1; step < 200; step++)
            cr_assert_not_null(read_in_pieces(&wire, &bad[i], step), "%zu by %zu", i, step);
}

/* What belongs to the requests before the faulty one is told. */
Test(wire, tells_what_is_good, .timeout = 5)
{
    struct http_wire wire;
    size_t good;
    static const char text[] = HEAD "\r\n" HEAD "X: y\n\r\n";
    http_wire_init(&wire, 3);
    cr_assert_not_null(http_wire_read(&wire, text, sizeof text - 1, &good));
    cr_assert_eq(good, strlen(HEAD "\r\n"));
}
