/* Rolling logs through every container, made by the libraries: one text, one digest. */
#include "ingest/bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "ingest/ingest.h"
#include "ingest/sniff.h"

struct file {
    const char *name;
    const char *text;
};

#define START                                                                                      \
    "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"app-1\","        \
    "\"Timestamp\":1000,\"User\":\"u\"}\n"
#define MIDDLE "{\"Event\":\"SparkListenerOther\"}"
#define END "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":61000}\n"

/* Out of order; the middle part has no line end. */
static const struct file files[] = {{"eventlog_v2_a/events_10_a", END},
                                    {"eventlog_v2_a/appstatus_a", ""},
                                    {"eventlog_v2_a/events_9_a", MIDDLE},
                                    {"eventlog_v2_a/events_8_a.compact", START}};
enum { FILES = sizeof files / sizeof *files };

struct outcome {
    struct run run;
    unsigned char digest[INGEST_DIGEST];
    struct arena arena;
    struct pv_error err;
    enum pv_code code;
};

static char folder[] = "/tmp/test_bundle_XXXXXX";

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_geq(sodium_init(), 0);
}

static void remove_folder(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

static const char *at(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_tar(const char *name, int format, const struct file *list, size_t n)
{
    struct archive *a = archive_write_new();
    cr_assert_eq(archive_write_set_format(a, format), ARCHIVE_OK);
    cr_assert_eq(archive_write_open_filename(a, at(name)), ARCHIVE_OK);
    for (size_t i = 0; i < n; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, list[i].name);
        archive_entry_set_size(entry, (la_int64_t)strlen(list[i].text));
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_mtime(entry, 1, 123456789); /* pax: a header of its own */
        cr_assert_geq(archive_write_header(a, entry), ARCHIVE_WARN);
        (void)archive_write_data(a, list[i].text, strlen(list[i].text));
        archive_entry_free(entry);
    }
    cr_assert_eq(archive_write_close(a), ARCHIVE_OK);
    (void)archive_write_free(a);
}

static void write_zip(const char *name)
{
    int error;
    zip_t *zip = zip_open(at(name), ZIP_CREATE | ZIP_TRUNCATE, &error);
    cr_assert_not_null(zip);
    for (size_t i = 0; i < FILES; i++) {
        zip_source_t *source = zip_source_buffer(zip, files[i].text, strlen(files[i].text), 0);
        cr_assert_geq(zip_file_add(zip, files[i].name, source, 0), 0);
    }
    cr_assert_eq(zip_close(zip), 0);
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *out = fopen(path, "wb");
    cr_assert_not_null(out);
    cr_assert_eq(fwrite(bytes, 1, n, out), n);
    cr_assert_eq(fclose(out), 0);
}

static struct ledger disk;
static struct ledger_share share = {.ledger = &disk};

static struct ingest_limits limits_with(struct spool_place *place)
{
    struct config config;
    struct ingest_limits limits;
    config_defaults(&config);
    ingest_limits_read(&config, &limits);
    if (place != NULL) {
        spool_place_init(place, &config, &share);
        place->directory = folder;
        limits.spool = place;
    }
    return limits;
}

static struct outcome read_path(const char *name)
{
    struct outcome outcome;
    struct ingest_limits limits = limits_with(NULL);
    memset(&outcome, 0, sizeof outcome);
    arena_init(&outcome.arena, 0);
    outcome.code = ingest_read_path(at(name), &limits, &outcome.arena, &outcome.run, outcome.digest,
                                    &outcome.err);
    return outcome;
}

/* As an upload: in pieces, then in turns of a single byte. */
static struct outcome upload(const char *name, size_t piece)
{
    struct outcome outcome;
    struct spool_place place;
    struct ingest_limits limits = limits_with(&place);
    memset(&outcome, 0, sizeof outcome);
    arena_init(&outcome.arena, 0);
    struct ingest *intake = ingest_create(&limits);
    char *bytes = malloc(piece);
    FILE *in = fopen(at(name), "rb");
    cr_assert(intake != NULL && bytes != NULL && in != NULL);
    size_t n;
    while (outcome.code == PV_OK && (n = fread(bytes, 1, piece, in)) > 0)
        outcome.code = ingest_feed(intake, bytes, n, &outcome.err);
    (void)fclose(in);
    free(bytes);
    cr_expect_eq(atomic_load(&share.used), ingest_counts(intake).bytes_sent);
    bool more = true;
    while (outcome.code == PV_OK && more)
        outcome.code = ingest_read(intake, 1, &more, &outcome.err);
    if (outcome.code == PV_OK)
        outcome.code =
            ingest_finish(intake, &outcome.arena, &outcome.run, outcome.digest, &outcome.err);
    ingest_destroy(intake);
    cr_expect_eq(atomic_load(&share.used), 0);
    return outcome;
}

static void expect_the_log(struct outcome outcome, const char *what)
{
    static const char text[] = START MIDDLE "\n" END;
    unsigned char want[INGEST_DIGEST];
    cr_assert_eq(outcome.code, PV_OK, "%s: %s", what, outcome.err.detail);
    (void)crypto_generichash(want, sizeof want, (const unsigned char *)text, sizeof text - 1, NULL,
                             0);
    cr_expect_arr_eq(outcome.digest, want, sizeof want, "%s", what);
    cr_expect_eq(outcome.run.duration_s, 60.0, "%s", what);
    cr_expect_eq(outcome.run.warnings.n, 0, "%s", what);
    arena_fini(&outcome.arena);
}

static void expect_refusal(struct outcome outcome, enum pv_code code, const char *word)
{
    cr_expect_eq(outcome.code, code, "%d %s", (int)outcome.code, outcome.err.detail);
    cr_expect_not_null(strstr(outcome.err.detail, word), "%s", outcome.err.detail);
    arena_fini(&outcome.arena);
}

TestSuite(bundle, .init = make_folder, .fini = remove_folder);

Test(bundle, every_tar_is_the_log)
{
    static const int formats[] = {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE,
                                  ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FORMAT_TAR};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        write_tar("x", formats[i], files, FILES);
        expect_the_log(read_path("x"), "tar by path");
        expect_the_log(upload("x", 1000), "tar uploaded");
        expect_the_log(upload("x", 1), "tar uploaded by the byte");
    }
}

