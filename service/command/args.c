#include "command/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/principal.h"
#include "core/history/run.h"
#include "log/log.h"

static void warn_variable(const char *name)
{
    LOG_EVENT(LOG_WARN, "config.unknown_variable", NULL, LOG_TEXT("name", name));
}

/* The option that a word names, or NULL; *inline_value points behind its '='. */
static struct arg_option *
find_option(struct arg_option options[], const char *word, const char **inline_value)
{
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    size_t n = strcspn(word + 2, "=");
    *inline_value = word[2 + n] == '=' ? word + 2 + n + 1 : NULL;
    for (struct arg_option *option = options; option->name != NULL; option++)
        if (strlen(option->name) == n && strncmp(option->name, word + 2, n) == 0)
            return option;
    return NULL;
}

static bool complain(const char *word, const char *why)
{
    fprintf(stderr, "provisord: %s: %s\n", word, why);
    return false;
}

static bool take_value(struct arg_option *option, const char *word, const char *value)
{
    if (option->flag && value != NULL)
        return complain(word, "takes no value");
    if (option->value != NULL && option->values == NULL)
        return complain(word, "is given twice");
    if (option->values != NULL && option->n_values == option->values_max)
        return complain(word, "is given too often");
    value = option->flag ? "" : value;
    if (option->values != NULL)
        option->values[option->n_values++] = value;
    if (option->value == NULL)
        option->value = value;
    return true;
}

/* Sort the words: options are taken, plain words kept, settings moved to the front of argv. */
static bool sort_args(int argc,
                      char *argv[],
                      struct arg_option options[],
                      const char *positional[],
                      size_t positional_max,
                      size_t *n_positional,
                      int *n_settings)
{
    *n_positional = 0;
    *n_settings = 0;
    for (int i = 0; i < argc; i++) {
        const char *value = NULL;
        char *word = argv[i];
        struct arg_option *option = find_option(options, word, &value);
        if (option != NULL) {
            bool follows = !option->flag && value == NULL;
            if (follows && i + 1 == argc)
                return complain(word, "needs a value");
            if (!take_value(option, word, follows ? argv[++i] : value))
                return false;
        } else if (strncmp(word, "--", 2) == 0) {
            argv[(*n_settings)++] = word;
        } else if (*n_positional == positional_max) {
            return complain(word, "is one word too many");
        } else {
            positional[(*n_positional)++] = word;
        }
    }
    return true;
}

bool args_read(int argc,
               char *argv[],
               struct arg_option options[],
               const char *positional[],
               size_t positional_max,
               size_t *n_positional,
               struct config *config)
{
    enum { OPTIONS_MAX = 16 };
    struct arg_option all[OPTIONS_MAX] = {{.name = "config"}};
    size_t n = 0;
    for (; options[n].name != NULL && n + 2 < OPTIONS_MAX; n++)
        all[n + 1] = options[n];
    int n_settings;
    if (!sort_args(argc, argv, all, positional, positional_max, n_positional, &n_settings))
        return false;
    for (size_t i = 0; i < n; i++)
        options[i] = all[i + 1];

    const char *file = all[0].value != NULL ? all[0].value : getenv("PROVISOR_CONFIG");
    struct pv_error err = {.code = PV_OK};
    if (config_read(file, n_settings, argv, config, &err) != PV_OK)
        return complain("settings", err.detail);
    enum log_level level;
    if (log_level_parse(config->log_level, &level))
        log_set_level(level);
    config_unknown_variables(warn_variable);
    return true;
}

const char *args_owner_url(const struct config *config)
{
    return config->database_owner_url[0] != '\0' ? config->database_owner_url
                                                 : config->database_url;
}

void args_explain_unreachable(const struct config *config,
                              bool as_owner,
                              const struct pv_error *err)
{
    if (err->code != PV_E_UNAVAILABLE)
        return;
    if (as_owner && config->database_owner_url[0] == '\0')
        fputs("provisord: database_owner_url, which names the schema's owner, is not set"
              " (PROVISOR_DATABASE_OWNER_URL, or PROVISOR_DATABASE_OWNER_URL_FILE for a file that"
              " holds it); database_url was tried in its place\n",
              stderr);
    else
        fprintf(stderr,
                "provisord: %s names the database that was tried (PROVISOR_DATABASE_%sURL, or"
                " PROVISOR_DATABASE_%sURL_FILE for a file that holds it)\n",
                as_owner ? "database_owner_url" : "database_url", as_owner ? "OWNER_" : "",
                as_owner ? "OWNER_" : "");
}

void args_print_instant(int64_t us)
{
    char text[INSTANT_TEXT] = "-";
    if (us != RUN_NO_INSTANT)
        instant_format(us, text);
    printf("\t%s", text);
}

bool args_parse_duration(const char *text, int64_t *seconds)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    const int64_t longest = INT64_C(36525) * 86400;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 12 || strlen(text) != digits + 1)
        return false;
    int64_t number = strtoll(text, NULL, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].unit != text[digits])
            continue;
        if (number == 0 || number > longest / units[i].seconds)
            return false;
        *seconds = number * units[i].seconds;
        return true;
    }
    return false;
}

static unsigned scope_of(const char *word, size_t n)
{
    static const struct {
        const char *word;
        unsigned scope;
    } scopes[] = {{"read", SCOPE_READ}, {"write", SCOPE_WRITE}, {"admin", SCOPE_ADMIN}};
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (strlen(scopes[i].word) == n && strncmp(scopes[i].word, word, n) == 0)
            return scopes[i].scope;
    return 0;
}

unsigned args_parse_scopes(const char *text)
{
    unsigned scopes = 0;
    for (const char *word = text;;) {
        size_t n = strcspn(word, ",");
        unsigned scope = scope_of(word, n);
        if (scope == 0 || (scopes & scope) != 0)
            return 0;
        scopes |= scope;
        if (word[n] == '\0')
            return scopes;
        word += n + 1;
    }
}

struct store_migrate_options args_migrate_options(const struct config *config)
{
    return (struct store_migrate_options){
        .conninfo = args_owner_url(config),
        .lock_timeout_ms = (unsigned)config->migrate_lock_timeout_ms,
        .lock_wait_s = (unsigned)config->migrate_lock_wait_s,
    };
}
