/* Strings of the log: escapes, and UTF-8 that can be trusted. */
#include <string.h>

#include "core/joblog/common/json.h"

static const uint32_t REPLACEMENT = 0xfffd;

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The four digits of \uXXXX at text[i]; -1 when they are not there. */
static int32_t hex4(struct json_text text, size_t i)
{
    if (text.n - i < 4)
        return -1;
    int32_t value = 0;
    for (size_t k = i; k < i + 4; k++) {
        int digit = hex_digit(text.at[k]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Behind "\u": one or, for a pair of surrogates, two escapes. */
static uint32_t take_unicode(struct json_text text, size_t *i)
{
    int32_t high = hex4(text, *i);
    if (high < 0)
        return REPLACEMENT;
    *i += 4;
    if (high < 0xd800 || high > 0xdfff)
        return (uint32_t)high;
    if (high > 0xdbff || text.n - *i < 6 || text.at[*i] != '\\' || text.at[*i + 1] != 'u')
        return REPLACEMENT;
    int32_t low = hex4(text, *i + 2);
    if (low < 0xdc00 || low > 0xdfff)
        return REPLACEMENT;
    *i += 6;
    return 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
}

static uint32_t take_escape(struct json_text text, size_t *i)
{
    char c = text.at[(*i)++];
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'u':
        return take_unicode(text, i);
    case '"':
    case '\\':
    case '/':
        return (unsigned char)c;
    default:
        return REPLACEMENT;
    }
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

static size_t json_text_encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t k = n - 1; k > 0; k--) {
        out[k] = (char)(0x80U | (c & 0x3fU));
        c >>= 6;
    }
    out[0] = (char)((0xf00U >> n & 0xffU) | c);
    return n;
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
        size_t n = json_text_encode(c, bytes);
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
