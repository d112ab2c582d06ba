#ifndef TESTS_UNIT_DISPATCH_ENDPOINT_H
#define TESTS_UNIT_DISPATCH_ENDPOINT_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * An endpoint on 127.0.0.1, a thread for each connection, which answers by the path that it is asked:
 * /200 /204 /301 /410 /500 (with that status), /429 (with Retry-After: 7), /slow (after 50 ms), /hang,
 * /drop, /trickle (a byte every 100 ms), /flood (without end), /binary (no UTF-8), /umlauts (1,201 bytes of
 * UTF-8, in which no character ends at byte 1,024), /early (only a 103), /past (503 and
 * a Retry-After that is over), /date (503 and one far ahead), /headers (headers without end), /header (one
 * of 200 KB), /switch (a 101, and no more), /switched (a 101, and 128 KiB of something else).
 */
struct endpoint {
    int fd;
    int port;
    atomic_int connections; /* made to it */
    atomic_int requests;
    atomic_int under_way;
    atomic_int most_under_way;
    atomic_llong flooded; /* bytes */
    char last[8192];      /* the last request */
};

/* false: it could not be begun. It lasts as long as the process. */
bool endpoint_start(struct endpoint *endpoint);

#endif
