/* explicit_bzero */
#define _DEFAULT_SOURCE
#include "cli/settings/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/settings/section.h"

static const char default_url[] = "http://127.0.0.1:8080";
static const char default_url_from[] = "the default, because PROVISOR_URL is not set";

/* Without slashes at its end. */
static void trim_url(char *url)
{
    size_t n = strlen(url);
    while (n > 0 && url[n - 1] == '/')
        url[--n] = '\0';
}

/* --- files --- */

static bool
find_files(const struct arguments *arguments, struct settings *settings, struct failure *failure)
{
    const char *named = argument_text(arguments, "config");
    if (named == NULL)
        named = getenv("PROVISOR_CLIENT_CONFIG");
    const char *home = getenv("HOME");
    const char *base = getenv("XDG_CONFIG_HOME");
    int n;
    if (named != NULL && named[0] != '\0')
        n = snprintf(settings->config_file, PATH_MAX, "%s", named);
    else if (base != NULL && base[0] == '/')
        n = snprintf(settings->config_file, PATH_MAX, "%s/provisor/config", base);
    else
        n = snprintf(settings->config_file, PATH_MAX, "%s/.config/provisor/config",
                     home == NULL ? "" : home);
    if (n >= PATH_MAX)
        return fail(failure, EXIT_USAGE, "the name of the configuration file is too long");
    const char *slash = strrchr(settings->config_file, '/');
    int folder = slash == NULL ? 0 : (int)(slash - settings->config_file) + 1;
    if (strcmp(settings->config_file + folder, "credentials") == 0)
        return fail(
            failure, EXIT_USAGE,
            "the configuration file cannot be named credentials: that is the file for tokens "
            "beside it");
    n = snprintf(settings->credentials_file, PATH_MAX, "%.*s%s", folder, settings->config_file,
                 "credentials");
    if (n >= PATH_MAX)
        return fail(failure, EXIT_USAGE, "the name of the configuration file is too long");
    return true;
}

struct ini_reading {
    struct settings *settings;
    const char *file;
    bool credentials;
    bool profile_found;
    char url[SETTING_TEXT];
    char token_file[PATH_MAX];
    struct failure *failure;
};

static unsigned attempts(double retries)
{
    enum { RETRIES_MAX = 1000 };
    return 1 + (retries < RETRIES_MAX ? (unsigned)retries : RETRIES_MAX);
}

static void copy_setting(char *to, size_t room, const char *from)
{
    (void)snprintf(to, room, "%s", from);
}

/* fail or warn; closed and open are older words for them. */
static bool read_unavailable(const char *word, bool *fails)
{
    *fails = strcmp(word, "fail") == 0 || strcmp(word, "closed") == 0;
    return *fails || strcmp(word, "warn") == 0 || strcmp(word, "open") == 0;
}

/* A key of the profile, into the settings; false: there is none of that name, or its value is wrong. */
static bool set_key(struct ini_reading *reading, const char *key, const char *value)
{
    struct settings *settings = reading->settings;
    double number;
    if (strcmp(key, "url") == 0) {
        copy_setting(settings->url, sizeof settings->url, value);
        copy_setting(reading->url, sizeof reading->url, value);
        (void)snprintf(settings->url_from, sizeof settings->url_from, "profile %s",
                       settings->profile);
    } else if (strcmp(key, "token_file") == 0) {
        copy_setting(reading->token_file, sizeof reading->token_file, value);
    } else if (strcmp(key, "ca_file") == 0) {
        copy_setting(settings->ca_file, sizeof settings->ca_file, value);
    } else if (strcmp(key, "timeout") == 0 && option_read_number(OPTION_DURATION, value, &number)) {
        settings->timeout_s = number;
    } else if (strcmp(key, "retries") == 0 && option_read_number(OPTION_NUMBER, value, &number)) {
        settings->attempts_max = attempts(number);
    } else if (strcmp(key, "tolerance") == 0 && option_read_number(OPTION_SHARE, value, &number)) {
        settings->tolerance = number;
    } else if (strcmp(key, "on_unavailable") == 0) {
        return read_unavailable(value, &settings->fail_closed);
    } else {
        return false;
    }
    return true;
}

