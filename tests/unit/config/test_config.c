#define _DEFAULT_SOURCE /* clearenv */
#include "config/config.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/machine.h"
#include "config/settings.h"

static void clean_environment(void)
{
    cr_assert_eq(clearenv(), 0);
}
TestSuite(config, .init = clean_environment, .timeout = 20);

static enum pv_code read_argument(const char *word, struct config *config, struct pv_error *err)
{
    char copy[256];
    (void)snprintf(copy, sizeof copy, "%s", word);
    char *argv[] = {copy};
    pv_error_clear(err);
    return config_read(NULL, 1, argv, config, err);
}

/* A file with this text; its name is static. */
static const char *file_with(const char *text)
{
    static char name[64];
    (void)snprintf(name, sizeof name, "/tmp/provisor-test-XXXXXX");
    int fd = mkstemp(name);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return name;
}

static enum pv_code read_text(const char *text, struct config *config, struct pv_error *err)
{
    const char *file = file_with(text);
    pv_error_clear(err);
    enum pv_code code = config_read(file, 0, NULL, config, err);
    unlink(file);
    return code;
}

Test(config, every_default_is_within_its_own_range)
{
    struct config config;
    struct pv_error err = {.code = PV_OK};
    for (size_t i = 0; i < settings_n; i++)
        cr_expect_eq(setting_assign(&settings[i], settings[i].fallback, "", &config, &err), PV_OK,
                     "%s", err.detail);
    cr_expect_eq(config_read(NULL, 0, NULL, &config, &err), PV_OK, "%s", err.detail);
}

Test(config, every_range_holds_at_its_edges_and_not_beyond)
{
    struct config config;
    struct pv_error err;
    for (size_t i = 0; i < settings_n; i++) {
        const struct setting *s = &settings[i];
        if (s->kind != SETTING_INTEGER)
            continue;
        const struct {
            int64_t value;
            bool good;
        } edges[] = {{s->low, true}, {s->high, true}, {s->low - 1, false}, {s->high + 1, false}};
        for (size_t k = 0; k < 4; k++) {
            char value[32];
            (void)snprintf(value, sizeof value, "%" PRId64, edges[k].value);
            pv_error_clear(&err);
            enum pv_code code = setting_assign(s, value, "test", &config, &err);
            cr_expect_eq(code, edges[k].good ? PV_OK : PV_E_INVALID, "%s = %s", s->name, value);
            if (edges[k].good) {
                int64_t stored;
                memcpy(&stored, (char *)&config + s->offset, sizeof stored);
                cr_expect_eq(stored, edges[k].value, "%s", s->name);
            } else {
                cr_expect_not_null(strstr(err.detail, s->name), "%s", err.detail);
                cr_expect_not_null(strstr(err.detail, value), "%s", err.detail);
            }
        }
    }
}

Test(config, a_refusal_names_setting_value_and_range)
{
    struct config config;
    struct pv_error err;
    cr_assert_eq(read_argument("--listen_port=65536", &config, &err), PV_E_INVALID);
    cr_assert_str_eq(err.detail,
                     "command line: listen_port = \"65536\" must be an integer from 0 to 65535");
}

Test(config, numbers_are_whole_words)
{
    static const char *const bad[] = {"",    " 1", "1 ", "+1",  "1e3",
                                      "0x1", "1k", "-",  "--1", "99999999999999999999"};
    struct config config;
    struct pv_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char word[64];
        (void)snprintf(word, sizeof word, "--io_workers=%s", bad[i]);
        cr_expect_eq(read_argument(word, &config, &err), PV_E_INVALID, "%s", word);
    }
}

Test(config, caches_never_outlive_five_seconds)
{
    struct config config;
    struct pv_error err;
    cr_expect_eq(read_argument("--token_cache_ms=5000", &config, &err), PV_OK);
    cr_expect_eq(read_argument("--token_cache_ms=5001", &config, &err), PV_E_INVALID);
    cr_expect_eq(read_argument("--prediction_cache_ms=5001", &config, &err), PV_E_INVALID);
}

Test(config, later_sources_win)
{
    struct config config;
    struct pv_error err = {.code = PV_OK};
    const char *file = file_with("# comment\n\n listen_port = 1001 \nio_workers=3\njobs_max = 7\n");
    setenv("PROVISOR_LISTEN_PORT", "1002", 1);
    setenv("PROVISOR_IO_WORKERS", "4", 1);
    char word[] = "--listen-port=1003";
    char *argv[] = {word};
    enum pv_code code = config_read(file, 1, argv, &config, &err);
    unlink(file);
    cr_assert_eq(code, PV_OK, "%s", err.detail);
    cr_assert_eq(config.listen_port, 1003, "the command line last");
    cr_assert_eq(config.io_workers, 4, "the environment over the file");
    cr_assert_eq(config.jobs_max, 7, "the file over the default");
}

