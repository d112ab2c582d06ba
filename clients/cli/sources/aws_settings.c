#include "cli/sources/aws_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_BYTES = 1024 * 1024 };

struct search {
    struct arena *arena;
    aws_environment *environment;
    struct failure *failure;
    const char *profile;
    bool named; /* somebody chose the profile */
    bool there; /* some file has it */
    struct aws_settings found;
    bool to_be_asked_for; /* the profile says where keys are to be had, not the keys */
    bool failed;
};

static char *skip_blanks(char *text)
{
    return text + strspn(text, " \t");
}

static void cut_blanks(char *text)
{
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]) != NULL)
        text[--n] = '\0';
}

/* "[NAME]", "[ NAME ] ; comment" */
static bool names_section(char *line, const char *section)
{
    char *end = strchr(line, ']');
    if (end == NULL)
        return false;
    *end = '\0';
    char *name = skip_blanks(line + 1);
    cut_blanks(name);
    return strcmp(name, section) == 0;
}

bool aws_section_read(char *text,
                      const char *section,
                      void (*found)(void *context, const char *key, const char *value),
                      void *context)
{
    bool there = false;
    bool within = false;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == '[') {
            within = names_section(line, section);
            there = there || within;
            continue;
        }
        char *equals = strchr(line, '=');
        if (!within || equals == NULL || strchr(" \t#;", line[0]) != NULL)
            continue;
        *equals = '\0';
        char *value = skip_blanks(equals + 1);
        cut_blanks(line);
        cut_blanks(value);
        found(context, line, value);
    }
    return there;
}

static void keep(struct search *s, const char **where, const char *value)
{
    if (*where != NULL || value[0] == '\0')
        return;
    *where = arena_strdup(s->arena, value);
    s->failed = s->failed || *where == NULL;
}

static void on_value(void *context, const char *key, const char *value)
{
    struct search *s = context;
    if (strcmp(key, "aws_access_key_id") == 0)
        keep(s, &s->found.key_id, value);
    else if (strcmp(key, "aws_secret_access_key") == 0)
        keep(s, &s->found.secret, value);
    else if (strcmp(key, "aws_session_token") == 0)
        keep(s, &s->found.token, value);
    else if (strcmp(key, "region") == 0)
        keep(s, &s->found.region, value);
    else if (strcmp(key, "endpoint_url") == 0)
        keep(s, &s->found.endpoint, value);
    else if (strcmp(key, "role_arn") == 0 || strcmp(key, "credential_process") == 0 ||
             strncmp(key, "sso_", 4) == 0)
        s->to_be_asked_for = true;
}

