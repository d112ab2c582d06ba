#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/settings/section.h"

TestSuite(cli_section, .timeout = 10);

static char folder[64];
static char file[128];

static void begin(const char *text)
{
    (void)snprintf(folder, sizeof folder, "/tmp/provisor-section-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(file, sizeof file, "%s/new/config", folder);
    if (text == NULL)
        return;
    (void)snprintf(file, sizeof file, "%s/config", folder);
    FILE *out = fopen(file, "w");
    fputs(text, out);
    (void)fclose(out);
}

static const char *content(void)
{
    static char text[1024];
    memset(text, 0, sizeof text);
    FILE *in = fopen(file, "r");
    cr_assert_not_null(in);
    cr_assert_gt(fread(text, 1, sizeof text - 1, in), 0);
    (void)fclose(in);
    return text;
}

static const struct section_key keys[] = {{"url", "http://b"}, {"ca_file", NULL}};

Test(cli_section, a_file_is_made_with_its_folder)
{
    begin(NULL);
    struct failure failure = {.status = EXIT_DONE};
    cr_assert(section_set(file, 0600, "default", keys, 2, &failure), "%s", failure.what);
    cr_assert_str_eq(content(), "[default]\nurl = http://b\n");
    struct stat about;
    cr_assert_eq(stat(file, &about), 0);
    cr_assert_eq(about.st_mode & 0777, 0600);
}

Test(cli_section, other_lines_stay)
{
    begin("; mine\n[default]\nurl = http://a\n# kept\nca_file = x\ntimeout = 5s\n\n[other]\nurl = "
          "http://c\n");
    cr_assert(section_set(file, 0644, "default", keys, 2, NULL));
    cr_assert_str_eq(
        content(),
        "; mine\n[default]\nurl = http://b\n# kept\ntimeout = 5s\n\n[other]\nurl = http://c\n");
}

Test(cli_section, a_section_that_is_not_there_is_added)
{
    begin("[other]\nurl = http://c");
    cr_assert(section_set(file, 0644, "default", keys, 2, NULL));
    cr_assert_str_eq(content(), "[other]\nurl = http://c\n\n[default]\nurl = http://b\n");
}

Test(cli_section, a_file_that_cannot_be_written_is_left)
{
    begin("[default]\nurl = http://a\n");
    struct failure failure = {.status = EXIT_DONE};
    (void)snprintf(file + strlen(file), sizeof file - strlen(file), "/below");
    cr_assert_not(section_set(file, 0644, "default", keys, 2, &failure));
    cr_assert_not_null(strstr(failure.what, "config"));
}
