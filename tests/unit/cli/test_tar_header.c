/* Headers of archives, read back by libarchive. */
#include "cli/ingest/tar_header.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

TestSuite(tar_header, .timeout = 20);

static char bytes[TAR_HEADER_MAX + 2 * TAR_BLOCK];

static void check(const char *name, int64_t length, int64_t mtime_s)
{
    size_t n = 0;
    struct archive_entry *entry;
    memset(bytes, 0, sizeof bytes);
    cr_assert(tar_header_write(name, length, mtime_s, bytes, &n));
    cr_assert_eq(n % TAR_BLOCK, 0);
    struct archive *archive = archive_read_new();
    cr_assert_eq(archive_read_support_format_tar(archive), ARCHIVE_OK);
    cr_assert_eq(archive_read_open_memory(archive, bytes, n), ARCHIVE_OK);
    cr_assert_eq(archive_read_next_header(archive, &entry), ARCHIVE_OK, "%s",
                 archive_error_string(archive));
    cr_expect_str_eq(archive_entry_pathname(entry), name);
    cr_expect_eq(archive_entry_size(entry), length);
    cr_expect_eq(archive_entry_mtime(entry), mtime_s);
    cr_expect_eq(archive_entry_filetype(entry), AE_IFREG);
    (void)archive_read_free(archive);
}

/* Past 100 bytes a record holds the name, whose length counts its own digits. */
Test(tar_header, names_of_every_length)
{
    char name[1200];
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    for (size_t n = 1; n < sizeof name; n++) {
        memset(name, 'x', n);
        name[n] = '\0';
        check(name, (int64_t)n, 1767607200);
    }
    check("n\xc3\xb6t_ascii", 5, 0);
}

Test(tar_header, lengths_beyond_the_octal_digits)
{
    static const int64_t lengths[] = {0, 511, INT64_C(077777777777), INT64_C(0100000000000),
                                      INT64_C(20) << 40};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        check("events_1_app", lengths[i], 0);
}

Test(tar_header, names_that_are_none)
{
    static char name[TAR_HEADER_MAX];
    size_t n;
    cr_expect_not(tar_header_write("", 1, 0, bytes, &n));
    memset(name, 'x', sizeof name - 1);
    cr_expect_not(tar_header_write(name, 1, 0, bytes, &n));
}
