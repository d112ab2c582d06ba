#include "cli/output/cell.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/size_text.h"
#include "cli/output/json_text.h"
#include "cli/terminal/terminal.h"

void cell_number(double value, char *out, size_t room)
{
    double size = fabs(value);
    if (size >= 10000 && size < 1e15 && floor(value) == value)
        (void)snprintf(out, room, "%.0f", value);
    else if (size >= 1000 && size < 1e15)
        (void)snprintf(out, room, "%.0f", value);
    else
        (void)snprintf(out, room, "%.4g", value);
}

void cell_seconds(double seconds, char *out, size_t room)
{
    if (seconds < 0) {
        cell_number(seconds, out, room);
        return;
    }
    if (seconds < 120) {
        bool whole = floor(seconds) == seconds;
        (void)snprintf(out, room, seconds < 1 ? "%.3g s" : whole ? "%.0f s" : "%.1f s", seconds);
        return;
    }
    double rounded = floor(seconds + 0.5);
    if (rounded < 3600)
        (void)snprintf(out, room, "%.0f min %02.0f s", floor(rounded / 60), fmod(rounded, 60));
    else if (rounded < 172800)
        (void)snprintf(out, room, "%.0f h %02.0f min", floor(rounded / 3600),
                       floor(fmod(rounded, 3600) / 60));
    else
        (void)snprintf(out, room, "%.0f d %.0f h", floor(rounded / 86400),
                       floor(fmod(rounded, 86400) / 3600));
}

static void scalar_text(const json_t *value, char *out, size_t room)
{
    char number[33] = "";
    if (json_is_string(value))
        (void)snprintf(out, room, "%s", json_string_value(value));
    else if (json_is_integer(value))
        (void)snprintf(out, room, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value)) {
        number[writer_format_number(json_real_value(value), number)] = '\0';
        (void)snprintf(out, room, "%s", number);
    } else if (json_is_boolean(value))
        (void)snprintf(out, room, "%s", json_is_true(value) ? "true" : "false");
    else
        (void)snprintf(out, room, "%s", "");
}

static void append(char *out, const char *before, const char *text)
{
    size_t at = strlen(out);
    (void)snprintf(out + at, CELL_TEXT_MAX - at, "%s%s", at == 0 ? "" : before, text);
}

/* A member of a list, with as few digits as a cell of its own. */
static void member_text(const json_t *value, char *out, size_t room)
{
    if (json_is_real(value))
        cell_number(json_real_value(value), out, room);
    else
        scalar_text(value, out, room);
}

static void list_text(const json_t *value, char *out)
{
    char item[CELL_TEXT_MAX];
    const char *key;
    json_t *member;
    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(value); i++) {
        member_text(json_array_get(value, i), item, sizeof item);
        append(out, ", ", item);
    }
    if (!json_is_object(value))
        return;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        char pair[CELL_TEXT_MAX];
        member_text(member, item, sizeof item / 2);
        (void)snprintf(pair, sizeof pair, "%.400s=%.500s", key, item);
        append(out, " ", pair);
    }
}

void cell_for_programs(const json_t *value, char out[CELL_TEXT_MAX])
{
    scalar_text(value, out, CELL_TEXT_MAX);
}

static void number_for_people(double value, enum cell_kind kind, char out[CELL_TEXT_MAX])
{
    switch (kind) {
    case CELL_SECONDS:
        cell_seconds(value, out, CELL_TEXT_MAX);
        break;
    case CELL_SLACK:
        (void)snprintf(out, CELL_TEXT_MAX, "%s", value < 0 ? "late by " : "");
        cell_seconds(fabs(value), out + strlen(out), CELL_TEXT_MAX - strlen(out));
        break;
    case CELL_SHARE:
        /* Nothing that is not certain reads as certain. */
        if (value > 0.9994 && value < 1)
            (void)snprintf(out, CELL_TEXT_MAX, "> 99.9 %%");
        else
            (void)snprintf(out, CELL_TEXT_MAX, "%.1f %%", 100 * value);
        break;
    case CELL_PERCENT:
        (void)snprintf(out, CELL_TEXT_MAX, "%.1f %%", value);
        break;
    case CELL_BELOW:
        if (fabs(value) < 0.05)
            (void)snprintf(out, CELL_TEXT_MAX, "equal");
        else
            (void)snprintf(out, CELL_TEXT_MAX, "%.1f %% %s", fabs(value),
                           value < 0 ? "above" : "below");
        break;
    case CELL_BYTES:
        size_text_bytes(value, out);
        break;
    case CELL_COUNT:
        (void)snprintf(out, CELL_TEXT_MAX, "%.0f", value);
        break;
    case CELL_TEXT:
    case CELL_SIZE:
    case CELL_SIZE_IN_FULL:
    case CELL_NUMBER:
    case CELL_INSTANT:
    case CELL_MINUTE:
    case CELL_YES:
    case CELL_ID:
    case CELL_NAME:
    case CELL_WORD:
    case CELL_VERDICT:
        cell_number(value, out, CELL_TEXT_MAX);
        break;
    }
}

static void instant_for_people(const char *text, int time_characters, char out[CELL_TEXT_MAX])
{
    (void)snprintf(out, CELL_TEXT_MAX, "%.10s %.*s", text, time_characters,
                   strlen(text) > 11 ? text + 11 : "");
}

void cell_for_people(const json_t *value, enum cell_kind kind, char out[CELL_TEXT_MAX])
{
    if (json_is_number(value))
        number_for_people(json_number_value(value), kind, out);
    else if (json_is_boolean(value))
        (void)snprintf(out, CELL_TEXT_MAX, "%s", json_is_true(value) ? "yes" : "no");
    else if ((kind == CELL_INSTANT || kind == CELL_MINUTE) && json_is_string(value))
        instant_for_people(json_string_value(value), kind == CELL_INSTANT ? 8 : 5, out);
    else if (json_is_array(value) || json_is_object(value))
        list_text(value, out);
    else
        cell_for_programs(value, out);
    for (char *at = out; kind == CELL_WORD && (at = strchr(at, '_')) != NULL;)
        *at = ' ';
    text_defuse(out);
    if (out[0] == '\0')
        (void)snprintf(out, CELL_TEXT_MAX, "-");
}

void cell_of_member(const json_t *item,
                    const char *path,
                    enum cell_kind kind,
                    char out[CELL_TEXT_MAX])
{
    const json_t *value = json_at(item, path);
    char measure[128];
    (void)snprintf(measure, sizeof measure, "%s_measured_by", path);
    if ((kind != CELL_SIZE && kind != CELL_SIZE_IN_FULL) || !json_is_number(value)) {
        cell_for_people(value, kind, out);
        return;
    }
    size_text_problem(json_number_value(value), json_string_value(json_at(item, measure)), out);
    char *blocks = strstr(out, " in ");
    if (kind == CELL_SIZE && blocks != NULL)
        *blocks = '\0';
}