Test(bundle, a_zip_is_the_log)
{
    write_zip("x");
    expect_the_log(read_path("x"), "zip by path");
    expect_the_log(upload("x", 1), "zip uploaded by the byte");
}

Test(bundle, a_folder_is_the_log)
{
    cr_assert_eq(mkdir(at("d"), 0700), 0);
    cr_assert_eq(mkdir(at("d/events_11_a"), 0700), 0); /* a folder is no part */
    for (size_t i = 0; i < FILES; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "d/%s", strrchr(files[i].name, '/') + 1);
        write_file(at(name), files[i].text, strlen(files[i].text));
    }
    expect_the_log(read_path("d"), "folder");
    cr_assert_eq(mkdir(at("empty"), 0700), 0);
    expect_refusal(read_path("empty"), PV_E_INVALID, "no event log");
    cr_assert_eq(mkfifo(at("pipe"), 0600), 0);
    expect_refusal(read_path("pipe"), PV_E_NOT_FOUND, "neither");
}

/* Longer than a header of version 7 holds: the name stands in a header before. */
Test(bundle, long_names_are_found_again)
{
    char name[300];
    memset(name, 'd', sizeof name);
    memcpy(name + 100, "/", 1);
    (void)snprintf(name + 200, 100, "/events_1_app");
    const struct file one[] = {{name, START MIDDLE "\n" END}};
    write_tar("x", ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, one, 1);
    expect_the_log(read_path("x"), "pax");
    write_tar("x", ARCHIVE_FORMAT_TAR_GNUTAR, one, 1);
    expect_the_log(read_path("x"), "gnu");
}

/* Cut anywhere, an archive is refused or, where only its empty end is gone, whole; never less. */
Test(bundle, a_cut_archive_is_never_half_read)
{
    static const char *const kinds[] = {"tar", "zip"};
    write_tar("tar", ARCHIVE_FORMAT_TAR_USTAR, files, FILES);
    write_zip("zip");
    for (size_t k = 0; k < 2; k++) {
        char bytes[16384];
        FILE *in = fopen(at(kinds[k]), "rb");
        size_t n = fread(bytes, 1, sizeof bytes, in);
        (void)fclose(in);
        cr_assert(n > 500 && n < sizeof bytes);
        for (size_t cut = 1; cut < n; cut += 37) {
            write_file(at("cut"), bytes, cut);
            struct outcome outcome = read_path("cut");
            if (outcome.code == PV_OK && outcome.run.warnings.n == 0)
                expect_the_log(outcome, "cut");
            else
                arena_fini(&outcome.arena);
        }
    }
}

