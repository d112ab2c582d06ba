#include "api/shared/prefer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Behind the preference: past its parameters to the comma. A quoted string may hold commas. */
static const char *skip_preference(const char *at)
{
    bool quoted = false;
    for (; *at != '\0' && (quoted || *at != ','); at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (quoted && *at == '\\' && at[1] != '\0')
            at++;
    }
    return *at == ',' ? at + 1 : at;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* "wait = 10" or "wait=\"10\""; -1: something else. Beyond nine digits it is as long as can be. */
static int64_t read_wait(const char *at)
{
    if (strncasecmp(at, "wait", 4) != 0)
        return -1;
    at = skip_blanks(at + 4);
    if (*at != '=')
        return -1;
    at = skip_blanks(at + 1);
    bool quoted = *at == '"';
    at += quoted;
    size_t digits = strspn(at, "0123456789");
    if (digits == 0)
        return -1;
    int64_t seconds = 0;
    for (size_t i = 0; i < digits && seconds < 1000000000; i++)
        seconds = seconds * 10 + (at[i] - '0');
    at += digits;
    if (quoted && *at++ != '"')
        return -1;
    at = skip_blanks(at);
    return *at == '\0' || *at == ',' || *at == ';' ? seconds : -1;
}

int64_t prefer_wait_s(const struct http_request *request, int64_t most)
{
    for (size_t i = 0; i < request->n_headers; i++) {
        if (strcasecmp(request->headers[i].name, "Prefer") != 0)
            continue;
        const char *at = skip_blanks(request->headers[i].value);
        for (; *at != '\0'; at = skip_blanks(skip_preference(at))) {
            int64_t seconds = read_wait(at);
            if (seconds >= 0)
                return seconds < most ? seconds : most;
        }
    }
    return 0;
}