static int take_key(void *context, const char *section, const char *key, const char *value)
{
    static const char *const keys[] = {"url",     "token_file", "ca_file",       "timeout",
                                       "retries", "tolerance",  "on_unavailable"};
    struct ini_reading *reading = context;
    struct settings *settings = reading->settings;
    if (strcmp(section, settings->profile) != 0)
        return 1;
    reading->profile_found = true;
    if (reading->credentials) {
        if (strcmp(key, "token") == 0)
            copy_setting(settings->token, sizeof settings->token, value);
        else if (strcmp(key, "url") == 0)
            copy_setting(reading->url, sizeof reading->url, value);
        return 1;
    }
    if (set_key(reading, key, value))
        return 1;
    struct nearest nearest = {.word = NULL};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i], key) == 0) {
            (void)fail(reading->failure, EXIT_USAGE, "%s: %s cannot be '%.100s'", reading->file,
                       key, value);
            return 0;
        }
        nearest_try(&nearest, key, keys[i]);
    }
    (void)fail(reading->failure, EXIT_USAGE, "%s: there is no setting '%.100s'", reading->file,
               key);
    if (nearest.word != NULL)
        (void)fail_next(reading->failure, "did you mean %s?", nearest.word);
    return 0;
}

static bool read_file(struct ini_reading *reading)
{
    FILE *in = fopen(reading->file, "re");
    if (in == NULL)
        return errno == ENOENT || errno == ENOTDIR ||
               fail(reading->failure, EXIT_USAGE, "%s cannot be read: %s", reading->file,
                    strerror(errno));
    struct stat about;
    if (fstat(fileno(in), &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)fclose(in);
        return fail(reading->failure, EXIT_USAGE, "%s is not a regular file", reading->file);
    }
    if (reading->credentials && (about.st_mode & 077) != 0) {
        (void)fclose(in);
        (void)fail(reading->failure, EXIT_USAGE, "%s can be read by others", reading->file);
        return fail_next(reading->failure, "chmod 600 %s", reading->file);
    }
    int line = ini_parse_file(in, take_key, reading);
    (void)fclose(in);
    if (line != 0)
        return fail(reading->failure, EXIT_USAGE, "%s: line %d cannot be understood", reading->file,
                    line);
    return true;
}

/* A token is for one URL and no other: that which stands beside it in the credentials, so that no half
 * of a login can bring the two apart, else that of its profile. */
struct profile_access {
    char token_url[SETTING_TEXT];
    char url[SETTING_TEXT]; /* of the configuration file, and so of its token_file */
    char token_file[PATH_MAX];
};

static bool read_files(struct settings *settings,
                       bool profile_chosen,
                       struct profile_access *access,
                       struct failure *failure)
{
    struct ini_reading config = {
        .settings = settings, .file = settings->config_file, .failure = failure};
    struct ini_reading credentials = {.settings = settings,
                                      .file = settings->credentials_file,
                                      .credentials = true,
                                      .failure = failure};
    if (!read_file(&config) || !read_file(&credentials))
        return false;
    if (profile_chosen && !config.profile_found && !credentials.profile_found) {
        (void)fail(failure, EXIT_USAGE, "%s has no profile [%s]", settings->config_file,
                   settings->profile);
        return fail_next(failure, "`provisor login --profile %s` makes it", settings->profile);
    }
    copy_setting(access->url, sizeof access->url, config.url[0] == '\0' ? default_url : config.url);
    copy_setting(access->token_url, sizeof access->token_url,
                 credentials.url[0] == '\0' ? access->url : credentials.url);
    trim_url(access->url);
    trim_url(access->token_url);
    copy_setting(access->token_file, sizeof access->token_file, config.token_file);
    settings->token_of_login = settings->token[0] != '\0';
    if (settings->token_of_login)
        copy_setting(settings->token_from, sizeof settings->token_from, settings->credentials_file);
    return true;
}

