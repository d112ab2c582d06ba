#include "http/accept.h"

#include <string.h>
#include <strings.h>

enum { QUALITY_MOST = 1000 };

/* How closely a range fits a type: 0 not at all, 1 by any type, 2 by any subtype, 3 as it is. */
static int fit_of_type(const char *range, size_t n, const char *type)
{
    size_t family = strcspn(type, "/") + 1;
    if (n == strlen(type) && strncasecmp(range, type, n) == 0)
        return 3;
    if (n == family + 1 && strncasecmp(range, type, family) == 0 && range[family] == '*')
        return 2;
    return n == 3 && memcmp(range, "*/*", 3) == 0 ? 1 : 0;
}

static int fit_of_coding(const char *range, size_t n, const char *coding)
{
    if (n == strlen(coding) && strncasecmp(range, coding, n) == 0)
        return 2;
    return n == 1 && *range == '*' ? 1 : 0;
}

/* "0", "1", "0.25": in thousandths; what cannot be read counts as 0. */
static int read_quality(const char *text)
{
    int value = *text == '1' ? QUALITY_MOST : 0;
    if (*text != '0' && *text != '1')
        return 0;
    if (text[1] != '.')
        return value;
    text += 2;
    for (int unit = QUALITY_MOST / 10; unit > 0 && *text >= '0' && *text <= '9'; unit /= 10)
        value += unit * (*text++ - '0');
    return value > QUALITY_MOST ? QUALITY_MOST : value;
}

/* The parameter q of one element, `n` characters long. */
static int quality_of(const char *element, size_t n)
{
    const char *end = element + n;
    for (const char *at = memchr(element, ';', n); at != NULL && at < end;
         at = memchr(at, ';', (size_t)(end - at))) {
        at++;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (end - at >= 3 && (*at == 'q' || *at == 'Q') && at[1] == '=')
            return read_quality(at + 2);
    }
    return QUALITY_MOST;
}

static size_t range_length(const char *element, size_t n)
{
    size_t length = 0;
    while (length < n && strchr(" \t;", element[length]) == NULL)
        length++;
    return length;
}

/* The quality of a type or a coding by all fields of that name, thousandths. */
static int quality(const struct http_request *request,
                   const char *field,
                   const char *wanted,
                   int (*fit_of)(const char *range, size_t n, const char *wanted))
{
    int best_fit = 0;
    int found = 0;
    for (size_t i = 0; i < request->n_headers; i++) {
        if (strcasecmp(request->headers[i].name, field) != 0)
            continue;
        const char *at = request->headers[i].value;
        while (*at != '\0') {
            at += strspn(at, " \t,");
            size_t n = strcspn(at, ",");
            int fit = fit_of(at, range_length(at, n), wanted);
            if (fit > best_fit) {
                best_fit = fit;
                found = quality_of(at, n);
            }
            at += n;
        }
    }
    return found;
}

bool http_accept_prefers(const struct http_request *request, const char *type, const char *other)
{
    return quality(request, "Accept", type, fit_of_type) >
           quality(request, "Accept", other, fit_of_type);
}

bool http_accepts_gzip(const struct http_request *request)
{
    return quality(request, "Accept-Encoding", "gzip", fit_of_coding) > 0;
}
