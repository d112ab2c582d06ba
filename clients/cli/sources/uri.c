#include "cli/sources/uri.h"

#include <stdint.h>
#include <string.h>

static bool unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static char *encode(struct arena *arena, const char *text, bool path)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = strlen(text);
    char *out = arena_array(arena, n * 3 + 1, 1);
    if (out == NULL)
        return NULL;
    char *to = out;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (unreserved(c) || (path && c == '/')) {
            *to++ = (char)c;
            continue;
        }
        *to++ = '%';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    *to = '\0';
    return out;
}

char *uri_encode_value(struct arena *arena, const char *text)
{
    return encode(arena, text, false);
}

char *uri_encode_path(struct arena *arena, const char *path)
{
    return encode(arena, path, true);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool uri_decode(char *text, bool form)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '%') {
            *to++ = (char)(form && *at == '+' ? ' ' : *at);
            continue;
        }
        int high = hex(at[1]);
        int low = high < 0 ? -1 : hex(at[2]);
        if (low < 0 || high * 16 + low == 0)
            return false;
        *to++ = (char)(high * 16 + low);
        at += 2;
    }
    *to = '\0';
    return true;
}

void uri_printable(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
    }
}

static size_t scheme_of(const char *url)
{
    return strncmp(url, "http://", 7) == 0 ? 7 : strncmp(url, "https://", 8) == 0 ? 8 : 0;
}

bool uri_is_base(const char *url)
{
    size_t scheme = scheme_of(url);
    if (scheme == 0 || url[scheme] == '\0' || url[scheme] == '/')
        return false;
    for (const char *at = url; *at != '\0'; at++) {
        if ((unsigned char)*at <= 0x20 || *at == 0x7f || strchr("?#@\\", *at) != NULL)
            return false;
    }
    return true;
}

char *uri_base(struct arena *arena, const char *url)
{
    size_t n = strlen(url);
    while (n > scheme_of(url) && url[n - 1] == '/')
        n--;
    return arena_strndup(arena, url, n);
}
