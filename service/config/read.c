#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/machine.h"
#include "config/settings.h"

extern char **environ;

enum { LINE_BYTES = 2048, WHERE_BYTES = 128 };

/* 0 stands for a part of the machine: a default that a table cannot hold. */
static void resolve(struct config *config)
{
    if (config->memory_bytes_max == 0)
        config->memory_bytes_max = machine_memory_bytes("") / 2;
    if (config->compute_workers != 0)
        return;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    config->compute_workers = cores < 2 ? 2 : cores > 1024 ? 1024 : cores;
}

static void assign_defaults(struct config *config)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < settings_n; i++)
        (void)!setting_assign(&settings[i], settings[i].fallback, "default", config, NULL);
}

void config_defaults(struct config *config)
{
    assign_defaults(config);
    resolve(config);
}

/* Without white space at both ends, in place. */
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

/* --- the file --- */

static enum pv_code
read_line(char *line, const char *where, bool seen[], struct config *config, struct pv_error *err)
{
    char *name = trim(line);
    if (*name == '\0' || *name == '#')
        return PV_OK;
    char *equals = strchr(name, '=');
    if (equals == NULL)
        return pv_fail(err, PV_E_INVALID, "%s: expected name = value", where);
    *equals = '\0';
    name = trim(name);
    const struct setting *setting = setting_find(name, strlen(name));
    if (setting == NULL)
        return pv_fail(err, PV_E_INVALID, "%s: there is no setting \"%.64s\"", where, name);
    size_t index = (size_t)(setting - settings);
    if (seen[index])
        return pv_fail(err, PV_E_INVALID, "%s: %s is set twice", where, setting->name);
    seen[index] = true;
    return setting_assign(setting, trim(equals + 1), where, config, err);
}

static enum pv_code
read_lines(FILE *in, const char *file, struct config *config, struct pv_error *err)
{
    bool *seen = calloc(settings_n, sizeof *seen);
    if (seen == NULL)
        return pv_no_memory(err);
    char line[LINE_BYTES];
    enum pv_code code = PV_OK;
    for (size_t number = 1; code == PV_OK && fgets(line, sizeof line, in) != NULL; number++) {
        char where[WHERE_BYTES];
        (void)snprintf(where, sizeof where, "%.96s line %zu", file, number);
        if (strlen(line) == sizeof line - 1 && line[sizeof line - 2] != '\n')
            code = pv_fail(err, PV_E_INVALID, "%s: longer than %d bytes", where, LINE_BYTES - 2);
        else
            code = read_line(line, where, seen, config, err);
    }
    if (code == PV_OK && ferror(in))
        code = pv_fail(err, PV_E_INVALID, "%s: %s", file, strerror(errno));
    free(seen);
    return code;
}

static enum pv_code read_file(const char *file, struct config *config, struct pv_error *err)
{
    FILE *in = fopen(file, "re");
    if (in == NULL)
        return pv_fail(err, PV_E_INVALID, "settings file %s: %s", file, strerror(errno));
    enum pv_code code = read_lines(in, file, config, err);
    (void)fclose(in);
    return code;
}

/* --- the environment --- */

/* A secret handed over as a file: its first line. */
static enum pv_code read_secret(const struct setting *setting,
                                const char *variable,
                                const char *file,
                                struct config *config,
                                struct pv_error *err)
{
    FILE *in = fopen(file, "re");
    if (in == NULL)
        return pv_fail(err, PV_E_INVALID, "%s: %s: %s", variable, file, strerror(errno));
    char line[LINE_BYTES];
    char *text = fgets(line, sizeof line, in);
    (void)fclose(in);
    if (text == NULL)
        return pv_fail(err, PV_E_INVALID, "%s: %s is empty", variable, file);
    return setting_assign(setting, trim(text), variable, config, err);
}

static enum pv_code
read_variable(const struct setting *setting, struct config *config, struct pv_error *err)
{
    char variable[SETTING_VARIABLE];
    setting_variable(setting, "", variable);
    const char *value = getenv(variable);
    char file_variable[SETTING_VARIABLE];
    setting_variable(setting, "_FILE", file_variable);
    const char *file = setting->secret ? getenv(file_variable) : NULL;
    if (value != NULL && file != NULL)
        return pv_fail(err, PV_E_INVALID, "%s and %s are both set", variable, file_variable);
    if (file != NULL)
        return read_secret(setting, file_variable, file, config, err);
    return value == NULL ? PV_OK : setting_assign(setting, value, variable, config, err);
}

