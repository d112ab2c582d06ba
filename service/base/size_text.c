#include "base/size_text.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void size_text_bytes(double bytes, char out[SIZE_TEXT_MAX])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    const char *sign = bytes < 0 ? "-" : "";
    size_t unit = 0;
    /* A number that rounds to 1024 takes the next unit. */
    for (bytes = fabs(bytes); bytes >= 1023.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    (void)snprintf(out, SIZE_TEXT_MAX, unit == 0 || bytes >= 99.95 ? "%s%.0f %s" : "%s%.1f %s",
                   sign, bytes, units[unit]);
}

/* Four significant digits, and every digit of a whole number. */
static void write_count(double count, const char *noun, char *out, size_t room)
{
    bool whole = floor(count) == count || count >= 1000;
    (void)snprintf(out, room, whole ? "%.0f %s%s" : "%.4g %s%s", count, noun,
                   count == 1 ? "" : "s");
}

static bool is_measure(const char *measure, const char *name)
{
    return measure != NULL && strcmp(measure, name) == 0;
}

void size_text_problem(double size, const char *measure, char out[SIZE_TEXT_MAX])
{
    char blocks[48];
    if (is_measure(measure, "input_blocks")) {
        size_text_bytes(size * SIZE_BLOCK_BYTES, out);
        write_count(size, "block", blocks, sizeof blocks);
        (void)snprintf(out + strlen(out), SIZE_TEXT_MAX - strlen(out), " in %s", blocks);
    } else if (is_measure(measure, "input_records"))
        write_count(size, "record", out, SIZE_TEXT_MAX);
    else if (is_measure(measure, "first_parallel_stage") || is_measure(measure, "first_stage"))
        write_count(size, "task", out, SIZE_TEXT_MAX);
    else
        (void)snprintf(out, SIZE_TEXT_MAX, size >= 1000 ? "%.0f" : "%.4g", size);
}
