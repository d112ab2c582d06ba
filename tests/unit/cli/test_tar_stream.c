/* The archive of a rolling log, read back by libarchive; its length; parts that turn out other than announced. */
#include "cli/ingest/tar_stream.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "cli/sources/source_internal.h"

/* Bytes of a part: as many as its identity says in letters of its file's name. */
struct stream {
    struct source_stream stream;
    const struct source_object *object;
    size_t at;
};

static size_t open_streams;

static bool read_open(struct source *source,
                      const struct source_object *object,
                      struct source_stream **stream,
                      struct failure *failure)
{
    struct stream *made = calloc(1, sizeof *made);
    (void)failure;
    cr_assert_not_null(made);
    made->stream.kind = source->kind;
    made->object = object;
    *stream = &made->stream;
    open_streams++;
    return true;
}

static bool
read_some(struct source_stream *stream, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    struct stream *of = (struct stream *)stream;
    size_t all = strtoul(of->object->identity, NULL, 10);
    size_t m = all - of->at < n ? all - of->at : n;
    (void)failure;
    m = m < 1000 ? m : 1000;
    memset(bytes, of->object->file[0], m);
    of->at += m;
    *got = m;
    return true;
}

static void read_close(struct source_stream *stream)
{
    free(stream);
    open_streams--;
}

static const struct source_kind kind = {
    .read_open = read_open, .read = read_some, .read_close = read_close};
static struct source source = {&kind};

static char *read_all(const struct ingest_log *log, size_t step, size_t *n, struct failure *failure)
{
    static struct tar_stream tar;
    static char all[64 << 20];
    size_t got = 1;
    *n = 0;
    tar_stream_begin(&tar, log);
    bool good = true;
    while (good && got > 0) {
        cr_assert_leq(*n + step, sizeof all);
        good = tar_stream_read(&tar, all + *n, step, &got, failure);
        *n += good ? got : 0;
    }
    tar_stream_end(&tar);
    cr_expect_eq(open_streams, 0);
    return good ? all : NULL;
}

static void
check_entry(struct archive *archive, struct archive_entry *entry, const struct source_object *part)
{
    static char bytes[1 << 20];
    char letter = part->file[0];
    cr_expect_str_eq(archive_entry_pathname(entry), part->file);
    cr_expect_eq(archive_entry_size(entry), part->bytes);
    int64_t sum = 0;
    la_ssize_t n;
    while ((n = archive_read_data(archive, bytes, sizeof bytes)) > 0) {
        for (la_ssize_t i = 0; i < n; i++)
            cr_assert_eq(bytes[i], letter);
        sum += n;
    }
    cr_expect_eq(n, 0);
    cr_expect_eq(sum, part->bytes);
}

static char long_name[250];
static struct source_object parts[] = {
    {.file = "events_1_a", .identity = "1", .bytes = 1, .modified_us = 1767607200000000},
    {.file = "events_2_a", .identity = "511", .bytes = 511, .modified_us = INSTANT_UNKNOWN},
    {.file = "fvents_3_a", .identity = "512", .bytes = 512, .modified_us = 0},
    {.file = "gvents_4_a", .identity = "300000", .bytes = 300000, .modified_us = -1},
    {.file = long_name, .identity = "7", .bytes = 7, .modified_us = 5},
    {.file = "n\xc3\xb6t_ascii", .identity = "7", .bytes = 7, .modified_us = 5},
};
static struct ingest_log whole = {
    .source = &source, .parts = parts, .n_parts = sizeof parts / sizeof *parts};

Test(tar_stream, it_is_an_archive_of_the_length_that_was_announced)
{
    static const size_t steps[] = {1, 7, 512, 524288};
    memset(long_name, 'x', sizeof long_name - 1);
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* as the program does */
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        int64_t announced = 0;
        size_t n = 0;
        struct archive_entry *entry;
        struct failure failure = {.status = EXIT_DONE};
        cr_assert(tar_stream_bytes(&whole, &announced, &failure));
        char *bytes = read_all(&whole, steps[s], &n, &failure);
        cr_assert_not_null(bytes, "%s", failure.what);
        cr_assert_eq((int64_t)n, announced);
        cr_expect_eq(n % 512, 0);
        struct archive *archive = archive_read_new();
        cr_assert_eq(archive_read_support_format_tar(archive), ARCHIVE_OK);
        cr_assert_eq(archive_read_open_memory(archive, bytes, n), ARCHIVE_OK);
        for (size_t i = 0; i < whole.n_parts; i++) {
            cr_assert_leq(archive_read_next_header(archive, &entry), ARCHIVE_OK);
            check_entry(archive, entry, &parts[i]);
        }
        cr_expect_eq(archive_read_next_header(archive, &entry), ARCHIVE_EOF);
        cr_assert_eq(archive_read_free(archive), ARCHIVE_OK);
    }
}

/* Parts of more than 8 GiB do not fit into the numbers of the oldest headers. */
Test(tar_stream, lengths_of_large_parts_are_known_without_reading_them)
{
    struct source_object part = {.file = "events_1_a", .identity = "", .modified_us = 0};
    struct ingest_log log = {.source = &source, .parts = &part, .n_parts = 1};
    int64_t bytes = 0;
    part.bytes = INT64_C(20) << 30;
    cr_assert(tar_stream_bytes(&log, &bytes, NULL));
    cr_expect_geq(bytes, part.bytes + 512 + 1024);
    cr_expect_leq(bytes, part.bytes + 4096);
    part.bytes = -1;
    cr_expect_not(tar_stream_bytes(&log, &bytes, NULL));
}

Test(tar_stream, a_part_of_another_length_fails_before_its_end_is_sent)
{
    struct source_object part = {.file = "events_1_a", .bytes = 2000, .modified_us = 0};
    struct ingest_log log = {.source = &source, .parts = &part, .n_parts = 1};
    static const char *const lengths[] = {"1999", "2001", "0"};
    for (size_t i = 0; i < 3; i++) {
        struct failure failure = {.status = EXIT_DONE};
        size_t n = 0;
        part.identity = lengths[i];
        part.unfinished = false;
        cr_expect_null(read_all(&log, 4096, &n, &failure));
        cr_expect_lt(n, 512 + 2000);
        cr_expect_not_null(strstr(failure.what, "changed while it was read"), "%s", failure.what);
    }
    size_t n = 0;
    part.identity = "2001";
    part.unfinished = true;
    cr_expect_not_null(read_all(&log, 4096, &n, NULL), "what grows is read as far as it was");
}
