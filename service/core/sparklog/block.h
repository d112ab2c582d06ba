#ifndef CORE_SPARKLOG_BLOCK_H
#define CORE_SPARKLOG_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/*
 * What stands where in 64 bytes: bit i belongs to byte i. The scanner's only inner loop; with SSE2
 * (every x86-64) 16 bytes at a time, elsewhere byte by byte.
 */
enum { BLOCK = 64 };

struct block {
    uint64_t quote;
    uint64_t backslash;
    uint64_t open;  /* { or [ */
    uint64_t close; /* } or ] */
};

/* Reads exactly 64 bytes. */
struct block block_classify(const char *bytes);

/* The same without SSE2, for machines that lack it and for the test that both agree. */
struct block block_classify_portable(const char *bytes);

/* Bit i is the exclusive or of bits 0..i: from quotes to the inside of strings. */
uint64_t block_prefix_xor(uint64_t bits);

/* Bytes that a backslash escapes. *carry: does the byte before the block escape the first one;
 * updated for the next block. */
uint64_t block_escaped(uint64_t backslash, uint64_t *carry);

/* The first quote or backslash in [at, end), or end. */
const char *block_find_quote(const char *at, const char *end);

#endif