/* --- token --- */

bool settings_read_token_file(const char *file, char token[TOKEN_TEXT_MAX], struct failure *failure)
{
    char bytes[2 * TOKEN_TEXT_MAX];
    bool standard = strcmp(file, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && n < sizeof bytes - 1) {
        got = read(fd, bytes + n, sizeof bytes - 1 - n);
        n += got > 0 ? (size_t)got : 0;
        if (standard && memchr(bytes, '\n', n) != NULL)
            break;
    }
    int why = errno;
    if (fd > STDIN_FILENO)
        (void)close(fd);
    if (got < 0)
        return fail(failure, EXIT_USAGE, "the token cannot be read from %s: %s", file,
                    strerror(why));
    bytes[n] = '\0';
    size_t from = strspn(bytes, " \t\r\n");
    size_t length = strcspn(bytes + from, " \t\r\n");
    if (length == 0 || length >= TOKEN_TEXT_MAX) {
        (void)fail(failure, EXIT_USAGE, "%s holds no token", standard ? "standard input" : file);
        return standard &&
               fail_next(failure, "provisor login --token-file FILE reads one from a file");
    }
    for (size_t i = 0; i < length; i++)
        if (bytes[from + i] < '!' || bytes[from + i] > '~')
            return fail(failure, EXIT_USAGE, "%s holds no token",
                        standard ? "standard input" : file);
    memcpy(token, bytes + from, length);
    token[length] = '\0';
    explicit_bzero(bytes, sizeof bytes);
    return true;
}

/* The token of the variable. */
static bool take_token(struct settings *settings, const char *token, struct failure *failure)
{
    size_t n = strcspn(token, " \t\r\n");
    if (n >= TOKEN_TEXT_MAX)
        return fail(failure, EXIT_USAGE, "PROVISOR_TOKEN holds no token");
    (void)snprintf(settings->token, sizeof settings->token, "%.*s", (int)n, token);
    copy_setting(settings->token_from, sizeof settings->token_from, "PROVISOR_TOKEN");
    settings->token_of_login = false;
    return true;
}

static bool find_token(const struct arguments *arguments,
                       struct settings *settings,
                       const char *profile_file,
                       struct failure *failure)
{
    const char *file = argument_text(arguments, "token-file");
    const char *token = getenv("PROVISOR_TOKEN");
    const char *of_environment = getenv("PROVISOR_TOKEN_FILE");
    const char *named_by = "--token-file";
    if (file == NULL && token != NULL && token[0] != '\0')
        return take_token(settings, token, failure);
    if (file == NULL) {
        file = of_environment;
        named_by = "PROVISOR_TOKEN_FILE";
    }
    if ((file == NULL || file[0] == '\0') && profile_file[0] != '\0') {
        file = profile_file;
        named_by = "token_file of the configuration";
    }
    if (file == NULL || file[0] == '\0')
        return true;
    (void)snprintf(settings->token_from, sizeof settings->token_from, "%s (%s)",
                   strcmp(file, "-") == 0 ? "standard input" : file, named_by);
    settings->token_of_login = false;
    return settings_read_token_file(file, settings->token, failure);
}

/* --- all --- */

static bool check_url(struct settings *settings, struct failure *failure)
{
    size_t n = strlen(settings->url);
    bool http = strncmp(settings->url, "http://", 7) == 0 && n > 7;
    bool https = strncmp(settings->url, "https://", 8) == 0 && n > 8;
    if (strpbrk(settings->url, " \t\r\n?#") != NULL || (!http && !https)) {
        (void)fail(failure, EXIT_USAGE, "'%.200s' (%s) is not the URL of a service", settings->url,
                   settings->url_from);
        return fail_next(failure, "it reads https://provisor.example or http://127.0.0.1:8080");
    }
    const char *host = strstr(settings->url, "//") + 2;
    if (memchr(host, '@', strcspn(host, "/")) != NULL)
        return fail(failure, EXIT_USAGE, "the URL (%s) must not hold a user or a password",
                    settings->url_from);
    return true;
}

