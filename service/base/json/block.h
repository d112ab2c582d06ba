#ifndef BASE_JSON_BLOCK_H
#define BASE_JSON_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The inner loops of the scanner. Most of a log is the inside of objects and arrays that nobody
 * reads; json_block_skip passes them 64 bytes at a time. What it can use differs from machine to machine
 * (AVX2 and carry-less multiplication are asked for while running, SSE2 is part of every x86-64,
 * the portable way needs nothing), what it answers does not.
 */
enum json_block_way { JSON_BLOCK_PORTABLE, JSON_BLOCK_SSE2, JSON_BLOCK_AVX2 };

/*
 * Standing within `level` brackets, and not in a string: the byte behind the bracket that closes
 * the outermost of them, or NULL when none does before `end`. At level 0 the next bracket is one
 * that opens: from { or [ to behind its end. Brackets within strings do not count; kinds of
 * brackets are not distinguished. Reads nothing at or behind `end`.
 */
const char *json_block_skip(const char *at, const char *end, unsigned level);

/* The same in a chosen way, for the test that all of them agree. */
bool json_block_can(enum json_block_way way);
const char *
json_block_skip_by(enum json_block_way way, const char *at, const char *end, unsigned level);

#endif
