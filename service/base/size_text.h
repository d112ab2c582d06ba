#ifndef BASE_SIZE_TEXT_H
#define BASE_SIZE_TEXT_H

enum { SIZE_TEXT_MAX = 96 };

/* Bytes in one block of input, the unit of problem sizes that are measured by bytes: 128 MiB. */
#define SIZE_BLOCK_BYTES 134217728.0

/* "312 B", "2.0 KiB", "50.5 GiB": powers of 1024, labelled as Spark does. */
void size_text_bytes(double bytes, char out[SIZE_TEXT_MAX]);

/*
 * A problem size with its unit: "50.5 GiB in 404 blocks", "4 tasks", "31 records". measure: one of
 * size_measure_words (core/history/problem_size.h). The number alone if measure is NULL or one that
 * has no unit.
 */
void size_text_problem(double size, const char *measure, char out[SIZE_TEXT_MAX]);

#endif
