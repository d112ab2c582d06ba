#include "http/wire.h"

#include <string.h>
#include <strings.h>

enum state {
    AT_START,
    IN_METHOD,
    IN_TARGET,
    IN_VERSION,
    AFTER_LINE, /* LF, then a field or the end of the header */
    AT_FIELD,
    IN_NAME,
    IN_VALUE,
    AFTER_HEADER,
    IN_BODY,
    IN_CHUNK_SIZE,
    IN_CHUNK_EXTENSION,
    AFTER_CHUNK_SIZE,
    IN_CHUNK,
    AFTER_CHUNK,
    AFTER_CHUNK_CR,
    AT_TRAILER,
    IN_TRAILER,
    AFTER_TRAILER,
    AFTER_TRAILERS,
    GIVEN_UP /* the request is refused with its connection, or the library refuses it */
};

enum field { FIELD_OTHER, FIELD_HOST, FIELD_LENGTH, FIELD_CODING };

static const char request_line[] =
    "the request line must be a method, a target and a version, with one space between them";
static const char bare_lf[] = "a line must end with CR LF";
static const char bare_cr[] = "CR must be followed by LF";
static const char null_byte[] =
    "a NUL must not stand in a request line, header field or chunk line";
static const char folded[] = "a header field must not be folded over several lines";
static const char chunk_size[] = "the size of a chunk must be a hexadecimal number";
static const char chunk_end[] = "a chunk must end with CR LF after as many bytes as it announced";

void http_wire_init(struct http_wire *wire, size_t parameters_max)
{
    *wire = (struct http_wire){.state = AT_START, .parameters_max = parameters_max};
}

static void begin_message(struct http_wire *wire)
{
    const struct http_wire next = {
        .state = AT_START, .parameters_max = wire->parameters_max, .message = wire->message + 1};
    *wire = next;
}

static void go(struct http_wire *wire, enum state state)
{
    wire->state = state;
    wire->word_n = 0;
    wire->word[0] = '\0';
}

/* What is longer than any word that has a meaning here has none. */
static void add_to_word(struct http_wire *wire, char c)
{
    if (wire->word_n + 1 < sizeof wire->word) {
        wire->word[wire->word_n++] = c;
        wire->word[wire->word_n] = '\0';
    } else {
        wire->word[0] = '\xff';
    }
}

/* What may stand nowhere in a line. */
static const char *check_text(char c)
{
    return c == '\0' ? null_byte : c == '\n' ? bare_lf : NULL;
}

/* --- request line --- */

static const char *read_method(struct http_wire *wire, char c)
{
    if (c == ' ' && wire->word_n > 0)
        go(wire, IN_TARGET);
    else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
        return request_line;
    else
        add_to_word(wire, c);
    return check_text(c);
}

