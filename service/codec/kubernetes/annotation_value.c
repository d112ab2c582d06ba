#include "codec/kubernetes/annotation_value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/history/problem_size.h"

#define KIB 1024.0
#define MIB (1024.0 * KIB)
#define GIB (1024.0 * MIB)
#define TIB (1024.0 * GIB)

/* A decimal number at the beginning of the text; how many bytes it takes, 0: there is none. No
 * exponent: the e of 2e would be one, were more digits to follow. */
static size_t read_leading(const char *text, size_t n, double *value)
{
    char digits[32];
    size_t length = 0;
    while (length < n && length < sizeof digits &&
           ((text[length] >= '0' && text[length] <= '9') || text[length] == '.'))
        length++;
    if (length == 0 || length == sizeof digits || text[0] == '.')
        return 0;
    memcpy(digits, text, length);
    digits[length] = '\0';
    char *end;
    errno = 0;
    *value = strtod(digits, &end);
    return errno == 0 && *end == '\0' && isfinite(*value) ? length : 0;
}

bool annotation_number(struct strview text, double *value)
{
    return text.n > 0 && read_leading(text.at, text.n, value) == text.n;
}

struct unit {
    const char *name;
    double factor;
};

/* 0: there is no such unit. */
static double factor_of(const struct unit units[], size_t n, struct strview name)
{
    for (size_t i = 0; i < n; i++)
        if (strview_is(name, units[i].name))
            return units[i].factor;
    return 0;
}

bool annotation_count(struct strview text, int64_t *count)
{
    double value = 0;
    if (!annotation_number(text, &value) || value < 1 || value > ANNOTATION_COUNT_MAX ||
        value != floor(value))
        return false;
    *count = (int64_t)value;
    return true;
}

bool annotation_duration(struct strview text, double *seconds)
{
    static const struct unit units[] = {
        {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    double sum = 0, value = 0;
    size_t at = 0;
    if (annotation_number(text, seconds))
        return *seconds > 0;
    while (at < text.n) {
        size_t digits = read_leading(text.at + at, text.n - at, &value);
        size_t begin = at + digits, end = begin;
        while (end < text.n && text.at[end] >= 'a' && text.at[end] <= 'z')
            end++;
        double factor = factor_of(units, sizeof units / sizeof *units,
                                  (struct strview){text.at + begin, end - begin});
        if (digits == 0 || factor == 0)
            return false;
        sum += value * factor;
        at = end;
    }
    *seconds = sum;
    return sum > 0;
}

bool annotation_size(struct strview text, double *blocks)
{
    /* A letter alone is what Spark makes of it, which is what the object's own memory fields mean. */
    static const struct unit units[] = {
        {"B", 1},     {"kB", 1e3},  {"MB", 1e6},  {"GB", 1e9}, {"TB", 1e12}, {"KiB", KIB},
        {"MiB", MIB}, {"GiB", GIB}, {"TiB", TIB}, {"Ki", KIB}, {"Mi", MIB},  {"Gi", GIB},
        {"Ti", TIB},  {"k", KIB},   {"K", KIB},   {"m", MIB},  {"M", MIB},   {"g", GIB},
        {"G", GIB},   {"t", TIB},   {"T", TIB}};
    double value = 0;
    size_t digits = text.n == 0 ? 0 : read_leading(text.at, text.n, &value);
    double factor = digits == text.n
                        ? PROBLEM_SIZE_BLOCK_BYTES
                        : factor_of(units, sizeof units / sizeof *units,
                                    (struct strview){text.at + digits, text.n - digits});
    *blocks = value * factor / PROBLEM_SIZE_BLOCK_BYTES;
    return digits > 0 && *blocks > 0;
}
