#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments/parse.h"

/* Values of options: numbers with units. */

static bool read_plain(const char *text, double *value, const char **end)
{
    if (text[0] < '0' || text[0] > '9')
        return false;
    /* No hexadecimal numbers, no names of numbers. */
    size_t n = strspn(text, "0123456789.eE");
    while (n > 1 && (text[n - 1] == 'e' || text[n - 1] == 'E'))
        n--;
    char digits[64];
    if (n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    char *stop;
    errno = 0;
    *value = strtod(digits, &stop);
    *end = text + (stop - digits);
    return errno == 0 && stop != digits && isfinite(*value);
}

static double unit_seconds(const char *at, size_t n)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1},     {"sec", 1},      {"m", 60},     {"min", 60},
                 {"h", 3600},  {"d", 86400}, {"hours", 3600}, {"hour", 3600}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == n && strncmp(units[i].name, at, n) == 0)
            return units[i].seconds;
    return 0;
}

/* More than thirty years are a slip, and fit no counter of milliseconds. */
static const double duration_s_max = 1e9;

/* As durations are printed, too: a blank may come before a unit. */
static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " ");
}

/* "1h30m", "90s", "1.5h", "90", "1 min 30 s". */
static bool read_duration(const char *text, double *seconds)
{
    double sum = 0;
    const char *at = text;
    while (*at != '\0') {
        double value;
        const char *end;
        if (!read_plain(at, &value, &end))
            return false;
        end = skip_blanks(end);
        size_t n = strspn(end, "abcdefghijklmnopqrstuvwxyz");
        if (n == 0 && (at != text || *end != '\0'))
            return false;
        double unit = n == 0 ? 1 : unit_seconds(end, n);
        if (unit == 0)
            return false;
        sum += value * unit;
        at = skip_blanks(end + n);
    }
    *seconds = sum;
    return at != text && sum > 0 && sum <= duration_s_max;
}

static bool read_share(const char *text, double *share)
{
    const char *end;
    if (!read_plain(text, share, &end))
        return false;
    if (strcmp(skip_blanks(end), "%") == 0) {
        *share /= 100;
        return true;
    }
    /* 20 is not taken for 2000 %. */
    return *end == '\0' && *share <= 1;
}

/* A block of input, of which the problem size counts, is 128 MiB. */
static const double block_bytes = 134217728.0;

/* 0: no such unit. */
static double unit_bytes(const char *name)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"B", 1},
                 {"kB", 1e3},
                 {"KB", 1e3},
                 {"MB", 1e6},
                 {"GB", 1e9},
                 {"TB", 1e12},
                 {"KiB", 1024},
                 {"MiB", 1048576},
                 {"GiB", 1073741824},
                 {"TiB", 1099511627776.0},
                 {"Ki", 1024},
                 {"Mi", 1048576},
                 {"Gi", 1073741824},
                 {"Ti", 1099511627776.0}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(name, units[i].name) == 0)
            return units[i].bytes;
    return 0;
}

/* A letter alone is a power of 1024, as in spark.executor.memory. */
static double letter_bytes(const char *name)
{
    static const char letters[] = "kmgt";
    const char *found =
        name[0] == '\0' || name[1] != '\0' ? NULL : strchr(letters, name[0] | ('a' ^ 'A'));
    return found == NULL ? 0 : ldexp(1, 10 * (int)(found - letters + 1));
}

/* 0: no such unit. */
static double bytes_of_unit(const char *name)
{
    return fmax(unit_bytes(name), letter_bytes(name));
}

static bool read_size(const char *text, double *blocks)
{
    const char *end;
    if (!read_plain(text, blocks, &end))
        return false;
    end = skip_blanks(end);
    if (*end != '\0')
        *blocks *= bytes_of_unit(end) / block_bytes;
    return *blocks > 0;
}

/* Doubles hold every whole number up to this one. */
static const double bytes_max = 9007199254740992.0;

static bool read_bytes(const char *text, double *bytes)
{
    const char *end;
    if (!read_plain(text, bytes, &end))
        return false;
    if (*end != '\0')
        *bytes *= bytes_of_unit(end);
    /* Of 1.2GiB the last byte is rounded; of 1.5 bytes there is no such thing. */
    if (*end == '\0' && floor(*bytes) != *bytes)
        return false;
    *bytes = nearbyint(*bytes);
    return *bytes >= 1 && *bytes <= bytes_max;
}

bool option_read_number(enum option_kind kind, const char *text, double *value)
{
    const char *end;
    switch (kind) {
    case OPTION_COUNT:
        return read_plain(text, value, &end) && *end == '\0' && *value >= 1 && *value <= 1e9 &&
               floor(*value) == *value;
    case OPTION_NUMBER:
        return read_plain(text, value, &end) && *end == '\0';
    case OPTION_SHARE:
        return read_share(text, value);
    case OPTION_DURATION:
        return read_duration(text, value);
    case OPTION_SIZE:
        return read_size(text, value);
    case OPTION_BYTES:
        return read_bytes(text, value);
    case OPTION_FLAG:
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_CHOICE:
        break;
    }
    return false;
}
