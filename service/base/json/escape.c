#include "base/json/escape.h"

#include "base/hex.h"

/* The four digits of \uXXXX; -1 when they are not there. */
static int32_t hex4(const char *at, const char *end)
{
    if (end - at < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Behind "\u": one or, for a pair of surrogates, two escapes. */
static uint32_t take_unicode(const char **at, const char *end)
{
    int32_t high = hex4(*at, end);
    if (high < 0)
        return JSON_NO_CHARACTER;
    *at += 4;
    if (high < 0xd800 || high > 0xdfff)
        return (uint32_t)high;
    if (high > 0xdbff || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return JSON_NO_CHARACTER;
    int32_t low = hex4(*at + 2, end);
    if (low < 0xdc00 || low > 0xdfff)
        return JSON_NO_CHARACTER;
    *at += 6;
    return 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
}

uint32_t json_escape_take(const char **at, const char *end)
{
    if (*at == end)
        return JSON_NO_CHARACTER;
    char c = *(*at)++;
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
        return take_unicode(at, end);
    case '"':
    case '\\':
    case '/':
        return (unsigned char)c;
    default:
        return JSON_NO_CHARACTER;
    }
}

size_t json_escape_encode(uint32_t c, char out[4])
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
