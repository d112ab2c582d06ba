/* What was sent already: kept through crashes, by one process at a time, in a file that does not grow without end. */
#include "cli/ingest/journal.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char file[128];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/provisor-journal-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(file, sizeof file, "%s/state/of/it", folder);
}

static void remove_folder(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0); /* NOLINT(cert-env33-c) */
}

TestSuite(journal, .init = make_folder, .fini = remove_folder, .timeout = 30);

static struct journal *open_it(const char *about)
{
    struct journal *journal = NULL;
    struct failure failure = {.status = EXIT_DONE};
    cr_assert(journal_open(file, about, &journal, &failure), "%s", failure.what);
    return journal;
}

static void add(struct journal *journal, const char *name, const char *identity)
{
    struct failure failure = {.status = EXIT_DONE};
    cr_assert(journal_add(journal, name, identity, "stored", "run-1", &failure), "%s",
              failure.what);
}

static void append(const char *text, size_t n)
{
    FILE *out = fopen(file, "ae");
    cr_assert_not_null(out);
    cr_assert_eq(fwrite(text, 1, n, out), n);
    cr_assert_eq(fclose(out), 0);
}

static off_t size(void)
{
    struct stat status;
    cr_assert_eq(stat(file, &status), 0);
    return status.st_size;
}

Test(journal, what_was_added_is_there_when_it_is_opened_again)
{
    struct journal *journal = open_it("http://service");
    add(journal, "s3://b/a\tb\n%41", "etag \"1\"");
    add(journal, "other", "2");
    cr_expect(journal_has(journal, "other", "2"));
    cr_expect_not(journal_has(journal, "other", "3"));
    journal_close(journal);
    journal = open_it("http://service");
    cr_expect(journal_has(journal, "s3://b/a\tb\n%41", "etag \"1\""));
    cr_expect_not(journal_has(journal, "s3://b/a\tb\nA", "etag \"1\""));
    cr_expect_eq(journal_lines(journal), 2);
    journal_close(journal);
}

Test(journal, of_a_log_that_changed_the_last_line_counts)
{
    struct journal *journal = open_it("x");
    add(journal, "log", "1");
    add(journal, "log", "2");
    journal_close(journal);
    journal = open_it("x");
    cr_expect(journal_has(journal, "log", "2"));
    cr_expect_not(journal_has(journal, "log", "1"));
    journal_close(journal);
}

Test(journal, an_unknown_identity_is_never_there)
{
    struct journal *journal = open_it("x");
    add(journal, "log", "");
    cr_expect_not(journal_has(journal, "log", ""));
    journal_close(journal);
}

Test(journal, what_is_remembered_ends_with_the_process)
{
    struct journal *journal = open_it("x");
    cr_assert(journal_remember(journal, "log", "1"));
    cr_expect(journal_has(journal, "log", "1"));
    journal_close(journal);
    journal = open_it("x");
    cr_expect_not(journal_has(journal, "log", "1"));
    journal_close(journal);
}

/* Wherever a crash cuts the file, what is whole stays and what is added later is a line of its own. */
Test(journal, a_torn_end_is_dropped)
{
    struct journal *journal = open_it("x");
    add(journal, "first", "1");
    off_t whole = size();
    add(journal, "second", "2");
    off_t all = size();
    journal_close(journal);
    for (off_t cut = whole; cut < all; cut++) {
        cr_assert_eq(truncate(file, cut), 0);
        journal = open_it("x");
        cr_expect(journal_has(journal, "first", "1"));
        cr_expect_not(journal_has(journal, "second", "2"));
        cr_expect_eq(size(), whole);
        add(journal, "second", "2");
        journal_close(journal);
        journal = open_it("x");
        cr_assert(journal_has(journal, "first", "1") && journal_has(journal, "second", "2"));
        cr_assert_eq(size(), all);
        journal_close(journal);
    }
}

