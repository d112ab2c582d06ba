#ifndef BASE_QUANTITY_TEXT_H
#define BASE_QUANTITY_TEXT_H

#include <stddef.h>

/*
 * Quantities as people read them: one form for each, in the messages of the service, in the tables of
 * the command line client and in Markdown. Members of JSON keep full precision instead.
 *
 * A text is returned by value, so that a call can be an argument of printf:
 * "%s", quantity_duration(75.46).text. NAN is "unknown". No text has an exponent below 1e15.
 */
enum { QUANTITY_TEXT_MAX = 48 };

struct quantity_text {
    char text[QUANTITY_TEXT_MAX];
};

/* "0.35 s", "75 s", "1 min 55 s", "1 h 05 min", "2 d 3 h": seconds, with three significant digits,
 * only up to 90. */
struct quantity_text quantity_duration(double seconds);

/* The same, rounded up: a deadline that is met is met as it is printed, too. */
struct quantity_text quantity_duration_at_least(double seconds);

/* The time left until limit_s, rounded as a duration of limit_s is printed. If the job is late by less
 * than one step, one step below 0. */
double quantity_slack_s(double slack_s, double limit_s);

/* "8.5 to 12.3 s", "45 s to 1 min 10 s", "4 min 36 s to 12 min 17 s": each end as a duration is
 * written. high may be infinite or NAN: "1 min 36 s or more". */
struct quantity_text quantity_interval(double low_s, double high_s);

/* "5.7 %", "95 %", "130 %". Not 0 but below 0.05: "less than 0.1 %". */
struct quantity_text quantity_percent(double percent);

/* With its sign: "+4.7 %", "-15 %". */
struct quantity_text quantity_change(double percent);

/* A share, 0 to 1, in per cent. */
struct quantity_text quantity_share(double share);

/* "95.6 %", "less than 0.1 %", "more than 99.9 %": rounded down, so that a probability below the one
 * asked for never reads as that one. */
struct quantity_text quantity_probability(double probability);

/* "12.30 EUR", "0.0525 EUR". currency NULL or "": the amount alone, for a
 * text that says what it is in. */
struct quantity_text quantity_cost(double cost, const char *currency);

/* A number of things: "16", "1234567". */
struct quantity_text quantity_count(double count);

/* Any other number, with three significant digits and every digit before the point: "0.35", "12.5",
 * "51200". */
struct quantity_text quantity_number(double value);

/* The same with so many significant digits. */
struct quantity_text quantity_digits(double value, int digits);

/* "312 B", "2.0 KiB", "50.5 GiB": powers of 1024, labelled as Spark does. */
struct quantity_text quantity_bytes(double bytes);

/* Bytes in one block of input, the unit of problem sizes that are measured by bytes: 128 MiB. */
#define QUANTITY_BLOCK_BYTES 134217728.0

/*
 * A problem size with its unit: "50.5 GiB in 404 blocks", "4 tasks", "31 records". measure: one of
 * size_measure_words (core/history/problem_size.h). The number alone if measure is NULL or one that
 * has no unit.
 */
struct quantity_text quantity_problem_size(double size, const char *measure);

#endif
