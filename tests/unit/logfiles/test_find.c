/* What an import finds under a path: each thing once, in order, and why something is no log. */
#include "logfiles/find.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/provisor-find-XXXXXX";

static void put(const char *name, const char *bytes)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(bytes, file), 0);
    cr_assert_eq(fclose(file), 0);
}

static void folder(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    cr_assert_eq(mkdir(path, 0755), 0);
}

static void link_to(const char *target, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    cr_assert_eq(symlink(target, path), 0);
}

static void make_root(void)
{
    cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", root);
    cr_assert_eq(system(command), 0);
}
TestSuite(find, .init = make_root, .fini = remove_root, .timeout = 20);

/* "kind bytes name reason" of every item, one a line. */
static char *found(const char *below)
{
    static char text[4096];
    struct find find = {.items = NULL};
    struct pv_error err = {.code = PV_OK};
    char path[256];
    (void)snprintf(path, sizeof path, "%s%s", root, below);
    cr_assert_eq(find_add(&find, path, &err), PV_OK);
    text[0] = '\0';
    for (size_t i = 0; i < find.n; i++) {
        const struct find_item *item = &find.items[i];
        size_t n = strlen(text);
        (void)snprintf(text + n, sizeof text - n, "%c %zu %s %s\n", "lsu"[item->kind],
                       (size_t)item -> bytes, item -> path + strlen(root), item -> reason);
    }
    find_fini(&find);
    return text;
}

Test(find, files_come_in_the_order_of_names_folder_by_folder)
{
    folder("b");
    put("b/2", "xx");
    put("b/1", "x");
    put("a", "xxx");
    put("c", "xxxx");
    cr_assert_str_eq(found(""), "l 3 /a \nl 1 /b/1 \nl 2 /b/2 \nl 4 /c \n");
    cr_assert_str_eq(found("/a"), "l 3 /a \n");
}

Test(find, a_rolling_log_is_one_thing)
{
    folder("eventlog_v2_app");
    put("eventlog_v2_app/events_1_app", "one");
    put("eventlog_v2_app/events_2_app.zstd", "three");
    put("eventlog_v2_app/appstatus_app", "");
    folder("databricks");
    put("databricks/eventlog-2026-01-05--10-00.gz", "old");
    put("databricks/eventlog", "new");
    cr_assert_str_eq(found(""), "l 6 /databricks \nl 8 /eventlog_v2_app \n");
}

Test(find, what_is_no_log_is_told_with_the_reason)
{
    put(".job.jhist.crc", "x");
    put("job_1_conf.xml", "x");
    put("job_1.summary", "x");
    put("_SUCCESS", "");
    put("empty", "");
    char path[256];
    (void)snprintf(path, sizeof path, "%s/pipe", root);
    cr_assert_eq(mkfifo(path, 0644), 0);
    cr_assert_str_eq(found(""), "s 0 /.job.jhist.crc hidden\n"
                                "s 0 /_SUCCESS a companion of logs, not a log\n"
                                "s 0 /empty empty\n"
                                "s 0 /job_1.summary a companion of logs, not a log\n"
                                "s 0 /job_1_conf.xml a companion of logs, not a log\n"
                                "s 0 /pipe neither a file nor a folder\n");
    cr_assert_str_eq(found("/job_1.summary"), "l 1 /job_1.summary \n",
                     "what the caller names is looked into");
}

Test(find, links_are_followed_and_circles_end)
{
    folder("logs");
    put("logs/a", "x");
    link_to("..", "logs/up");
    link_to("loop", "loop");
    link_to("logs", "other");
    link_to("nowhere", "dangling");
    cr_assert_str_eq(found(""), "u 0 /dangling cannot be read: No such file or directory\n"
                                "l 1 /logs/a \n"
                                "s 0 /logs/up a folder that was seen already\n"
                                "s 0 /loop a link that leads in a circle\n"
                                "s 0 /other a folder that was seen already\n");
}

Test(find, what_is_not_there_is_unreadable)
{
    cr_assert_str_eq(found("/missing"), "u 0 /missing cannot be read: No such file or directory\n");
}

Test(find, many_folders_are_each_seen_once)
{
    for (int i = 0; i < 300; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "d%03d", i);
        folder(name);
        (void)snprintf(name, sizeof name, "d%03d/log", i);
        put(name, "x");
    }
    struct find find = {.items = NULL};
    cr_assert_eq(find_add(&find, root, NULL), PV_OK);
    cr_assert_eq(find_add(&find, root, NULL), PV_OK);
    cr_assert_eq(find.n, 301, "the second time only the root itself, as seen already");
    cr_assert_eq(find.bytes, 300);
    find_fini(&find);
}

Test(find, names_of_parts)
{
    char rolling[] = "events_12_app-1";
    char compact[] = "events_3_app.compact";
    char timed[] = "eventlog-2026-01-05--10-00";
    char *parts[] = {rolling, compact, timed};
    for (size_t i = 0; i < 3; i++)
        cr_expect(find_is_rolling(&parts[i], 1), "%s", parts[i]);
    char bare[] = "eventlog";
    char words[] = "events_of_the_day";
    char profiling[] = "eventlog-gpu-dsv2.zstd";
    char *others[] = {bare, words, profiling};
    cr_expect_not(find_is_rolling(others, 3));
}
