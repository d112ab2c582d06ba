#include "cli/sources/reply.h"

const char *const REPLY_WANTS_JSON[] = {"Accept: application/json", NULL};

bool reply_is_no_page(const char *name, const char *text, size_t n, struct failure *failure)
{
    size_t at = 0;
    /* A byte order mark is three bytes of such a page. */
    while (at < n && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t' ||
                      (unsigned char)text[at] >= 0x80))
        at++;
    if (at == n || text[at] != '<')
        return true;
    fail(failure, EXIT_FAILED, "%s: the reply is a page (HTML) and not JSON", name);
    return fail_next(failure, REPLY_PROXY_NEXT);
}
