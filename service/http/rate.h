#ifndef HTTP_RATE_H
#define HTTP_RATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * So many a second, and as many at once after a second without any (the generic cell rate algorithm:
 * ITU-T I.371, 1.3.2). Safe from any thread, without a lock.
 */
struct http_rate {
    uint64_t interval_ns;    /* 0: no bound */
    _Atomic uint64_t due_ns; /* when the last one taken would have come at an even pace */
};

/* per_s from 0 (no bound) to 1,000,000. */
void http_rate_init(struct http_rate *rate, int64_t per_s);

/* Instants are of clock_monotonic_ns. false: there were enough of them. */
bool http_rate_take(struct http_rate *rate, uint64_t now_ns);

#endif