static void read_environment(struct settings *settings)
{
    const char *url = getenv("PROVISOR_URL");
    const char *ca = getenv("PROVISOR_CA_FILE");
    if (url != NULL && url[0] != '\0') {
        copy_setting(settings->url, sizeof settings->url, url);
        copy_setting(settings->url_from, sizeof settings->url_from, "PROVISOR_URL");
    }
    if (ca != NULL && ca[0] != '\0')
        copy_setting(settings->ca_file, sizeof settings->ca_file, ca);
}

static void read_flags(const struct arguments *arguments, struct settings *settings)
{
    const char *url = argument_text(arguments, "url");
    const char *ca = argument_text(arguments, "ca-file");
    const char *unavailable = argument_text(arguments, "on-unavailable");
    if (url != NULL) {
        copy_setting(settings->url, sizeof settings->url, url);
        copy_setting(settings->url_from, sizeof settings->url_from, "--url");
    }
    if (ca != NULL)
        copy_setting(settings->ca_file, sizeof settings->ca_file, ca);
    settings->timeout_s = argument_number(arguments, "timeout", settings->timeout_s);
    if (argument_given(arguments, "retries"))
        settings->attempts_max = attempts(argument_number(arguments, "retries", 0));
    settings->tolerance = argument_number(arguments, "tolerance", settings->tolerance);
    if (unavailable != NULL)
        (void)read_unavailable(unavailable, &settings->fail_closed);
    settings->quiet = argument_given(arguments, "quiet");
}

bool settings_read(const struct arguments *arguments,
                   struct settings *settings,
                   struct failure *failure)
{
    *settings = (struct settings){.timeout_s = 60, .attempts_max = 5, .arguments = arguments};
    copy_setting(settings->url, sizeof settings->url, default_url);
    copy_setting(settings->url_from, sizeof settings->url_from, default_url_from);
    const char *profile = argument_text(arguments, "profile");
    if (profile == NULL)
        profile = getenv("PROVISOR_PROFILE");
    bool chosen = profile != NULL && profile[0] != '\0';
    if (chosen &&
        (strlen(profile) >= sizeof settings->profile ||
         strspn(profile, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") !=
             strlen(profile)))
        return fail(failure, EXIT_USAGE,
                    "the name of a profile is at most %zu letters, digits, '.', '_' and '-'",
                    sizeof settings->profile - 1);
    copy_setting(settings->profile, sizeof settings->profile, chosen ? profile : "default");
    /* login makes a profile that is not there. */
    bool login = arguments->depth > 0 && strcmp(arguments->path[0]->name, "login") == 0;
    struct profile_access access = {.url = ""};
    if (!find_files(arguments, settings, failure) ||
        !read_files(settings, chosen && !login, &access, failure))
        return false;
    read_environment(settings);
    read_flags(arguments, settings);
    settings->url_chosen = strcmp(settings->url_from, default_url_from) != 0;
    trim_url(settings->url);
    if (strcmp(access.token_url, settings->url) != 0)
        settings_clear(settings);
    if (strcmp(access.url, settings->url) != 0)
        access.token_file[0] = '\0';
    return check_url(settings, failure) &&
           find_token(arguments, settings, access.token_file, failure);
}

bool settings_write_login(const struct settings *settings, struct failure *failure)
{
    const struct section_key config[] = {
        {"url", settings->url},
        {"ca_file", settings->ca_file[0] == '\0' ? NULL : settings->ca_file}};
    const struct section_key credentials[] = {{"url", settings->url}, {"token", settings->token}};
    int lock = section_lock(settings->config_file, failure);
    bool good =
        lock >= 0 &&
        section_set(settings->config_file, 0644, settings->profile, config, 2, failure) &&
        section_set(settings->credentials_file, 0600, settings->profile, credentials, 2, failure);
    if (lock >= 0)
        (void)close(lock);
    return good;
}

void settings_clear(struct settings *settings)
{
    explicit_bzero(settings->token, sizeof settings->token);
    free(settings->document.text);
    settings->document.text = NULL;
}
