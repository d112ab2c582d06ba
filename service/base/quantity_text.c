#include "base/quantity_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code.h"

#define MINUTE_S 60.0
#define SECONDS_MAX_S 90.0 /* durations up to it are seconds: "75 s" */
#define HOUR_S 3600.0
#define DAY_S 86400.0

static const struct quantity_text unknown = {"unknown"};

PV_PRINTF(1, 2)
static struct quantity_text print(const char *format, ...)
{
    struct quantity_text made;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(made.text, sizeof made.text, format, arguments);
    va_end(arguments);
    return made;
}

struct quantity_text quantity_digits(double value, int digits)
{
    double size = fabs(value);
    if (isnan(value))
        return unknown;
    if (isinf(value))
        return print("%sinfinite", value < 0 ? "minus " : "");
    if (value == 0)
        return print("0");
    /* Rounded to its digits first: 999.96 has as many as 1000 then. */
    char rounded[32];
    (void)snprintf(rounded, sizeof rounded, "%.*e", digits - 1, size);
    int exponent = (int)strtol(strchr(rounded, 'e') + 1, NULL, 10);
    if (exponent >= 15 || exponent < -12)
        return print("%.*g", digits, value);
    if (exponent >= digits - 1)
        return print("%.0f", value);
    struct quantity_text made = print("%.*f", digits - 1 - exponent, value);
    size_t n = strlen(made.text);
    while (made.text[n - 1] == '0')
        n--;
    made.text[made.text[n - 1] == '.' ? n - 1 : n] = '\0';
    return made;
}

struct quantity_text quantity_number(double value)
{
    return quantity_digits(value, 3);
}

struct quantity_text quantity_count(double count)
{
    return isnan(count) ? unknown : print("%.0f", count);
}

/* --- durations --- */

enum unit { UNIT_SECONDS, UNIT_MINUTES, UNIT_HOURS, UNIT_DAYS };

static enum unit unit_of(double seconds)
{
    if (seconds < SECONDS_MAX_S + 0.05) /* 90.04 is printed as 90 s */
        return UNIT_SECONDS;
    if (seconds < HOUR_S - 0.5)
        return UNIT_MINUTES;
    return seconds < 2 * DAY_S - MINUTE_S / 2 ? UNIT_HOURS : UNIT_DAYS;
}

/* "2 min 17 s", and "2 min" if nothing is left over. */
static struct quantity_text in_unit(double seconds, enum unit unit)
{
    static const struct {
        double larger_s, smaller_s;
        const char *larger, *smaller;
        int digits; /* of the smaller one */
    } units[] = {[UNIT_MINUTES] = {MINUTE_S, 1, "min", "s", 2},
                 [UNIT_HOURS] = {HOUR_S, MINUTE_S, "h", "min", 2},
                 [UNIT_DAYS] = {DAY_S, HOUR_S, "d", "h", 1}};
    double larger_s = units[unit].larger_s, smaller_s = units[unit].smaller_s;
    double rounded = floor(seconds / smaller_s + 0.5) * smaller_s;
    double whole = floor(rounded / larger_s);
    double rest = (rounded - whole * larger_s) / smaller_s;
    if (rest < 0.5)
        return print("%.0f %s", whole, units[unit].larger);
    return print("%.0f %s %0*.0f %s", whole, units[unit].larger, units[unit].digits, rest,
                 units[unit].smaller);
}

struct quantity_text quantity_duration(double seconds)
{
    enum unit unit = unit_of(fabs(seconds));
    if (isnan(seconds) || isinf(seconds))
        return quantity_number(seconds);
    if (unit == UNIT_SECONDS)
        return print("%s s", quantity_number(seconds).text);
    return print("%s%s", seconds < 0 ? "-" : "", in_unit(fabs(seconds), unit).text);
}

/* The last digit of a duration > 0 as it is printed. */
static double step_of(double seconds)
{
    static const double steps[] = {
        [UNIT_MINUTES] = 1, [UNIT_HOURS] = MINUTE_S, [UNIT_DAYS] = HOUR_S};
    enum unit unit = unit_of(seconds);
    return unit == UNIT_SECONDS ? pow(10, floor(log10(seconds)) - 2) : steps[unit];
}

struct quantity_text quantity_duration_at_least(double seconds)
{
    if (!(seconds > 0) || isinf(seconds))
        return quantity_duration(seconds);
    double step = step_of(seconds);
    return quantity_duration(step * ceil(seconds / step - 1e-9));
}