/* NULL: there is no such file, or it cannot be read (then the search has failed). */
static char *read_file(struct search *s, const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        if (errno != ENOENT && errno != ENOTDIR)
            s->failed = !fail(s->failure, EXIT_FAILED, "%s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = malloc(FILE_MAX_BYTES + 1);
    size_t n = text == NULL ? 0 : fread(text, 1, FILE_MAX_BYTES + 1, file);
    if (text == NULL)
        s->failed = !fail_memory(s->failure);
    else if (ferror(file) != 0 || n > FILE_MAX_BYTES)
        s->failed = !fail(s->failure, EXIT_FAILED, "%s: %s", path,
                          n > FILE_MAX_BYTES ? "is longer than 1 MiB" : strerror(errno));
    else
        text[n] = '\0';
    fclose(file);
    if (!s->failed)
        return text;
    free(text);
    return NULL;
}

static const char *value_of(const struct search *s, const char *name)
{
    const char *value = s->environment(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void read_profile(struct search *s, const char *variable, const char *in_home, bool config)
{
    const char *home = value_of(s, "HOME");
    const char *path = value_of(s, variable);
    if (path == NULL && home != NULL) {
        path = arena_printf(s->arena, "%s/%s", home, in_home);
        s->failed = s->failed || path == NULL;
    }
    char *text = path == NULL ? NULL : read_file(s, path);
    if (text == NULL)
        return;
    /* In the configuration, a profile is [profile NAME], and the default one [default]. */
    bool bare = !config || strcmp(s->profile, "default") == 0;
    const char *section = bare ? s->profile : arena_printf(s->arena, "profile %s", s->profile);
    if (section == NULL)
        s->failed = true;
    else if (aws_section_read(text, section, on_value, s))
        s->there = true;
    free(text);
}

static void read_profiles(struct search *s)
{
    read_profile(s, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", false);
    /* A pair of keys is of one place. */
    struct aws_settings keys = s->found;
    read_profile(s, "AWS_CONFIG_FILE", ".aws/config", true);
    if (keys.key_id != NULL) {
        s->found.key_id = keys.key_id;
        s->found.secret = keys.secret;
        s->found.token = keys.token;
    }
}

/* Of an environment that hands out keys to what runs in it: those are not asked for. */
static const char *keys_elsewhere(const struct search *s)
{
    static const char *const names[] = {"AWS_WEB_IDENTITY_TOKEN_FILE",
                                        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                        "AWS_CONTAINER_CREDENTIALS_FULL_URI"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (value_of(s, names[i]) != NULL)
            return names[i];
    }
    return NULL;
}

static bool fail_elsewhere(struct search *s, const char *where)
{
    fail(s->failure, EXIT_USAGE, "%s names a provider of AWS credentials; provisor reads keys only",
         where);
    return fail_next(s->failure, "Let the AWS CLI get them: eval \"$(aws configure "
                                 "export-credentials --format env)\"");
}

static bool check_keys(struct search *s)
{
    const char *profile = arena_printf(s->arena, "Profile \"%s\"", s->profile);
    if (s->failed || profile == NULL)
        return fail_memory(s->failure);
    if (s->named && !s->there) {
        fail(s->failure, EXIT_USAGE, "%s of AWS_PROFILE is in none of the files of AWS", profile);
        return fail_next(s->failure, "Look at ~/.aws/credentials and ~/.aws/config, or unset it.");
    }
    if ((s->found.key_id == NULL) != (s->found.secret == NULL)) {
        fail(s->failure, EXIT_USAGE, "Of the credentials of AWS, the %s is missing",
             s->found.secret == NULL ? "secret access key" : "access key id");
        return fail_next(s->failure, "Set both, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.");
    }
    if (s->found.key_id == NULL && s->to_be_asked_for)
        return fail_elsewhere(s, profile);
    const char *elsewhere = keys_elsewhere(s);
    return s->found.key_id != NULL || elsewhere == NULL || fail_elsewhere(s, elsewhere);
}

static const char *first_of(const char *a, const char *b, const char *c)
{
    return a != NULL ? a : b != NULL ? b : c;
}

bool aws_settings_find(struct arena *arena,
                       aws_environment *environment,
                       bool keys,
                       struct aws_settings *settings,
                       struct failure *failure)
{
    struct search s = {.arena = arena, .environment = environment, .failure = failure};
    const char *profile =
        first_of(value_of(&s, "AWS_PROFILE"), value_of(&s, "AWS_DEFAULT_PROFILE"), NULL);
    s.named = profile != NULL;
    s.profile = s.named ? profile : "default";
    const char *key_id = value_of(&s, "AWS_ACCESS_KEY_ID");
    const char *secret = value_of(&s, "AWS_SECRET_ACCESS_KEY");
    read_profiles(&s);
    if (key_id != NULL || secret != NULL) {
        s.found.key_id = key_id;
        s.found.secret = secret;
        s.found.token = value_of(&s, "AWS_SESSION_TOKEN");
        s.named = false; /* of the profile, at most the region is needed */
    }
    if (s.failed)
        return fail_memory(failure); /* unless a file that cannot be read was named already */
    if (keys && !check_keys(&s))
        return false;
    if (!keys)
        s.found.key_id = s.found.secret = s.found.token = NULL;
    const char *region =
        first_of(value_of(&s, "AWS_REGION"), value_of(&s, "AWS_DEFAULT_REGION"), s.found.region);
    s.found.region = region != NULL ? region : "us-east-1";
    s.found.endpoint = first_of(value_of(&s, "AWS_ENDPOINT_URL_S3"),
                                value_of(&s, "AWS_ENDPOINT_URL"), s.found.endpoint);
    *settings = s.found;
    return true;
}
