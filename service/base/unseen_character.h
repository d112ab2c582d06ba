#ifndef BASE_UNSEEN_CHARACTER_H
#define BASE_UNSEEN_CHARACTER_H

#include "base/strview.h"

/* Bytes of the control character, line end or change of direction that a UTF-8 text begins with, and
 * its code point: C0, DEL, C1 (U+0085 ends a line), U+061C, U+200E, U+200F, U+2028 to U+202E (U+202E
 * reverses what follows) and U+2066 to U+2069. 0: the text begins with another character. */
static inline size_t unseen_character(struct strview text, unsigned *code)
{
    const unsigned char *at = (const unsigned char *)text.at;
    *code = text.n > 0 ? at[0] : ' ';
    if (*code < ' ' || *code == 0x7f)
        return 1;
    if (text.n >= 2 && (at[0] == 0xc2 || at[0] == 0xd8)) {
        *code = (at[0] & 0x1fU) << 6 | (at[1] & 0x3fU);
        return (at[0] == 0xc2 && at[1] < 0xa0) || *code == 0x61c ? 2 : 0;
    }
    if (text.n < 3 || at[0] != 0xe2)
        return 0;
    *code = (at[0] & 0xfU) << 12 | (at[1] & 0x3fU) << 6 | (at[2] & 0x3fU);
    return *code == 0x200e || *code == 0x200f || (*code >= 0x2028 && *code <= 0x202e) ||
                   (*code >= 0x2066 && *code <= 0x2069)
               ? 3
               : 0;
}

#endif
