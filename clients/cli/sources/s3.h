#ifndef CLI_SOURCES_S3_H
#define CLI_SOURCES_S3_H

#include <stdbool.h>

#include "cli/http/fetch.h"
#include "cli/sources/source.h"

/*
 * Objects of a bucket of Amazon S3, or of a server that speaks as it does (ListObjectsV2, GetObject,
 * Signature Version 4). Credentials, region and endpoint are found as aws_settings.h says; without
 * credentials, requests are anonymous.
 */
enum s3_style {
    S3_STYLE_BY_ENDPOINT, /* by path where an endpoint is given, otherwise by host */
    S3_STYLE_PATH,        /* ENDPOINT/BUCKET/KEY */
    S3_STYLE_HOST         /* BUCKET.ENDPOINT/KEY */
};

struct s3_options {
    const char *endpoint; /* a URL; NULL: that of the environment, else that of AWS */
    enum s3_style style;
    bool anonymous;     /* sign nothing, whatever credentials there are */
    unsigned page_size; /* objects a page, 1 to 1000; 0: as the server likes */
};

/*
 * url: "s3://BUCKET/PREFIX" (or s3a, s3n). The prefix is one of keys, as S3 has it: logs/app also
 * lists logs/application. Keys that end in '/' are folders and not listed. identity is the ETag, and
 * the content of no other ETag is read. options may be NULL. EXIT_USAGE: url or settings are wrong.
 */
bool source_s3_open(const char *url,
                    const struct s3_options *options,
                    const struct fetch_options *fetching,
                    struct source **source,
                    struct failure *failure);

#endif