static enum pv_code read_environment(struct config *config, struct pv_error *err)
{
    for (size_t i = 0; i < settings_n; i++)
        PV_TRY(read_variable(&settings[i], config, err));
    return PV_OK;
}

/* Variables other than the settings that programs and tests of the project read. */
static bool is_other_variable(const char *name, size_t n)
{
    static const char *const others[] = {
        "PROVISOR_CONFIG",     "PROVISOR_SHARED",  "PROVISOR_TOKEN",
        "PROVISOR_TOKEN_FILE", "PROVISOR_PROFILE", "PROVISOR_CA_FILE",
        "PROVISOR_SAMPLE",     "PROVISOR_URL",     NULL};
    for (size_t i = 0; others[i] != NULL; i++)
        if (strlen(others[i]) == n && strncmp(others[i], name, n) == 0)
            return true;
    return false;
}

static bool is_setting_variable(const char *name, size_t n)
{
    for (size_t i = 0; i < settings_n; i++) {
        char variable[SETTING_VARIABLE];
        setting_variable(&settings[i], "", variable);
        if (strlen(variable) == n && strncmp(variable, name, n) == 0)
            return true;
        setting_variable(&settings[i], "_FILE", variable);
        if (settings[i].secret && strlen(variable) == n && strncmp(variable, name, n) == 0)
            return true;
    }
    return false;
}

void config_unknown_variables(void (*report)(const char *name))
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        size_t n = equals == NULL ? strlen(*entry) : (size_t)(equals - *entry);
        if (strncmp(*entry, "PROVISOR_", 9) != 0 || is_setting_variable(*entry, n) ||
            is_other_variable(*entry, n))
            continue;
        char name[128];
        (void)snprintf(name, sizeof name, "%.*s", (int)(n > 120 ? 120 : n), *entry);
        report(name);
    }
}

/* --- the command line --- */

static enum pv_code read_word(const char *word, struct config *config, struct pv_error *err)
{
    const char *equals = strchr(word, '=');
    if (strncmp(word, "--", 2) != 0)
        return pv_fail(err, PV_E_INVALID, "\"%.64s\": expected --name=value", word);
    size_t n = equals == NULL ? strlen(word) - 2 : (size_t)(equals - word) - 2;
    const struct setting *setting = setting_find(word + 2, n);
    if (setting == NULL)
        return pv_fail(err, PV_E_INVALID, "there is no setting or option \"%.64s\"", word);
    if (equals == NULL)
        return pv_fail(err, PV_E_INVALID, "%s needs a value: --%s=...", word, setting->name);
    return setting_assign(setting, equals + 1, "command line", config, err);
}

static enum pv_code
read_words(int argc, char *const argv[], struct config *config, struct pv_error *err)
{
    enum pv_code code = PV_OK;
    for (int i = 0; code == PV_OK && i < argc; i++)
        code = read_word(argv[i], config, err);
    return code;
}

/* --- all together --- */

/* What one setting alone does not show. */
static enum pv_code check_together(const struct config *config, struct pv_error *err)
{
    if (config->page_default > config->page_max)
        return pv_fail(err, PV_E_INVALID, "page_default = %lld must not exceed page_max = %lld",
                       (long long)config->page_default, (long long)config->page_max);
    if (config->eventlog_line_bytes_max > config->eventlog_memory_bytes_max)
        return pv_fail(
            err, PV_E_INVALID,
            "eventlog_line_bytes_max = %lld must not exceed eventlog_memory_bytes_max = %lld",
            (long long)config->eventlog_line_bytes_max,
            (long long)config->eventlog_memory_bytes_max);
    if (config->outage_prior_mean_outage_s >= config->outage_prior_mean_time_between_s)
        return pv_fail(err, PV_E_INVALID,
                       "outage_prior_mean_outage_s = %lld must be less than "
                       "outage_prior_mean_time_between_s = %lld",
                       (long long)config->outage_prior_mean_outage_s,
                       (long long)config->outage_prior_mean_time_between_s);
    if (config->database_url[0] == '\0')
        return pv_fail(err, PV_E_INVALID, "database_url must not be empty");
    return PV_OK;
}

enum pv_code config_read(
    const char *file, int argc, char *const argv[], struct config *config, struct pv_error *err)
{
    struct config read;
    assign_defaults(&read);
    if (file != NULL)
        PV_TRY(read_file(file, &read, err));
    PV_TRY(read_environment(&read, err));
    PV_TRY(read_words(argc, argv, &read, err));
    PV_TRY(check_together(&read, err));
    resolve(&read);
    *config = read;
    return PV_OK;
}
