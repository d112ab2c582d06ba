#ifndef CLI_SOURCES_REPLY_H
#define CLI_SOURCES_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/failure.h"

/* What the replies of REST APIs have in common. */

extern const char *const REPLY_WANTS_JSON[]; /* headers of a request */

enum { REPLY_REDIRECTS_MAX = 5 };

#define REPLY_PROXY_NEXT                                                                           \
    "A proxy, or a page to log in at, seems to lie between; give the URL of the server itself."

/* false, and a failure that names `name`: the text is a page for people (HTML), and no JSON. */
bool reply_is_no_page(const char *name, const char *text, size_t n, struct failure *failure);

#endif
