/* Which files are a log, and in which order, told by names alone. */
#include "ingest/members.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Names in, one log's names out, joined by spaces; or the words of the refusal. */
static void arrange(const char *const names[], char *out, size_t size)
{
    struct members members;
    struct pv_error err = {0};
    const struct member_log *log = NULL;
    enum pv_code code = PV_OK;
    members_init(&members, 100, 200, NULL);
    for (size_t i = 0; code == PV_OK && names[i] != NULL; i++)
        code = members_add(&members, names[i], i, &err);
    if (code == PV_OK)
        code = members_arrange(&members, &err);
    if (code == PV_OK)
        code = members_one_log(&members, &log, &err);
    size_t n = 0;
    out[0] = '\0';
    if (code != PV_OK)
        (void)snprintf(out, size, "%s", err.detail);
    for (size_t i = 0; code == PV_OK && i < log->n; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i == 0 ? "" : " ", log->members[i].name);
    if (code == PV_OK && log->missing > 0)
        (void)snprintf(out + n, size - n, " -%llu", (unsigned long long)log->missing);
    members_fini(&members);
}

#define EXPECT(want, ...)                                                                          \
    do {                                                                                           \
        const char *const names[] = {__VA_ARGS__, NULL};                                           \
        char got[512];                                                                             \
        arrange(names, got, sizeof got);                                                           \
        cr_expect_str_eq(got, want, "%s", got);                                                    \
    } while (0)

#define EXPECT_WORD(word, ...)                                                                     \
    do {                                                                                           \
        const char *const names[] = {__VA_ARGS__, NULL};                                           \
        char got[512];                                                                             \
        arrange(names, got, sizeof got);                                                           \
        cr_expect_not_null(strstr(got, word), "%s", got);                                          \
    } while (0)

Test(members, rolling_parts_stand_in_numeric_order)
{
    EXPECT("d/events_1_a d/events_2_a.zstd d/events_10_a -7", "d/events_10_a", "d/appstatus_a",
           "d/events_2_a.zstd", "d/events_1_a");
    EXPECT("./events_9_app_1_2 events_10_app_1_2 -8", "events_10_app_1_2", "./events_9_app_1_2",
           "events_9_app_1_2.x/appstatus_z");
}

Test(members, missing_parts_are_counted)
{
    EXPECT("events_1_a events_4_a -2", "events_1_a", "events_4_a");
    EXPECT("events_3_a events_4_a -2", "events_3_a", "events_4_a");
    EXPECT("events_3_a.compact events_5_a -1", "events_3_a.compact", "events_5_a");
    EXPECT("events_0_a events_1_a", "events_0_a", "events_1_a");
}

Test(members, the_last_compacted_part_stands_for_those_up_to_it)
{
    EXPECT("events_3_a.lz4.compact events_4_a.lz4", "events_4_a.lz4", "events_3_a.lz4",
           "events_2_a.lz4", "events_3_a.lz4.compact", "events_1_a.compact");
    EXPECT("events_12_a.compact.zstd.compact", "events_2_a", "events_12_a.compact.zstd.compact");
}

Test(members, times_stand_in_order_and_the_open_one_last)
{
    EXPECT("eventlog-2020-12-31--23-59.gz eventlog-2021-01-01--00-00 eventlog", "eventlog",
           "eventlog-2021-01-01--00-00", "eventlog-2020-12-31--23-59.gz");
    EXPECT("eventlog-2021-1-01--00-00", "eventlog-2021-1-01--00-00"); /* a name like any other */
}

Test(members, other_names_are_single_logs)
{
    EXPECT("x/app-1.zstd.inprogress", "x/app-1.zstd.inprogress", "x/.hidden", "x/._app-1",
           "x/appstatus_app-1.inprogress");
    EXPECT("events_a_1", "events_a_1");
    EXPECT("events_1234567890123456789_a", "events_1234567890123456789_a");
}

Test(members, several_logs_are_named)
{
    EXPECT_WORD("2 logs", "a/events_1_x", "a/events_1_y");
    EXPECT_WORD("2 logs", "a/events_1_x", "b/events_1_x");
    EXPECT_WORD("3 logs", "app-1", "app-2", "app-3");
    EXPECT_WORD("\"eventlog\", \"other\"", "eventlog", "other");
    EXPECT_WORD("no event log", "appstatus_a", ".x");
}

Test(members, of_one_path_the_later_counts_and_of_two_none)
{
    const char *const twice[] = {"events_1_a", "events_2_a", "events_1_a", NULL};
    struct members members;
    members_init(&members, 3, 200, NULL);
    for (size_t i = 0; twice[i] != NULL; i++)
        cr_assert_eq(members_add(&members, twice[i], i, NULL), PV_OK);
    cr_assert_eq(members_add(&members, "x", 3, NULL), PV_E_LIMIT);
    cr_assert_eq(members_arrange(&members, NULL), PV_OK);
    cr_assert_eq(members.n_logs, 1);
    cr_assert_eq(members.logs[0].n, 2);
    cr_assert_eq(members.logs[0].members[0].where, 2);
    members_fini(&members);
    EXPECT_WORD("same part", "events_1_a", "events_1_a.gz");
    EXPECT_WORD("same part", "eventlog-2021-01-01--00-00", "eventlog-2021-01-01--00-00.gz");
}

Test(members, limits_name_their_settings)
{
    char name[202];
    memset(name, 'n', 201);
    name[201] = '\0';
    EXPECT_WORD("archive_name_bytes_max", name);
    /* What stands in a message is short and printable. */
    char shown[MEMBERS_SHOWN];
    members_show((struct strview){name, 201}, shown);
    cr_assert_eq(strlen(shown), MEMBERS_SHOWN - 1);
    members_show(strview_of("a\n\xc3\xa4"), shown);
    cr_assert_str_eq(shown, "a???");
}
