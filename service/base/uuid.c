#include "base/uuid.h"

#include <stddef.h>

static const char hex[] = "0123456789abcdef";

void uuid7_format(uint64_t unix_ms, const uint8_t random[10], char out[37])
{
    uint8_t b[16];
    for (size_t i = 0; i < 6; i++)
        b[i] = (uint8_t)(unix_ms >> (40 - 8 * i));
    for (size_t i = 0; i < 10; i++)
        b[6 + i] = random[i];
    b[6] = (uint8_t)(0x70 | (b[6] & 0x0f));
    b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
    size_t at = 0;
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        out[at++] = hex[b[i] >> 4];
        out[at++] = hex[b[i] & 0x0f];
    }
    out[at] = '\0';
}

bool uuid_parse(const char *text, char out[37])
{
    char parsed[37];
    for (size_t i = 0; i < 36; i++) {
        char c = text[i];
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (dash ? c != '-' : !digit)
            return false;
        parsed[i] = c;
    }
    if (text[36] != '\0')
        return false;
    parsed[36] = '\0';
    for (size_t i = 0; i < sizeof parsed; i++)
        out[i] = parsed[i];
    return true;
}