static void expect_cut_part(const char *first, const char *later, const char *words)
{
    const struct file parts[] = {{"eventlog_v2_a/events_1_a", first},
                                 {"eventlog_v2_a/events_2_a", later}};
    write_tar("tar", ARCHIVE_FORMAT_TAR_USTAR, parts, 2);
    struct outcome outcome = read_path("tar");
    cr_assert_eq(outcome.code, PV_E_INVALID);
    cr_assert_eq(outcome.err.n_faults, 1);
    cr_expect_str_eq(outcome.err.faults[0].code, "truncated");
    cr_expect_not_null(strstr(outcome.err.faults[0].detail, words), "%s",
                       outcome.err.faults[0].detail);
    arena_fini(&outcome.arena);
}

/* The first part was sent, so the log is not a later part: the message names the file at fault. */
Test(bundle, a_first_part_that_is_cut_is_named)
{
    static const char job[] = "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission "
                              "Time\":1400,\"Stage IDs\":[0]}\n";
    expect_cut_part("{\"Event\":\"SparkListenerLogSta", job, "belongs in events_1_a");
    expect_cut_part("\x1f\x8b\x08", job, "the gzip stream of events_1_a ends in the middle");
    expect_cut_part("\x1f\x8b\x08", "", "the gzip stream ends in the middle");
}

Test(bundle, sparse_holes_count_as_what_they_expand_to)
{
    struct archive *a = archive_write_new();
    cr_assert_eq(archive_write_set_format_pax(a), ARCHIVE_OK);
    cr_assert_eq(archive_write_open_filename(a, at("x")), ARCHIVE_OK);
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, "log");
    archive_entry_set_size(entry, INT64_C(1) << 40);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_sparse_add_entry(entry, (INT64_C(1) << 40) - 4, 4);
    cr_assert_eq(archive_write_header(a, entry), ARCHIVE_OK);
    cr_assert_geq(archive_write_data(a, "end\n", 4), 0);
    archive_entry_free(entry);
    (void)archive_write_close(a);
    (void)archive_write_free(a);
    expect_refusal(read_path("x"), PV_E_LIMIT, "eventlog_ratio_max");
}

Test(bundle, without_a_spool_uploads_of_archives_are_refused)
{
    struct ingest_limits limits = limits_with(NULL);
    struct pv_error err = {0};
    struct ingest *intake = ingest_create(&limits);
    cr_assert_eq(ingest_feed(intake, "PK\x03\x04", 4, &err), PV_E_MEDIA_TYPE);
    ingest_destroy(intake);
}

Test(sniff, first_bytes_tell)
{
    unsigned char block[SNIFF_BYTES] = {0};
    cr_expect_eq(sniff(block, 0, false), SNIFF_MORE);
    cr_expect_eq(sniff(block, 0, true), SNIFF_LOG);
    cr_expect_eq(sniff(block, sizeof block, false), SNIFF_LOG);
    cr_expect_eq(sniff((const unsigned char *)"{", 1, false), SNIFF_LOG);
    cr_expect_eq(sniff((const unsigned char *)"PK\x03", 3, false), SNIFF_MORE);
    cr_expect_eq(sniff((const unsigned char *)"PK\x03", 3, true), SNIFF_LOG);
    cr_expect_eq(sniff((const unsigned char *)"PK\x03\x04", 4, false), SNIFF_ZIP);
    cr_expect_eq(sniff((const unsigned char *)"PK\x05\x06", 4, false), SNIFF_ZIP);
    cr_expect_eq(sniff((const unsigned char *)"PK\x01\x02", 4, false), SNIFF_MORE);
    cr_expect_eq(sniff((const unsigned char *)"\x1f\x8b", 2, true), SNIFF_LOG);
    /* Version 7: no magic, but a checksum: "a" alone and eight spaces. */
    block[0] = 'a';
    (void)snprintf((char *)block + 148, 8, "%06o", 'a' + 8U * ' ');
    cr_expect_eq(sniff(block, sizeof block, false), SNIFF_TAR);
    cr_expect_eq(sniff(block, sizeof block - 1, true), SNIFF_LOG);
    block[1] = 'b';
    cr_expect_eq(sniff(block, sizeof block, false), SNIFF_LOG);
    memcpy(block + 257, "ustar", 5);
    cr_expect_eq(sniff(block, sizeof block, false), SNIFF_TAR);
}
