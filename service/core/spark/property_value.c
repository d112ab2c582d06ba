#include "core/spark/property_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct strview property_find(const struct run_label properties[], size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strview_is(properties[i].key, key))
            return properties[i].value;
    return (struct strview){NULL, 0};
}

struct strview property_trim(struct strview text)
{
    while (text.n > 0 && (unsigned char)text.at[0] <= ' ')
        text = (struct strview){text.at + 1, text.n - 1};
    while (text.n > 0 && (unsigned char)text.at[text.n - 1] <= ' ')
        text.n--;
    return text;
}

static bool is_word(struct strview text, const char *word)
{
    return text.at != NULL && text.n == strlen(word) && strncasecmp(text.at, word, text.n) == 0;
}

bool property_boolean(struct strview text, bool otherwise)
{
    text = property_trim(text);
    if (is_word(text, "true"))
        return true;
    return is_word(text, "false") ? false : otherwise;
}

/* Digits from *at on. False: without a digit, or above 2^63 - 1. */
static bool read_digits(struct strview text, size_t *at, int64_t *value)
{
    size_t first = *at;
    *value = 0;
    for (; *at < text.n && text.at[*at] >= '0' && text.at[*at] <= '9'; (*at)++)
        if (__builtin_mul_overflow(*value, INT64_C(10), value) ||
            __builtin_add_overflow(*value, (int64_t)(text.at[*at] - '0'), value))
            return false;
    return *at > first;
}

bool property_whole(struct strview text, int64_t *value)
{
    text = property_trim(text);
    size_t at = text.n > 0 && (text.at[0] == '+' || text.at[0] == '-');
    bool negative = at > 0 && text.at[0] == '-';
    if (!read_digits(text, &at, value) || at < text.n)
        return false;
    *value = negative ? -*value : *value;
    return true;
}

int64_t property_count(struct strview text)
{
    int64_t value;
    return property_whole(text, &value) && value >= 0 && value <= INT32_MAX ? value : RUN_UNKNOWN;
}

bool property_version_is(struct strview version, int64_t major, int64_t minor, bool otherwise)
{
    size_t at = 0;
    int64_t first, second;
    if (!read_digits(version, &at, &first) || at >= version.n || version.at[at] != '.')
        return otherwise;
    at++;
    if (!read_digits(version, &at, &second))
        return otherwise;
    return first > major || (first == major && second >= minor);
}

/* Is it a number of Java's Double.parseDouble? Of hexadecimal digits only with a binary exponent. */
static bool is_number(const char *text)
{
    text += *text == '+' || *text == '-';
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    const char *exponent = hexadecimal ? "pP" : "eE";
    text += hexadecimal ? 2 : 0;
    size_t n = strspn(text, digits), fraction = 0;
    if (text[n] == '.')
        fraction = 1 + strspn(text + n + 1, digits);
    bool has_digits = n + (fraction > 0 ? fraction - 1 : 0) > 0;
    text += n + fraction;
    bool has_exponent = *text != '\0' && strchr(exponent, *text) != NULL;
    if (has_exponent) {
        text++;
        text += *text == '+' || *text == '-';
        n = strspn(text, "0123456789");
        has_digits = has_digits && n > 0;
        text += n;
    }
    text += *text != '\0' && strchr("fFdD", *text) != NULL;
    return has_digits && *text == '\0' && (has_exponent || !hexadecimal);
}

double property_number(struct strview text)
{
    char copy[64];
    text = property_trim(text);
    if (text.n == 0 || text.n >= sizeof copy)
        return (double)NAN;
    memcpy(copy, text.at, text.n);
    copy[text.n] = '\0';
    double value = is_number(copy) ? strtod(copy, NULL) : (double)NAN;
    return isfinite(value) ? value : (double)NAN;
}

struct unit {
    const char *name;
    double size;
};

/* A whole number and one of the units, in letters of either case; without one its unit is `unit`.
 * False: the text is something else. */
static bool read_measure(struct strview text,
                         const struct unit units[],
                         size_t n_units,
                         double unit,
                         int64_t *count,
                         double *size)
{
    text = property_trim(text);
    bool negative = text.n > 0 && text.at[0] == '-';
    size_t at = negative;
    *size = unit;
    if (!read_digits(text, &at, count))
        return false;
    *count = negative ? -*count : *count;
    bool known = at == text.n;
    for (size_t i = 0; !known && i < n_units; i++) {
        known = is_word((struct strview){text.at + at, text.n - at}, units[i].name);
        *size = units[i].size;
    }
    return known;
}

bool property_bytes(struct strview text, int64_t unit, int64_t *bytes)
{
    static const struct unit units[] = {
        {"b", 1},       {"k", 0x1p10}, {"kb", 0x1p10}, {"m", 0x1p20}, {"mb", 0x1p20}, {"g", 0x1p30},
        {"gb", 0x1p30}, {"t", 0x1p40}, {"tb", 0x1p40}, {"p", 0x1p50}, {"pb", 0x1p50}};
    double size;
    return read_measure(text, units, sizeof units / sizeof *units, (double)unit, bytes, &size) &&
           !__builtin_mul_overflow(*bytes, (int64_t)size, bytes);
}

int64_t property_size(struct strview text, int64_t unit)
{
    int64_t bytes;
    return property_bytes(text, unit, &bytes) && bytes >= 0 && bytes <= INT64_MAX / 16
               ? bytes
               : RUN_UNKNOWN;
}

double property_time(struct strview text, double unit)
{
    static const struct unit units[] = {{"us", 1e-6},  {"ms", 1e-3},  {"s", 1.0},    {"m", 60.0},
                                        {"min", 60.0}, {"h", 3600.0}, {"d", 86400.0}};
    int64_t count;
    double size;
    return read_measure(text, units, sizeof units / sizeof *units, unit, &count, &size)
               ? (double)count * size
               : (double)NAN;
}

double property_seconds(struct strview text)
{
    double seconds = property_time(text, 1.0);
    return seconds >= 0 ? seconds : (double)NAN;
}

double property_cores(struct strview text)
{
    static const struct {
        const char *suffix;
        double factor, divisor;
    } suffixes[] = {{"", 1, 1},    {"n", 1, 1e9}, {"u", 1, 1e6},     {"m", 1, 1e3},
                    {"k", 1e3, 1}, {"M", 1e6, 1}, {"Ki", 0x1p10, 1}, {"Mi", 0x1p20, 1}};
    char copy[64];
    char *end;
    if (text.n == 0 || text.n >= sizeof copy)
        return (double)NAN;
    memcpy(copy, text.at, text.n);
    copy[text.n] = '\0';
    if (strspn(copy, "0123456789.") == 0 || strpbrk(copy, "xX") != NULL)
        return (double)NAN;
    double value = strtod(copy, &end);
    bool has_exponent = strcspn(copy, "eE") < (size_t)(end - copy);
    if (end == copy || !(value > 0) || !isfinite(value))
        return (double)NAN;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(end, suffixes[i].suffix) == 0 && (i == 0 || !has_exponent))
            return value * suffixes[i].factor / suffixes[i].divisor;
    return (double)NAN;
}

int64_t property_default_overhead(int64_t heap, double factor)
{
    enum { LEAST_MIB = 384 };
    double mib = floor(factor * (double)(heap >> 20));
    return (int64_t)fmin(fmax(mib, LEAST_MIB), 1e12) << 20;
}

bool property_is_local(struct strview master)
{
    static const char local[] = "local[";
    return strview_is(master, "local") ||
           (master.n > strlen(local) && memcmp(master.at, local, strlen(local)) == 0);
}