Test(config, a_wrong_file_is_refused_with_its_line)
{
    static const struct {
        const char *text;
        const char *says;
    } rows[] = {{"listen_port 80\n", "line 1: expected name = value"},
                {"\nlisten_prot = 80\n", "line 2: there is no setting \"listen_prot\""},
                {"io_workers = 1\nio_workers = 2\n", "line 2: io_workers is set twice"},
                {"migrate_on_start = yes\n", "migrate_on_start = \"yes\" must be true or false"},
                {"log_level = loud\n", "must be one of debug, info, warn, error"},
                {"page_default = 100\npage_max = 99\n", "must not exceed page_max"},
                {"outage_prior_mean_time_between_s = 600\n",
                 "must be less than outage_prior_mean_time_between_s"},
                {"database_url =\n", "database_url must not be empty"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config config;
        struct pv_error err;
        cr_expect_eq(read_text(rows[i].text, &config, &err), PV_E_INVALID, "%s", rows[i].text);
        cr_expect_not_null(strstr(err.detail, rows[i].says), "%s", err.detail);
    }
}

Test(config, nothing_is_used_when_anything_is_wrong)
{
    struct config config;
    struct pv_error err;
    config_defaults(&config);
    config.listen_port = 4711;
    cr_assert_eq(read_text("listen_port = 80\nio_workers = 0\n", &config, &err), PV_E_INVALID);
    cr_assert_eq(config.listen_port, 4711, "untouched");
}

Test(config, unknown_words_and_missing_files_are_refused)
{
    struct config config;
    struct pv_error err;
    cr_expect_eq(read_argument("--colour=red", &config, &err), PV_E_INVALID);
    cr_expect_eq(read_argument("--listen_port", &config, &err), PV_E_INVALID);
    cr_expect_eq(read_argument("listen_port=1", &config, &err), PV_E_INVALID);
    pv_error_clear(&err);
    cr_expect_eq(config_read("/nonexistent/provisor.conf", 0, NULL, &config, &err), PV_E_INVALID);
    cr_expect_not_null(strstr(err.detail, "/nonexistent/provisor.conf"));
}

Test(config, a_secret_may_stand_in_a_file_and_is_never_shown)
{
    struct config config;
    struct pv_error err = {.code = PV_OK};
    const char *file = file_with("postgresql://u:hidden@h/d\n");
    setenv("PROVISOR_DATABASE_URL_FILE", file, 1);
    enum pv_code code = config_read(NULL, 0, NULL, &config, &err);
    cr_assert_eq(code, PV_OK, "%s", err.detail);
    cr_assert_str_eq(config.database_url, "postgresql://u:hidden@h/d");

    setenv("PROVISOR_DATABASE_URL", "x", 1);
    cr_assert_eq(config_read(NULL, 0, NULL, &config, &err), PV_E_INVALID, "both is ambiguous");
    unlink(file);
    unsetenv("PROVISOR_DATABASE_URL_FILE");

    setenv("PROVISOR_DATABASE_URL", "postgresql://u:hidden@h/d\x01", 1);
    pv_error_clear(&err);
    cr_assert_eq(config_read(NULL, 0, NULL, &config, &err), PV_E_INVALID);
    cr_assert_null(strstr(err.detail, "hidden"), "%s", err.detail);
}

static char told[8][64];
static size_t n_told;
static void tell(const char *name)
{
    (void)snprintf(told[n_told++], sizeof told[0], "%s", name);
}

Test(config, unknown_variables_are_told_of_and_known_ones_are_not)
{
    setenv("PROVISOR_LISTEN_PROT", "1", 1);
    setenv("PROVISOR_LISTEN_PORT", "1", 1);
    setenv("PROVISOR_DATABASE_URL_FILE", "x", 1);
    setenv("PROVISOR_LISTEN_PORT_FILE", "x", 1);
    setenv("PROVISOR_CONFIG", "x", 1);
    setenv("OTHER", "1", 1);
    config_unknown_variables(tell);
    cr_assert_eq(n_told, 2, "a port is no secret and has no file");
    cr_assert_str_eq(told[0], "PROVISOR_LISTEN_PROT");
    cr_assert_str_eq(told[1], "PROVISOR_LISTEN_PORT_FILE");
}

Test(config, memory_follows_the_machine)
{
    struct config config;
    config_defaults(&config);
    int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    cr_assert_gt(config.memory_bytes_max, 0);
    cr_assert_leq(config.memory_bytes_max, machine / 2, "a control group may allow less");
}

Test(config, compute_workers_follow_the_machine)
{
    struct config config;
    config_defaults(&config);
    cr_assert_geq(config.compute_workers, 2);
}

static char *text_of(FILE *in)
{
    static char text[1 << 17];
    size_t n = fread(text, 1, sizeof text - 1, in);
    text[n] = '\0';
    return text;
}

/* CONFIGURATION_PAGE comes from the build. The tables there are what the program prints. */
Test(config, the_configuration_page_is_what_the_program_prints)
{
    FILE *printed = tmpfile();
    cr_assert_not_null(printed);
    config_print_markdown(printed);
    rewind(printed);
    char *table = strdup(text_of(printed));
    (void)fclose(printed);

    FILE *page = fopen(CONFIGURATION_PAGE, "r");
    cr_assert_not_null(page, "%s", CONFIGURATION_PAGE);
    char *text = text_of(page);
    (void)fclose(page);
    const char begin[] = "<!-- settings -->\n";
    char *from = strstr(text, begin);
    cr_assert_not_null(from, "the page has no %s", begin);
    from += sizeof begin - 1;
    char *to = strstr(from, "<!-- /settings -->");
    cr_assert_not_null(to);
    *to = '\0';
    cr_assert_str_eq(from, table, "run: provisord settings --markdown");
    free(table);
}

Test(config, help_names_every_setting)
{
    FILE *printed = tmpfile();
    config_print_help(printed);
    rewind(printed);
    const char *text = text_of(printed);
    for (size_t i = 0; i < settings_n; i++)
        cr_expect_not_null(strstr(text, settings[i].name), "%s", settings[i].name);
    (void)fclose(printed);
}

/* --- control groups, below a directory that stands for the root --- */

static char fake_root[64];

static void put_file(const char *path, const char *text)
{
    char whole[512];
    (void)snprintf(whole, sizeof whole, "%s%s", fake_root, path);
    for (char *slash = strchr(whole + strlen(fake_root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    cr_assert_not_null(file);
    (void)fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

static void make_root(void)
{
    clean_environment();
    (void)snprintf(fake_root, sizeof fake_root, "/tmp/provisor-root-XXXXXX");
    cr_assert_not_null(mkdtemp(fake_root));
}

static void remove_root(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", fake_root);
    cr_assert_eq(system(command), 0);
}
TestSuite(machine, .init = make_root, .fini = remove_root, .timeout = 20);

Test(machine, without_control_groups_it_is_the_machine_memory)
{
    cr_assert_eq(machine_memory_bytes(fake_root),
                 (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
}

Test(machine, a_limit_of_the_unit_counts_though_the_root_has_none)
{
    put_file("/proc/self/cgroup", "0::/system.slice/provisor.service\n");
    put_file("/sys/fs/cgroup/system.slice/memory.max", "max\n");
    put_file("/sys/fs/cgroup/system.slice/provisor.service/memory.max", "67108864\n");
    cr_assert_eq(machine_memory_bytes(fake_root), 67108864);
}

Test(machine, a_smaller_limit_around_the_unit_counts)
{
    put_file("/proc/self/cgroup", "0::/a/b/c\n");
    put_file("/sys/fs/cgroup/a/memory.max", "33554432\n");
    put_file("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put_file("/sys/fs/cgroup/a/b/c/memory.max", "67108864\n");
    cr_assert_eq(machine_memory_bytes(fake_root), 33554432);
}

/* Of a container whose list names the host's groups. */
Test(machine, what_is_mounted_counts_where_the_named_group_is_not_seen)
{
    put_file("/proc/self/cgroup", "0::/docker/0123\n");
    put_file("/sys/fs/cgroup/memory.max", "50331648\n");
    cr_assert_eq(machine_memory_bytes(fake_root), 50331648);
}

Test(machine, the_first_version_is_read_by_its_controller)
{
    put_file("/proc/self/cgroup",
             "9:cpu,cpuacct:/x\n7:hugetlb,memory:/system.slice/provisor.service\n0::/other\n");
    put_file("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1048576\n");
    put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put_file("/sys/fs/cgroup/memory/system.slice/provisor.service/memory.limit_in_bytes",
             "134217728\n");
    cr_assert_eq(machine_memory_bytes(fake_root), 134217728);
}
