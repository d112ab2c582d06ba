#include "cli/sources/aws_settings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct arena arena;
static struct failure failure;
static struct aws_settings found;
static const char *environment[16][2];
static size_t environment_n;
static char credentials[] = "/tmp/provisor-aws-XXXXXX";
static char config[] = "/tmp/provisor-aws-XXXXXX";

static const char *look_up(const char *name)
{
    for (size_t i = 0; i < environment_n; i++) {
        if (strcmp(environment[i][0], name) == 0)
            return environment[i][1];
    }
    return NULL;
}

static void set(const char *name, const char *value)
{
    environment[environment_n][0] = name;
    environment[environment_n++][1] = value;
}

static void fill(char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

static void begin(void)
{
    arena_init(&arena, 0);
    cr_assert_geq(close(mkstemp(credentials)), 0);
    cr_assert_geq(close(mkstemp(config)), 0);
    set("AWS_SHARED_CREDENTIALS_FILE", credentials);
    set("AWS_CONFIG_FILE", config);
    fill(credentials, "[default]\naws_access_key_id=D\naws_secret_access_key=ds\n"
                      "[work]\naws_access_key_id = W\naws_secret_access_key = ws/+=\n"
                      "aws_session_token = wt\n");
    fill(config, "[default]\nregion = eu-west-1\n[profile work]\nregion = eu-west-2\n"
                 "endpoint_url = http://work\nservices = local\n");
}

static void end(void)
{
    unlink(credentials);
    unlink(config);
    arena_fini(&arena);
}

TestSuite(aws_settings, .init = begin, .fini = end);

static bool find(void)
{
    failure = (struct failure){0};
    return aws_settings_find(&arena, look_up, true, &found, &failure);
}

Test(aws_settings, the_default_profile)
{
    cr_assert(find(), "%s", failure.what);
    cr_assert_str_eq(found.key_id, "D");
    cr_assert_str_eq(found.secret, "ds");
    cr_assert_null(found.token);
    cr_assert_str_eq(found.region, "eu-west-1");
    cr_assert_null(found.endpoint);
}

Test(aws_settings, a_profile_by_name)
{
    set("AWS_PROFILE", "work");
    cr_assert(find(), "%s", failure.what);
    cr_assert_str_eq(found.key_id, "W");
    cr_assert_str_eq(found.secret, "ws/+=");
    cr_assert_str_eq(found.token, "wt");
    cr_assert_str_eq(found.region, "eu-west-2");
    cr_assert_str_eq(found.endpoint, "http://work");
}

Test(aws_settings, the_environment_goes_before_the_files)
{
    set("AWS_PROFILE", "work");
    set("AWS_ACCESS_KEY_ID", "E");
    set("AWS_SECRET_ACCESS_KEY", "es");
    set("AWS_DEFAULT_REGION", "ap-south-1");
    set("AWS_ENDPOINT_URL", "http://all");
    cr_assert(find(), "%s", failure.what);
    cr_assert_str_eq(found.key_id, "E");
    cr_assert_str_eq(found.secret, "es");
    cr_assert_null(found.token, "a token is of the keys beside it");
    cr_assert_str_eq(found.region, "ap-south-1");
    cr_assert_str_eq(found.endpoint, "http://all");
    set("AWS_REGION", "ap-south-2");
    set("AWS_ENDPOINT_URL_S3", "http://s3");
    cr_assert(find(), "%s", failure.what);
    cr_assert_str_eq(found.region, "ap-south-2");
    cr_assert_str_eq(found.endpoint, "http://s3");
}

Test(aws_settings, no_keys_anywhere)
{
    fill(credentials, "");
    fill(config, "");
    cr_assert(find(), "%s", failure.what);
    cr_assert_null(found.key_id);
    cr_assert_str_eq(found.region, "us-east-1");
    unlink(credentials);
    unlink(config);
    cr_assert(find(), "files that are missing are empty");
}

Test(aws_settings, a_pair_of_keys_is_of_one_file)
{
    fill(config,
         "[default]\naws_access_key_id=C\naws_secret_access_key=cs\naws_session_token=ct\n");
    cr_assert(find(), "%s", failure.what);
    cr_assert_str_eq(found.key_id, "D");
    cr_assert_str_eq(found.secret, "ds");
    cr_assert_null(found.token);
    fill(credentials, "[default]\n");
    cr_assert(find(), "%s", failure.what);
    cr_assert_str_eq(found.key_id, "C");
    cr_assert_str_eq(found.token, "ct");
}

Test(aws_settings, half_a_pair_is_none)
{
    fill(credentials, "[default]\naws_access_key_id = D\n");
    cr_assert_not(find());
    cr_assert_eq(failure.status, EXIT_USAGE);
    cr_assert_not_null(strstr(failure.what, "secret access key"));
}

static char seen[1024];

static void see(void *context, const char *key, const char *value)
{
    (void)context;
    size_t n = strlen(seen);
    (void)snprintf(seen + n, sizeof seen - n, "%s=%s;", key, value);
}

Test(aws_settings, lines_of_a_section)
{
    char text[] = "a = outside\n[one]\na=1\n[ two ] # comment\r\n# x = y\n; x = y\nb = c d \r\n"
                  "s3 =\n  nested = 1\n\tnested = 2\nnonsense\nc==\n[three]\na=3\n[two]\nd=4";
    cr_assert(aws_section_read(text, "two", see, NULL));
    cr_assert_str_eq(seen, "b=c d;s3=;c==;d=4;");
    char none[] = "[one]\na=1\n[two";
    cr_assert_not(aws_section_read(none, "two", see, NULL));
}
