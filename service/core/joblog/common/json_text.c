/* Strings of the log: escapes, and UTF-8 that can be trusted. */
#include <string.h>

#include "base/json/escape.h"
#include "core/joblog/common/json.h"

static const uint32_t REPLACEMENT = 0xfffd;

/* Behind a backslash. What is no escape gives U+FFFD for what was looked at. */
static uint32_t take_escape(struct json_text text, size_t *i)
{
    const char *at = text.at + *i;
    uint32_t c = json_escape_take(&at, text.at + text.n);
    *i = (size_t)(at - text.at);
    return c == JSON_NO_CHARACTER ? REPLACEMENT : c;
}

/* One character of raw UTF-8; what is not valid gives U+FFFD for one byte. */
static uint32_t take_raw(struct json_text text, size_t *i)
{
    unsigned char lead = (unsigned char)text.at[*i];
    size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (text.n - *i < n || !strview_is_utf8((struct strview){text.at + *i, n})) {
        (*i)++;
        return REPLACEMENT;
    }
    uint32_t value = n == 1 ? lead : lead & (0xffU >> (n + 1));
    for (size_t k = 1; k < n; k++)
        value = value << 6 | ((unsigned char)text.at[*i + k] & 0x3fU);
    *i += n;
    return value;
}

static uint32_t take_character(struct json_text text, size_t *i)
{
    if (text.at[*i] == '\\' && text.n - *i >= 2) {
        ++*i;
        return take_escape(text, i);
    }
    return take_raw(text, i);
}

size_t json_text_decode(struct json_text text, char *out, size_t capacity, bool *cut)
{
    size_t used = 0;
    size_t i = 0;
    *cut = false;
    while (i < text.n) {
        uint32_t c = take_character(text, &i);
        if (c < 0x20 || c == 0x7f)
            c = REPLACEMENT;
        char bytes[4];
        size_t n = json_escape_encode(c, bytes);
        if (n > capacity - used) {
            *cut = true;
            break;
        }
        memcpy(out + used, bytes, n);
        used += n;
    }
    return used;
}

bool json_text_is(struct json_text text, struct strview plain)
{
    if (!text.escaped)
        return text.n == plain.n && memcmp(text.at, plain.at, plain.n) == 0;
    char decoded[64];
    bool cut;
    size_t n = json_text_decode(text, decoded, sizeof decoded, &cut);
    return !cut && strview_equal((struct strview){decoded, n}, plain);
}

bool json_text_keep(struct json_text text, char *out, size_t capacity)
{
    bool cut;
    size_t n = json_text_decode(text, out, capacity - 1, &cut);
    out[cut ? 0 : n] = '\0';
    return !cut;
}
