#include "cli/output/cell.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/quantity_text.h"
#include "cli/output/json_text.h"
#include "cli/terminal/terminal.h"

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
        (void)snprintf(out, room, "%s", quantity_digits(json_real_value(value), CELL_DIGITS).text);
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

static struct quantity_text slack(double seconds)
{
    struct quantity_text text = quantity_duration(fabs(seconds));
    struct quantity_text late = text;
    (void)snprintf(late.text, sizeof late.text, "late by %.*s", (int)sizeof late.text - 9,
                   text.text);
    return seconds < 0 ? late : text;
}

/* How far it is below, or above, what it is compared with. */
static struct quantity_text below(double percent)
{
    struct quantity_text text = quantity_percent(fabs(percent));
    struct quantity_text full = {"equal"};
    if (fabs(percent) >= 0.05)
        (void)snprintf(full.text, sizeof full.text, "%.*s %s", (int)sizeof full.text - 7, text.text,
                       percent < 0 ? "above" : "below");
    return full;
}

static struct quantity_text number_for_people(double value, enum cell_kind kind)
{
    switch (kind) {
    case CELL_SECONDS:
        return quantity_duration(value);
    case CELL_SLACK:
        return slack(value);
    case CELL_SHARE:
        return quantity_share(value);
    case CELL_PROBABILITY:
        return quantity_probability(value);
    case CELL_PERCENT:
        return quantity_percent(value);
    case CELL_BELOW:
        return below(value);
    case CELL_COUNT:
        return quantity_count(value);
    case CELL_BYTES:
        return quantity_bytes(value);
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
        break;
    }
    return quantity_digits(value, CELL_DIGITS);
}

static void instant_for_people(const char *text, int time_characters, char out[CELL_TEXT_MAX])
{
    (void)snprintf(out, CELL_TEXT_MAX, "%.10s %.*s", text, time_characters,
                   strlen(text) > 11 ? text + 11 : "");
}

void cell_for_people(const json_t *value, enum cell_kind kind, char out[CELL_TEXT_MAX])
{
    if (json_is_number(value))
        (void)snprintf(out, CELL_TEXT_MAX, "%s",
                       number_for_people(json_number_value(value), kind).text);
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
    text_defuse(out, CELL_TEXT_MAX);
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
    (void)snprintf(
        out, CELL_TEXT_MAX, "%s",
        quantity_problem_size(json_number_value(value), json_string_value(json_at(item, measure)))
            .text);
    char *blocks = strstr(out, " in ");
    if (kind == CELL_SIZE && blocks != NULL)
        *blocks = '\0';
}
