#include "base/strview.h"

#include <stdint.h>

/* Length of the sequence that starts at s (n bytes are left), or 0 where it is not valid. */
static size_t sequence_length(const uint8_t *s, size_t n)
{
    if (s[0] < 0x80)
        return 1;
    size_t length;
    uint32_t code;
    uint32_t least;
    if ((s[0] & 0xe0u) == 0xc0) {
        length = 2;
        code = s[0] & 0x1fu;
        least = 0x80;
    } else if ((s[0] & 0xf0u) == 0xe0) {
        length = 3;
        code = s[0] & 0x0fu;
        least = 0x800;
    } else if ((s[0] & 0xf8u) == 0xf0) {
        length = 4;
        code = s[0] & 0x07u;
        least = 0x10000;
    } else {
        return 0;
    }
    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0u) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least || code > 0x10ffff || surrogate ? 0 : length;
}

bool strview_is_utf8(struct strview text)
{
    const uint8_t *s = (const uint8_t *)text.at;
    for (size_t i = 0; i < text.n;) {
        size_t length = sequence_length(s + i, text.n - i);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

size_t strview_character(struct strview text)
{
    return sequence_length((const uint8_t *)text.at, text.n);
}

struct strview strview_clip(struct strview text, size_t n)
{
    if (text.n <= n)
        return text;
    while (n > 0 && ((unsigned char)text.at[n] & 0xC0) == 0x80)
        n--;
    return (struct strview){text.at, n};
}

void strview_shorten(struct strview text, char *out, size_t room)
{
    bool cut = text.n >= room;
    struct strview head = cut ? strview_clip(text, room - 4) : text;
    if (head.n > 0)
        memcpy(out, head.at, head.n);
    memcpy(out + head.n, cut ? "..." : "", cut ? sizeof "..." : 1);
}
