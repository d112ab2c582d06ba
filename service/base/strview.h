#ifndef BASE_STRVIEW_H
#define BASE_STRVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Bytes that somebody else owns; not NUL-terminated. at may be NULL only when n is 0. */
struct strview {
    const char *at;
    size_t n;
};

static inline struct strview strview_of(const char *text)
{
    return (struct strview){text, text == NULL ? 0 : strlen(text)};
}

static inline bool strview_equal(struct strview a, struct strview b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

static inline bool strview_is(struct strview a, const char *text)
{
    return strview_equal(a, strview_of(text));
}

/* Valid UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool strview_is_utf8(struct strview text);

/* Bytes of the character that the text begins with; 0: it begins with none. text.n > 0. */
size_t strview_character(struct strview text);

/* At most n bytes of a UTF-8 text: no character is cut in two. */
struct strview strview_clip(struct strview text, size_t n);

/* The text cut to at most `room` - 1 bytes, between characters, with "..." where it was cut. */
void strview_shorten(struct strview text, char *out, size_t room);

#endif