static const char *read_target(struct http_wire *wire, char c)
{
    if (c == ' ' && wire->word_n > 0) {
        go(wire, IN_VERSION);
        return NULL;
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
        return request_line;
    wire->word_n = 1;
    if (c == '?' && !wire->in_query) {
        wire->in_query = true;
        wire->parameters = 1;
    } else if (c == '&' && wire->in_query) {
        wire->parameters++;
    }
    if (wire->parameters > wire->parameters_max)
        return "the query has more parameters than query_parameters_max allows";
    return check_text(c);
}

/* Other versions than 1.0 and 1.1 are answered by the library. */
static const char *read_version(struct http_wire *wire, char c)
{
    if (c != '\r') {
        add_to_word(wire, c);
        return c == ' ' || c == '\t' ? request_line : check_text(c);
    }
    wire->http_1_0 = strcmp(wire->word, "HTTP/1.0") == 0;
    if (wire->http_1_0 || strcmp(wire->word, "HTTP/1.1") == 0)
        go(wire, AFTER_LINE);
    else if (strncmp(wire->word, "HTTP/", 5) == 0)
        go(wire, GIVEN_UP);
    else
        return request_line;
    return NULL;
}

/* --- header --- */

static enum field field_of(const char *name)
{
    if (strcasecmp(name, "Host") == 0)
        return FIELD_HOST;
    if (strcasecmp(name, "Content-Length") == 0)
        return FIELD_LENGTH;
    return strcasecmp(name, "Transfer-Encoding") == 0 ? FIELD_CODING : FIELD_OTHER;
}

static const char *read_field_start(struct http_wire *wire, char c)
{
    if (c == ' ' || c == '\t')
        return folded;
    if (c == '\r') {
        go(wire, AFTER_HEADER);
        return NULL;
    }
    go(wire, IN_NAME);
    add_to_word(wire, c);
    return check_text(c);
}

static const char *read_name(struct http_wire *wire, char c)
{
    if (c == '\r')
        return "a header field must have a name, a colon and a value";
    if (c == ':') {
        wire->field = field_of(wire->word);
        go(wire, IN_VALUE);
        return NULL;
    }
    /* Refused by name later: what follows it has no meaning. */
    wire->unclear = wire->unclear || c == ' ' || c == '\t';
    add_to_word(wire, c);
    return check_text(c);
}

/* 0 to 19 digits. */
static bool read_length(const char *text, uint64_t *length)
{
    size_t n = strspn(text, "0123456789");
    *length = 0;
    for (size_t i = 0; i < n; i++)
        *length = *length * 10 + (uint64_t)(text[i] - '0');
    return n > 0 && n < 20 && text[n] == '\0';
}

static const char *end_value(struct http_wire *wire)
{
    while (wire->word_n > 0 && strchr(" \t", wire->word[wire->word_n - 1]) != NULL)
        wire->word[--wire->word_n] = '\0';
    switch ((enum field)wire->field) {
    case FIELD_OTHER:
        break;
    case FIELD_HOST:
        wire->has_host = true;
        break;
    case FIELD_LENGTH:
        wire->unclear = wire->unclear || wire->has_length;
        wire->has_length = true;
        if (!read_length(wire->word, &wire->left))
            return "Content-Length must be a decimal number";
        break;
    case FIELD_CODING:
        wire->unclear = wire->unclear || wire->has_coding || strcasecmp(wire->word, "chunked") != 0;
        wire->has_coding = true;
        break;
    }
    go(wire, AFTER_LINE);
    return NULL;
}

static const char *read_value(struct http_wire *wire, char c)
{
    if (c == '\r')
        return end_value(wire);
    bool leading = wire->word_n == 0 && (c == ' ' || c == '\t');
    if (wire->field != FIELD_OTHER && !leading)
        add_to_word(wire, c);
    return check_text(c);
}

static const char *end_header(struct http_wire *wire)
{
    if (wire->http_1_0 && wire->has_coding)
        return "HTTP/1.0 has no Transfer-Encoding";
    if (!wire->http_1_0 && !wire->has_host)
        return "HTTP/1.1 asks for a Host field";
    if (wire->unclear || (wire->has_coding && wire->has_length))
        go(wire, GIVEN_UP);
    else if (wire->has_coding)
        go(wire, IN_CHUNK_SIZE);
    else if (wire->left > 0)
        go(wire, IN_BODY);
    else
        begin_message(wire);
    return NULL;
}

/* --- chunks --- */

static const char *read_chunk_size(struct http_wire *wire, char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *digit = strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    bool any = wire->word_n > 0;
    if (c == '\0' || c == '\n')
        return check_text(c);
    if (digit != NULL && wire->word_n < 15) {
        wire->left = (any ? wire->left * 16 : 0) + (uint64_t)(digit - digits);
        add_to_word(wire, c);
        return NULL;
    }
    if (!any || (c != '\r' && c != ';' && c != ' ' && c != '\t'))
        return chunk_size;
    go(wire, c == '\r' ? AFTER_CHUNK_SIZE : IN_CHUNK_EXTENSION);
    return NULL;
}

/* A text up to its CR, and what comes then. */
static const char *skip_line(struct http_wire *wire, char c, enum state then)
{
    if (c == '\r')
        go(wire, then);
    return check_text(c);
}

static const char *read_trailer_start(struct http_wire *wire, char c)
{
    if (c == ' ' || c == '\t')
        return folded;
    go(wire, c == '\r' ? AFTER_TRAILERS : IN_TRAILER);
    return check_text(c);
}

static const char *end_line(struct http_wire *wire, char c, enum state then)
{
    go(wire, then);
    return c == '\n' ? NULL : bare_cr;
}

static const char *read_byte(struct http_wire *wire, char c)
{
    switch ((enum state)wire->state) {
    case AT_START: /* empty lines before a request are nothing (RFC 9112, 2.2) */
        if (c == '\r' || c == '\n')
            return NULL;
        wire->state = IN_METHOD;
        return read_method(wire, c);
    case IN_METHOD:
        return read_method(wire, c);
    case IN_TARGET:
        return read_target(wire, c);
    case IN_VERSION:
        return read_version(wire, c);
    case AFTER_LINE:
        return end_line(wire, c, AT_FIELD);
    case AT_FIELD:
        return read_field_start(wire, c);
    case IN_NAME:
        return read_name(wire, c);
    case IN_VALUE:
        return read_value(wire, c);
    case AFTER_HEADER:
        return c == '\n' ? end_header(wire) : bare_cr;
    case IN_CHUNK_SIZE:
        return read_chunk_size(wire, c);
    case IN_CHUNK_EXTENSION:
        return skip_line(wire, c, AFTER_CHUNK_SIZE);
    case AFTER_CHUNK_SIZE:
        return end_line(wire, c, wire->left > 0 ? IN_CHUNK : AT_TRAILER);
    case AFTER_CHUNK:
        wire->state = AFTER_CHUNK_CR;
        return c == '\r' ? NULL : chunk_end;
    case AFTER_CHUNK_CR:
        wire->state = IN_CHUNK_SIZE;
        return c == '\n' ? NULL : chunk_end;
    case AT_TRAILER:
        return read_trailer_start(wire, c);
    case IN_TRAILER:
        return skip_line(wire, c, AFTER_TRAILER);
    case AFTER_TRAILER:
        return end_line(wire, c, AT_TRAILER);
    case AFTER_TRAILERS:
        if (c != '\n')
            return bare_cr;
        begin_message(wire);
        return NULL;
    case IN_BODY:
    case IN_CHUNK:
    case GIVEN_UP:
        break;
    }
    return NULL;
}

/* What goes on with a value or target that nobody looks at: most of a header. */
static size_t skip_text(enum state state, const char *bytes, size_t n)
{
    enum { ENDS_VALUE = 1, ENDS_TARGET = 2 };
    static const uint8_t ends[256] = {
        ['\0'] = ENDS_VALUE | ENDS_TARGET,
        ['\r'] = ENDS_VALUE | ENDS_TARGET,
        ['\n'] = ENDS_VALUE | ENDS_TARGET,
        [' '] = ENDS_TARGET,
        ['\t'] = ENDS_TARGET,
        ['?'] = ENDS_TARGET,
        ['&'] = ENDS_TARGET,
    };
    uint8_t end = state == IN_VALUE ? ENDS_VALUE : ENDS_TARGET;
    size_t i = 0;
    while (i < n && (ends[(unsigned char)bytes[i]] & end) == 0)
        i++;
    return i;
}

static size_t skip_body(struct http_wire *wire, size_t n)
{
    size_t skipped = wire->left < n ? (size_t)wire->left : n;
    wire->left -= skipped;
    if (wire->left == 0 && wire->state == IN_CHUNK)
        go(wire, AFTER_CHUNK);
    else if (wire->left == 0)
        begin_message(wire);
    return skipped;
}

/* Bytes that are nobody's business here: how many of the n at the start. */
static size_t skip(struct http_wire *wire, const char *bytes, size_t n)
{
    switch ((enum state)wire->state) {
    case GIVEN_UP:
        return n;
    case IN_BODY:
    case IN_CHUNK:
        return skip_body(wire, n);
    case IN_TARGET:
        return wire->word_n > 0 ? skip_text(IN_TARGET, bytes, n) : 0;
    case IN_VALUE:
        return wire->field == FIELD_OTHER ? skip_text(IN_VALUE, bytes, n) : 0;
    default:
        return 0;
    }
}

const char *http_wire_read(struct http_wire *wire, const char *bytes, size_t n, size_t *good)
{
    uint64_t message = wire->message;
    *good = 0;
    for (size_t i = 0; i < n;) {
        size_t skipped = skip(wire, bytes + i, n - i);
        const char *fault = skipped == 0 ? read_byte(wire, bytes[i]) : NULL;
        i += skipped == 0 ? 1 : skipped;
        if (fault != NULL) {
            wire->state = GIVEN_UP;
            return fault;
        }
        if (wire->message != message)
            *good = i;
        message = wire->message;
    }
    return NULL;
}
