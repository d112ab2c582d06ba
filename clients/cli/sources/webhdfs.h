#ifndef CLI_SOURCES_WEBHDFS_H
#define CLI_SOURCES_WEBHDFS_H

#include "cli/http/fetch.h"
#include "cli/sources/source.h"

/*
 * Files of HDFS by its REST API (Hadoop, "WebHDFS REST API"), or by HttpFS: LISTSTATUS of each folder,
 * OPEN of each file, taken up again by its offset. identity is time of modification and length; it is
 * compared once more when a file was read to its end, unless it is `unfinished`.
 */
struct webhdfs_options {
    const char *user; /* user.name of each request; NULL: that of HADOOP_USER_NAME, or none */
};

/*
 * url: "webhdfs://HOST:PORT/PATH", or swebhdfs for TLS; of several NameNodes
 * "webhdfs://HOST:PORT,HOST:PORT/PATH", and whichever is active answers. Without a port it is 9870,
 * or 9871. PATH is a folder, read with all that is in it, or a file. A delegation token is taken
 * from WEBHDFS_DELEGATION_TOKEN and then stands for the user. options may be NULL. EXIT_USAGE: it is
 * no such URL.
 */
bool source_webhdfs_open(const char *url,
                         const struct webhdfs_options *options,
                         const struct fetch_options *fetching,
                         struct source **source,
                         struct failure *failure);

#endif
