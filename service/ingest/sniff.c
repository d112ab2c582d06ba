#include "ingest/sniff.h"

#include <string.h>

static bool sniff_begins(const unsigned char *head, size_t n, const char magic[4])
{
    return memcmp(head, magic, n < 4 ? n : 4) == 0;
}

/* The header's checksum: an octal number, spaces or zeros before it, a NUL or space behind. */
static bool parse_octal(const unsigned char *text, size_t n, unsigned long *value)
{
    size_t i = 0;
    while (i < n && text[i] == ' ')
        i++;
    size_t first = i;
    for (*value = 0; i < n && text[i] >= '0' && text[i] <= '7'; i++)
        *value = *value * 8 + (unsigned long)(text[i] - '0');
    return i > first && (i == n || text[i] == '\0' || text[i] == ' ');
}

/*
 * The sum over the block, its own field taken as spaces, is the one thing that all tars share:
 * those of Unix version 7 have no magic. Some old programs summed signed characters.
 */
static bool checksum_agrees(const unsigned char *head)
{
    enum { AT = 148, LENGTH = 8 };
    unsigned long want;
    if (!parse_octal(head + AT, LENGTH, &want))
        return false;
    long as_unsigned = 0;
    long as_signed = 0;
    for (size_t i = 0; i < SNIFF_BYTES; i++) {
        unsigned char c = i >= AT && i < AT + LENGTH ? ' ' : head[i];
        as_unsigned += c;
        as_signed += c < 128 ? c : c - 256;
    }
    return (long)want == as_unsigned || (long)want == as_signed;
}

enum sniffed sniff(const unsigned char *head, size_t n, bool at_end)
{
    static const size_t ustar_at = 257;
    if (n == 0)
        return at_end ? SNIFF_LOG : SNIFF_MORE;
    if (sniff_begins(head, n, "PK\x03\x04") || sniff_begins(head, n, "PK\x05\x06"))
        return n >= 4 ? SNIFF_ZIP : at_end ? SNIFF_LOG : SNIFF_MORE;
    /* Most logs are plain: no need to hold them back. */
    if (head[0] == '{')
        return SNIFF_LOG;
    if (n < SNIFF_BYTES && !at_end)
        return SNIFF_MORE;
    /* A tar that is cut within its first header, too. */
    bool has_magic = n >= ustar_at + 5 && memcmp(head + ustar_at, "ustar", 5) == 0;
    bool is_tar = head[0] != '\0' && (has_magic || (n == SNIFF_BYTES && checksum_agrees(head)));
    return is_tar ? SNIFF_TAR : SNIFF_LOG;
}