Test(journal, a_torn_heading_is_written_again)
{
    journal_close(open_it("http://service"));
    off_t whole = size();
    for (off_t cut = 0; cut < whole; cut++) {
        cr_assert_eq(truncate(file, cut), 0);
        journal_close(open_it("http://service"));
        cr_assert_eq(size(), whole);
    }
}

/* A file system may have made the file longer before it had the bytes. */
Test(journal, lines_that_cannot_be_read_are_passed_over)
{
    struct journal *journal = open_it("x");
    add(journal, "first", "1");
    journal_close(journal);
    append("\0\0\0\0\n", 5);
    append("no fields\n", 10);
    append("a\tb%4\tstored\t\n", 14);
    journal = open_it("x");
    add(journal, "second", "2");
    journal_close(journal);
    journal = open_it("x");
    cr_expect(journal_has(journal, "first", "1") && journal_has(journal, "second", "2"));
    journal_close(journal);
}

Test(journal, two_do_not_share_it)
{
    struct journal *second = NULL;
    struct failure failure = {.status = EXIT_DONE};
    struct journal *first = open_it("x");
    cr_assert_not(journal_open(file, "x", &second, &failure));
    cr_expect_not_null(strstr(failure.what, "another `provisor ingest`"), "%s", failure.what);
    journal_close(first);
    journal_close(open_it("x"));
}

Test(journal, that_of_another_service_is_refused)
{
    struct journal *journal = NULL;
    struct failure failure = {.status = EXIT_DONE};
    journal_close(open_it("http://one"));
    cr_assert_not(journal_open(file, "http://two", &journal, &failure));
    cr_expect_not_null(strstr(failure.what, "http://one"), "%s", failure.what);
}

Test(journal, another_file_is_left_alone)
{
    static const char text[] = "precious, and without an end of the line";
    struct journal *journal = NULL;
    journal_close(open_it("x"));
    for (int line = 0; line < 2; line++) {
        struct failure failure = {.status = EXIT_DONE};
        cr_assert_eq(truncate(file, 0), 0);
        for (int i = 0; i < 5; i++)
            append(text, strlen(text));
        if (line == 1)
            append("\n", 1);
        off_t before = size();
        cr_assert_not(journal_open(file, "x", &journal, &failure));
        cr_expect_not_null(strstr(failure.what, "not a journal"), "%s", failure.what);
        cr_expect_eq(size(), before);
    }
    struct failure failure = {.status = EXIT_DONE};
    cr_assert_not(journal_open("/dev/full", "x", &journal, &failure));
    cr_expect_not_null(strstr(failure.what, "not a regular file"), "%s", failure.what);
}

Test(journal, it_is_written_anew_when_most_lines_do_not_count)
{
    char identity[32];
    struct journal *journal = open_it("x");
    add(journal, "stays", "1");
    cr_assert(journal_remember(journal, "in memory", "1"));
    size_t most = 0;
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(identity, sizeof identity, "%d", i);
        add(journal, "changes", identity);
        most = journal_lines(journal) > most ? journal_lines(journal) : most;
    }
    cr_expect_leq(most, 1000);
    cr_expect(journal_has(journal, "in memory", "1"));
    journal_close(journal);
    journal = open_it("x");
    cr_expect(journal_has(journal, "stays", "1"));
    cr_expect(journal_has(journal, "changes", "4999"));
    cr_expect_not(journal_has(journal, "in memory", "1"));
    cr_expect_lt(journal_lines(journal), 1000);
    struct journal *second = NULL;
    cr_expect_not(journal_open(file, "x", &second, NULL), "the new file is locked, too");
    journal_close(journal);
}

/* Many logs with a line each are no reason to write it anew. */
Test(journal, what_counts_is_kept_however_much_it_is)
{
    char name[32];
    struct journal *journal = open_it("x");
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof name, "log-%d", i);
        add(journal, name, "1");
    }
    cr_expect_eq(journal_lines(journal), 3000);
    journal_close(journal);
    journal = open_it("x");
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof name, "log-%d", i);
        cr_assert(journal_has(journal, name, "1"));
    }
    journal_close(journal);
}
