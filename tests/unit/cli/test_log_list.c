/* Which of the files that a source lists are one log, and what is no log. */
#include "cli/ingest/log_list.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/instant.h"
#include "cli/sources/source_internal.h"

struct listed {
    struct source source;
    const struct source_object *objects;
    size_t n;
    bool fails;
};

static bool list(struct source *source, source_found *found, void *context, struct failure *failure)
{
    const struct listed *listed = (const struct listed *)source;
    for (size_t i = 0; i < listed->n; i++)
        if (!found(context, &listed->objects[i]))
            return true;
    return !listed->fails || fail(failure, EXIT_FAILED, "the listing broke off");
}

static const struct source_kind kind = {.list = list};

#define OBJECT(in, called, length, known)                                                          \
    {                                                                                              \
        .name = "s3://b/" in "/" called, .folder = "s3://b/" in, .file = (called),                 \
        .bytes = (length), .identity = (known), .modified_us = 5                                   \
    }

static struct log_list group(const struct source_object objects[], size_t n)
{
    static struct listed listed;
    struct log_list logs;
    struct failure failure = {.status = EXIT_DONE};
    listed = (struct listed){{&kind}, objects, n, false};
    log_list_init(&logs);
    cr_assert(log_list_add_source(&logs, &listed.source, NULL, &failure), "%s", failure.what);
    return logs;
}

#define GROUP(objects) group((objects), sizeof(objects) / sizeof *(objects))

/* A folder of S3 is listed with what lies below it in between. */
Test(log_list, the_parts_of_a_folder_are_one_log)
{
    static const struct source_object objects[] = {
        OBJECT("logs", "app-1", 10, "a"),
        OBJECT("logs/v2", "appstatus_app-2", 0, "b"),
        OBJECT("logs/v2", "events_10_app-2.zstd", 30, "c"),
        OBJECT("logs", "app-3.inprogress", 7, "d"),
        OBJECT("logs/v2", "events_2_app-2.zstd", 20, "e"),
    };
    struct log_list logs = GROUP(objects);
    cr_assert_eq(logs.n, 3);
    cr_expect_str_eq(logs.items[0].name, "s3://b/logs/app-1");
    cr_expect_str_eq(logs.items[0].identity, "a");
    const struct ingest_log *rolling = &logs.items[2];
    cr_expect_str_eq(rolling->name, "s3://b/logs/v2");
    cr_expect(rolling->rolling && rolling->finished && !rolling->unfinished);
    cr_assert_eq(rolling->n_parts, 2, "the mark without bytes is no part");
    cr_expect_eq(rolling->bytes, 50);
    log_list_fini(&logs);
}

Test(log_list, a_rolling_log_is_another_when_a_part_is)
{
    static const struct source_object first[] = {OBJECT("v2", "events_1_a", 1, "x"),
                                                 OBJECT("v2", "events_2_a", 1, "y")};
    static const struct source_object grown[] = {OBJECT("v2", "events_1_a", 1, "x"),
                                                 OBJECT("v2", "events_2_a", 1, "z")};
    static const struct source_object longer[] = {OBJECT("v2", "events_1_a", 1, "x"),
                                                  OBJECT("v2", "events_2_a", 1, "y"),
                                                  OBJECT("v2", "events_3_a", 1, "y")};
    static const struct source_object unknown[] = {OBJECT("v2", "events_1_a", 1, "")};
    struct log_list a = GROUP(first);
    struct log_list again = GROUP(first);
    struct log_list b = GROUP(grown);
    struct log_list c = GROUP(longer);
    struct log_list d = GROUP(unknown);
    cr_expect_str_eq(a.items[0].identity, again.items[0].identity);
    cr_expect_str_neq(a.items[0].identity, b.items[0].identity);
    cr_expect_str_neq(a.items[0].identity, c.items[0].identity);
    cr_expect_str_eq(d.items[0].identity, "", "what is unknown of a part is unknown of the log");
    log_list_fini(&a);
    log_list_fini(&again);
    log_list_fini(&b);
    log_list_fini(&c);
    log_list_fini(&d);
}

Test(log_list, a_rolling_log_is_unfinished_as_its_mark_or_a_part_says)
{
    static const struct source_object marked[] = {OBJECT("v2", "appstatus_a.inprogress", 0, "m"),
                                                  OBJECT("v2", "events_1_a", 1, "x")};
    static const struct source_object silent[] = {OBJECT("v2", "events_1_a", 1, "x")};
    struct log_list logs = GROUP(marked);
    cr_expect(logs.items[0].unfinished && !logs.items[0].finished);
    log_list_fini(&logs);
    logs = GROUP(silent);
    cr_expect(!logs.items[0].unfinished && !logs.items[0].finished);
    log_list_fini(&logs);
}

Test(log_list, what_is_no_log_says_why)
{
    static const struct source_object objects[] = {
        OBJECT("l", ".crc", 1, "a"), OBJECT("l", "_SUCCESS", 1, "b"), OBJECT("l", "empty", 0, "c")};
    struct log_list logs = GROUP(objects);
    cr_assert_eq(logs.n, 3);
    for (size_t i = 0; i < logs.n; i++) {
        cr_expect_eq(logs.items[i].kind, FIND_SKIPPED);
        cr_expect_neq(logs.items[i].reason[0], '\0');
    }
    log_list_fini(&logs);
}

Test(log_list, what_was_listed_before_it_broke_off_is_kept)
{
    static const struct source_object objects[] = {OBJECT("l", "log", 1, "a")};
    struct listed listed = {{&kind}, objects, 1, true};
    struct log_list logs;
    struct failure failure = {.status = EXIT_DONE};
    log_list_init(&logs);
    cr_expect_not(log_list_add_source(&logs, &listed.source, NULL, &failure));
    cr_expect_str_eq(failure.what, "the listing broke off");
    cr_expect_eq(logs.n, 1);
    log_list_fini(&logs);
}
