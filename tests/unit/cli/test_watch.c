/* Folders that are watched: what comes is told by its path, below folders that came later, too. */
#include "cli/ingest/watch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static atomic_bool stop;

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/provisor-watch-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0); /* NOLINT(cert-env33-c) */
}

TestSuite(watch, .init = make_folder, .fini = remove_folder, .timeout = 30);

static const char *at(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name)
{
    FILE *out = fopen(at(name), "we");
    cr_assert_not_null(out);
    cr_assert_eq(fputs("x", out) >= 0, true);
    cr_assert_eq(fclose(out), 0);
}

static const struct watch_path *told(const struct watch_paths *paths, const char *name)
{
    for (size_t i = 0; i < paths->n; i++)
        if (strcmp(paths->items[i].path, at(name)) == 0)
            return &paths->items[i];
    return NULL;
}

Test(watch, files_folders_and_parts_of_rolling_logs)
{
    struct watch_paths paths = {.items = NULL};
    struct watch *watch = watch_open();
    cr_assert_eq(mkdir(at("below"), 0700), 0);
    put("below.tmp");
    watch_add(watch, folder);
    put("log");
    put("below/log");
    put(".hidden");
    cr_assert_eq(mkdir(at("v2"), 0700), 0);
    put("v2/events_1_a");
    char from[256];
    (void)snprintf(from, sizeof from, "%s", at("below.tmp"));
    cr_assert_eq(rename(from, at("below/moved")), 0);
    cr_expect_not(watch_wait(watch, 10, &stop, &paths));
    cr_expect_not_null(told(&paths, "log"));
    cr_expect_not_null(told(&paths, "below/log"));
    cr_expect_not_null(told(&paths, "v2"));
    cr_expect_null(told(&paths, ".hidden"));
    cr_assert_not_null(told(&paths, "below/moved"));
    cr_expect(told(&paths, "below/moved")->whole);
    cr_expect_not(told(&paths, "log")->whole);
    watch_paths_clear(&paths);
    put("v2/appstatus_a");
    cr_expect_not(watch_wait(watch, 10, &stop, &paths));
    cr_expect_not_null(told(&paths, "v2"), "the folder is the log, not its mark");
    cr_expect_null(told(&paths, "v2/appstatus_a"));
    watch_paths_clear(&paths);
    watch_close(watch);
}

Test(watch, links_in_circles_end)
{
    struct watch_paths paths = {.items = NULL};
    struct watch *watch = watch_open();
    cr_assert_eq(symlink(folder, at("again")), 0);
    watch_add(watch, folder);
    put("log");
    (void)watch_wait(watch, 10, &stop, &paths);
    cr_expect_not_null(told(&paths, "log"));
    cr_expect_null(told(&paths, "again/log"));
    watch_paths_clear(&paths);
    watch_close(watch);
}

Test(watch, nothing_happens)
{
    struct watch_paths paths = {.items = NULL};
    struct watch *watch = watch_open();
    watch_add(watch, folder);
    cr_expect_not(watch_wait(watch, 0.1, &stop, &paths));
    cr_expect_eq(paths.n, 0);
    watch_close(watch);
}
