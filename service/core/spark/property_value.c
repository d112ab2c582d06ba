#include "core/spark/property_value.h"

#include <errno.h>
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

static bool is_word(struct strview text, const char *word)
{
    return text.at != NULL && text.n == strlen(word) && strncasecmp(text.at, word, text.n) == 0;
}

bool property_boolean(struct strview text, bool otherwise)
{
    if (is_word(text, "true"))
        return true;
    return is_word(text, "false") ? false : otherwise;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Digits from *at on; RUN_UNKNOWN where there are none or more than a count takes. */
static int64_t read_digits(struct strview text, size_t *at)
{
    int64_t value = 0;
    size_t first = *at;
    for (; *at < text.n && text.at[*at] >= '0' && text.at[*at] <= '9'; (*at)++) {
        if (value > INT64_C(1000000000000))
            return RUN_UNKNOWN;
        value = 10 * value + (text.at[*at] - '0');
    }
    return *at == first ? RUN_UNKNOWN : value;
}

int64_t property_count(struct strview text)
{
    size_t at = 0;
    if (text.at == NULL)
        return RUN_UNKNOWN;
    while (at < text.n && is_blank(text.at[at]))
        at++;
    int64_t value = read_digits(text, &at);
    while (at < text.n && is_blank(text.at[at]))
        at++;
    return at == text.n ? value : RUN_UNKNOWN;
}

bool property_version_is(struct strview version, int64_t major, int64_t minor, bool otherwise)
{
    size_t at = 0;
    if (version.at == NULL)
        return otherwise;
    int64_t first = read_digits(version, &at);
    if (first == RUN_UNKNOWN || at >= version.n || version.at[at] != '.')
        return otherwise;
    at++;
    int64_t second = read_digits(version, &at);
    if (second == RUN_UNKNOWN)
        return otherwise;
    return first > major || (first == major && second >= minor);
}

double property_number(struct strview text)
{
    char copy[64];
    char *end;
    if (text.at == NULL || text.n == 0 || text.n >= sizeof copy)
        return (double)NAN;
    memcpy(copy, text.at, text.n);
    copy[text.n] = '\0';
    double value = strtod(copy, &end);
    return *end == '\0' && isfinite(value) ? value : (double)NAN;
}

/* Bytes of a unit in lower case; 0: it is none. */
static int64_t unit_bytes(const char *unit)
{
    static const char letters[] = "bkmgtp";
    const char *at = unit[0] == '\0' ? NULL : strchr(letters, unit[0]);
    bool whole = at != NULL && (unit[1] == '\0' || (unit[0] != 'b' && strcmp(unit + 1, "b") == 0));
    return whole ? INT64_C(1) << 10 * (at - letters) : 0;
}

int64_t property_size(struct strview text, int64_t unit)
{
    char copy[32];
    char *end;
    int64_t bytes;
    if (text.at == NULL || text.n == 0 || text.n >= sizeof copy)
        return RUN_UNKNOWN;
    for (size_t i = 0; i < text.n; i++)
        copy[i] =
            text.at[i] >= 'A' && text.at[i] <= 'Z' ? (char)(text.at[i] - 'A' + 'a') : text.at[i];
    copy[text.n] = '\0';
    if (copy[0] < '0' || copy[0] > '9')
        return RUN_UNKNOWN;
    errno = 0;
    long long count = strtoll(copy, &end, 10);
    if (errno != 0)
        return RUN_UNKNOWN;
    if (*end != '\0')
        unit = unit_bytes(end);
    return unit == 0 || __builtin_mul_overflow((int64_t)count, unit, &bytes) ||
                   bytes > INT64_MAX / 16
               ? RUN_UNKNOWN
               : bytes;
}

double property_cores(struct strview text)
{
    bool thousandths = text.at != NULL && text.n > 1 && text.at[text.n - 1] == 'm';
    double value = property_number((struct strview){text.at, text.n - (thousandths ? 1 : 0)});
    if (!(value > 0))
        return (double)NAN;
    return thousandths ? value / 1000.0 : value;
}

double property_seconds(struct strview text)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"us", 1e-6},  {"ms", 1e-3},  {"s", 1.0},    {"m", 60.0},
                 {"min", 60.0}, {"h", 3600.0}, {"d", 86400.0}};
    size_t at = 0;
    int64_t count = text.at == NULL ? RUN_UNKNOWN : read_digits(text, &at);
    if (count == RUN_UNKNOWN)
        return (double)NAN;
    if (at == text.n)
        return (double)count;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (is_word((struct strview){text.at + at, text.n - at}, units[i].name))
            return (double)count * units[i].seconds;
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