double quantity_slack_s(double slack_s, double limit_s)
{
    if (!(limit_s > 0) || isinf(limit_s))
        return slack_s;
    double step = step_of(limit_s);
    double rounded = step * floor(slack_s / step + 0.5);
    return slack_s < 0 && rounded > -step ? -step : rounded;
}

/* Both ends with as many decimals as the larger one has with three digits. */
static struct quantity_text seconds_interval(double low_s, double high_s)
{
    int decimals = high_s >= 9.995 ? 1 : 2;
    if (high_s < 1)
        return print("%s to %s s", quantity_number(low_s).text, quantity_number(high_s).text);
    return print("%.*f to %.*f s", decimals, low_s, decimals, high_s);
}

/* One end of an interval whose larger end is not in seconds: minutes from the first one on. */
static struct quantity_text end_of_interval(double seconds)
{
    if (seconds < MINUTE_S - 0.5)
        return print("%.0f s", seconds);
    enum unit unit = unit_of(seconds);
    return in_unit(seconds, unit == UNIT_SECONDS ? UNIT_MINUTES : unit);
}

struct quantity_text quantity_interval(double low_s, double high_s)
{
    if (isnan(low_s))
        return unknown;
    if (!isfinite(high_s))
        return print("%s or more", quantity_duration(low_s).text);
    if (unit_of(high_s) == UNIT_SECONDS)
        return seconds_interval(low_s, high_s);
    return print("%s to %s", end_of_interval(low_s).text, end_of_interval(high_s).text);
}

/* --- shares --- */

struct quantity_text quantity_percent(double percent)
{
    double size = fabs(percent);
    if (isnan(percent))
        return unknown;
    if (size > 0 && size < 0.05)
        return print("less than 0.1 %%");
    double tenths = floor(10 * size + 0.5);
    bool whole = size >= 99.95 || fmod(tenths, 10) == 0;
    return print(whole ? "%.0f %%" : "%.1f %%", percent);
}

struct quantity_text quantity_change(double percent)
{
    return print("%s%.40s", percent > 0 ? "+" : "", quantity_percent(percent).text);
}

struct quantity_text quantity_share(double share)
{
    return quantity_percent(100 * share);
}

struct quantity_text quantity_probability(double probability)
{
    /* Rounding of the caller's arithmetic must not lose a tenth. */
    double tenths = floor(1000 * probability + 1e-6);
    if (isnan(probability))
        return unknown;
    if (tenths < 1)
        return print("less than 0.1 %%");
    if (probability > 0.999)
        return print("more than 99.9 %%");
    return quantity_percent(tenths / 10);
}

/* --- money --- */

struct quantity_text quantity_cost(double cost, const char *currency)
{
    double size = fabs(cost);
    bool exact = size >= 0.995 || fabs(100 * size - round(100 * size)) < 1e-9;
    struct quantity_text amount = size >= 9999.5 || size == 0 ? quantity_count(cost)
                                  : exact                     ? print("%.2f", cost)
                                                              : quantity_number(cost);
    if (isnan(cost))
        return unknown;
    if (currency == NULL || currency[0] == '\0')
        return amount;
    return print("%s %.8s", amount.text, currency);
}

/* --- sizes --- */

struct quantity_text quantity_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    const char *sign = bytes < 0 ? "-" : "";
    size_t unit = 0;
    if (isnan(bytes))
        return unknown;
    /* A number that rounds to 1024 takes the next unit. */
    for (bytes = fabs(bytes); bytes >= 1023.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    return print(unit == 0 || bytes >= 99.95 ? "%s%.0f %s" : "%s%.1f %s", sign, bytes, units[unit]);
}

static bool is_measure(const char *measure, const char *name)
{
    return measure != NULL && strcmp(measure, name) == 0;
}

static struct quantity_text count_of(double count, const char *noun)
{
    struct quantity_text number = quantity_digits(count, 4);
    if (floor(count) == count)
        number = quantity_count(count);
    return print("%s%s%s", number.text, noun, count == 1 || noun[0] == '\0' ? "" : "s");
}

struct quantity_text quantity_problem_size(double size, const char *measure)
{
    if (isnan(size))
        return unknown;
    if (is_measure(measure, "input_blocks"))
        return print("%.20s in %.24s", quantity_bytes(size * QUANTITY_BLOCK_BYTES).text,
                     count_of(size, " block").text);
    if (is_measure(measure, "input_records"))
        return count_of(size, " record");
    if (is_measure(measure, "first_parallel_stage") || is_measure(measure, "first_stage"))
        return count_of(size, " task");
    return count_of(size, "");
}
