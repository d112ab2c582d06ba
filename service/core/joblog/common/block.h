#ifndef CORE_JOBLOG_COMMON_BLOCK_H
#define CORE_JOBLOG_COMMON_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The inner loops of the scanner. Most of a log is the inside of objects and arrays that nobody
 * reads; block_skip passes them 64 bytes at a time. What it can use differs from machine to machine
 * (AVX2 and carry-less multiplication are asked for while running, SSE2 is part of every x86-64,
 * the portable way needs nothing), what it answers does not.
 */
enum block_way { BLOCK_PORTABLE, BLOCK_SSE2, BLOCK_AVX2 };

/*
 * Standing within `level` brackets, and not in a string: the byte behind the bracket that closes
 * the outermost of them, or NULL when none does before `end`. At level 0 the next bracket is one
 * that opens: from { or [ to behind its end. Brackets within strings do not count; kinds of
 * brackets are not distinguished. Reads nothing at or behind `end`.
 */
const char *block_skip(const char *at, const char *end, unsigned level);

/* The same in a chosen way, for the test that all of them agree. */
bool block_can(enum block_way way);
const char *block_skip_by(enum block_way way, const char *at, const char *end, unsigned level);

#endif
