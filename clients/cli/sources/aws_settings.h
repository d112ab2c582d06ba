#ifndef CLI_SOURCES_AWS_SETTINGS_H
#define CLI_SOURCES_AWS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "cli/failure.h"

/*
 * Who asks, and where: from the environment and the files that the tools of AWS share ("Configuration
 * and credential file settings" of the AWS CLI). Found in this order:
 *
 *   keys      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; the profile in
 *             AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials), in AWS_CONFIG_FILE (~/.aws/config)
 *   region    AWS_REGION, AWS_DEFAULT_REGION, the profile, us-east-1
 *   endpoint  AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's endpoint_url
 *
 * of the profile AWS_PROFILE (AWS_DEFAULT_PROFILE, default). What has to be asked for first (a role,
 * single sign-on, a process that hands out keys) is not; that is a failure which says how to go on.
 */
struct aws_settings {
    const char *key_id; /* NULL: there are no credentials */
    const char *secret;
    const char *token;    /* NULL: none */
    const char *region;   /* never NULL */
    const char *endpoint; /* NULL: that of AWS */
};

/* getenv, or a test's own. */
typedef const char *aws_environment(const char *name);

/* keys: are they needed? Otherwise none are looked for. Strings are in the arena. */
bool aws_settings_find(struct arena *arena,
                       aws_environment *environment,
                       bool keys,
                       struct aws_settings *settings,
                       struct failure *failure);

/*
 * The values of a section of such a file, which is changed on the way: `found` gets each key and
 * value in order. Lines that are indented belong to the value above (a section of its own) and are
 * passed over. true: there is such a section. (inih cuts lines at 200 bytes, and tokens are longer.)
 */
bool aws_section_read(char *text,
                      const char *section,
                      void (*found)(void *context, const char *key, const char *value),
                      void *context);

#endif
