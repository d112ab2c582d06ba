#include "cli/ingest/tar_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Fields of a header, where they stand and how long they are (POSIX.1, pax, "ustar Interchange Format"). */
enum {
    NAME = 0,
    NAME_N = 100,
    MODE = 100,
    UID = 108,
    GID = 116,
    SIZE = 124,
    MTIME = 136,
    CHECKSUM = 148,
    TYPE = 156,
    MAGIC = 257
};

static const char magic[] = {'u', 's', 't', 'a', 'r', '\0', '0', '0'};

/* What 11 octal digits hold. */
static const int64_t octal_max = INT64_C(077777777777);

static int64_t within_octal(int64_t value)
{
    return value < 0 ? 0 : value > octal_max ? octal_max : value;
}

static void
write_block(const char *name, int64_t bytes, int64_t mtime_s, char type, char block[TAR_BLOCK])
{
    memset(block, 0, TAR_BLOCK);
    memcpy(block + NAME, name, strnlen(name, NAME_N)); /* full: without a NUL */
    (void)snprintf(block + MODE, 8, "%07o", 0644U);
    (void)snprintf(block + UID, 8, "%07o", 0U);
    (void)snprintf(block + GID, 8, "%07o", 0U);
    (void)snprintf(block + SIZE, 12, "%011" PRIo64, (uint64_t)within_octal(bytes));
    (void)snprintf(block + MTIME, 12, "%011" PRIo64, (uint64_t)within_octal(mtime_s));
    block[TYPE] = type;
    memcpy(block + MAGIC, magic, sizeof magic);
    /* The sum of all bytes, its own field counted as blanks. */
    unsigned sum = 0;
    memset(block + CHECKSUM, ' ', 8);
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)block[i];
    (void)snprintf(block + CHECKSUM, 7, "%06o", sum);
}

/* "LENGTH KEY=VALUE\n", where the length counts its own digits. */
static size_t write_record(const char *key, const char *value, char *out, size_t room)
{
    size_t rest = strlen(key) + strlen(value) + 3;
    size_t length = rest + 1;
    char digits[24];
    while ((size_t)snprintf(digits, sizeof digits, "%zu", length) + rest != length)
        length++;
    int n = snprintf(out, room, "%zu %s=%s\n", length, key, value);
    return n < 0 || (size_t)n >= room ? 0 : (size_t)n;
}

/* What does not fit the ustar header; 0: all of it fits, *good false: too much. */
static size_t write_records(const char *name, int64_t bytes, char *out, size_t room, bool *good)
{
    char number[24];
    size_t n = 0;
    *good = true;
    if (strlen(name) > NAME_N) {
        n += write_record("path", name, out, room);
        *good = n > 0;
    }
    if (*good && bytes > octal_max) {
        (void)snprintf(number, sizeof number, "%" PRId64, bytes);
        size_t more = write_record("size", number, out + n, room - n);
        *good = more > 0;
        n += more;
    }
    return n;
}

bool tar_header_write(
    const char *name, int64_t bytes, int64_t mtime_s, char out[TAR_HEADER_MAX], size_t *n)
{
    /* Between the block of the pax header and that of the file. */
    enum { RECORDS_MAX = TAR_HEADER_MAX - 3 * TAR_BLOCK };
    bool good;
    *n = 0;
    if (name[0] == '\0')
        return false;
    memset(out, 0, TAR_HEADER_MAX);
    size_t records = write_records(name, bytes, out + TAR_BLOCK, RECORDS_MAX, &good);
    if (!good)
        return false;
    if (records > 0) {
        write_block("pax-header", (int64_t)records, mtime_s, 'x', out);
        *n = TAR_BLOCK + (records + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    }
    write_block(name, bytes, mtime_s, '0', out + *n);
    *n += TAR_BLOCK;
    return true;
}
