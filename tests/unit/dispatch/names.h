#ifndef TESTS_UNIT_DISPATCH_NAMES_H
#define TESTS_UNIT_DISPATCH_NAMES_H

/*
 * Names for tests, in place of name servers: this program's getaddrinfo, which libcurl calls as well.
 *
 *     hangs.test     no name server answers, for NAME_HANGS_MS
 *     mixed.test     10.1.2.3, which no test may connect to, then 127.0.0.1
 *     changes.test   127.0.0.1 the first time, 127.0.0.2 from then on
 *     *.here.test    127.0.0.1: many hosts that are one
 *
 * All others are looked up by the C library.
 */
enum { NAME_HANGS_MS = 4000 };

#endif
