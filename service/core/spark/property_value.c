#include "core/spark/property_value.h"

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
