#include "cli/sources/s3_page.h"

#include <errno.h>
#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "cli/sources/uri.h"

enum {
    TEXT_MAX = 16 * 1024, /* of one element; a key has 1024 bytes, each of them encoded as three */
    NAME_MAX_BYTES = 64
};

/* One pass over the document: the texts of its leaves, by the name of the leaf and where it lies. */
struct reader {
    struct arena *arena;
    XML_Parser parser;
    const char *root; /* the name that the document must have */
    struct s3_page *page;
    struct s3_error *error;
    unsigned depth;
    bool in_contents;
    bool rooted;
    bool encoded;
    bool truncated;
    char name[NAME_MAX_BYTES];
    char text[TEXT_MAX + 1];
    size_t text_n;
    const char *fault;
    bool memory; /* it ran out */
};

static void stop(struct reader *r, const char *fault)
{
    if (r->fault == NULL)
        r->fault = fault;
    XML_StopParser(r->parser, XML_FALSE);
}

static void stop_for_memory(struct reader *r)
{
    r->memory = true;
    XML_StopParser(r->parser, XML_FALSE);
}

static struct s3_entry *last(struct reader *r)
{
    return &r->page->entries.items[r->page->entries.n - 1];
}

static void on_begin(void *context, const char *name, const char **attributes)
{
    (void)attributes;
    struct reader *r = context;
    r->depth++;
    r->text_n = 0;
    if (r->depth == 1) {
        r->rooted = strcmp(name, r->root) == 0;
        if (!r->rooted)
            stop(r, "its root is another");
        return;
    }
    r->name[0] = '\0';
    size_t n = strlen(name);
    if (n < sizeof r->name)
        memcpy(r->name, name, n + 1);
    if (r->depth != 2 || r->page == NULL)
        return;
    r->in_contents = strcmp(name, "Contents") == 0;
    if (!r->in_contents)
        return;
    struct s3_entry *entry = vector_add(r->arena, &r->page->entries);
    if (entry == NULL) {
        stop_for_memory(r);
        return;
    }
    *entry = (struct s3_entry){NULL, "", -1, INSTANT_UNKNOWN};
}

static void on_text(void *context, const char *text, int n)
{
    struct reader *r = context;
    if (r->text_n + (size_t)n > TEXT_MAX) {
        stop(r, "a text in it is too long");
        return;
    }
    memcpy(r->text + r->text_n, text, (size_t)n);
    r->text_n += (size_t)n;
}

static const char *keep(struct reader *r)
{
    const char *copy = arena_strndup(r->arena, r->text, r->text_n);
    if (copy == NULL)
        stop_for_memory(r);
    return copy;
}

static int64_t whole_number(const char *text)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    return end == text || *end != '\0' || errno != 0 || value < 0 ? -1 : (int64_t)value;
}

static const char *without_quotes(struct reader *r)
{
    size_t n = r->text_n;
    bool quoted = n >= 2 && r->text[0] == '"' && r->text[n - 1] == '"';
    const char *copy = quoted ? arena_strndup(r->arena, r->text + 1, n - 2) : keep(r);
    if (copy == NULL)
        stop_for_memory(r);
    return copy;
}

static void end_of_entry_member(struct reader *r)
{
    struct s3_entry *entry = last(r);
    if (strcmp(r->name, "Key") == 0)
        entry->key = keep(r);
    else if (strcmp(r->name, "ETag") == 0)
        entry->etag = without_quotes(r);
    else if (strcmp(r->name, "Size") == 0 && (entry->bytes = whole_number(r->text)) < 0)
        stop(r, "a Size in it is not a number of bytes");
    else if (strcmp(r->name, "LastModified") == 0 && !instant_parse(r->text, &entry->modified_us))
        entry->modified_us = INSTANT_UNKNOWN;
}

static void end_of_page_member(struct reader *r)
{
    if (r->in_contents && last(r)->key == NULL)
        stop(r, "an object in it has no Key");
    else if (strcmp(r->name, "IsTruncated") == 0)
        r->truncated = strcmp(r->text, "true") == 0;
    else if (strcmp(r->name, "EncodingType") == 0)
        r->encoded = strcmp(r->text, "url") == 0;
    else if (strcmp(r->name, "NextContinuationToken") == 0)
        r->page->next = keep(r);
}

static void end_of_error_member(struct reader *r)
{
    const char **member = strcmp(r->name, "Code") == 0      ? &r->error->code
                          : strcmp(r->name, "Message") == 0 ? &r->error->message
                          : strcmp(r->name, "Region") == 0  ? &r->error->region
                                                            : NULL;
    if (member == NULL)
        return;
    uri_printable(r->text);
    *member = keep(r);
}

static void on_end(void *context, const char *name)
{
    (void)name;
    struct reader *r = context;
    r->text[r->text_n] = '\0';
    if (r->error != NULL && r->depth == 2)
        end_of_error_member(r);
    else if (r->page != NULL && r->depth == 3 && r->in_contents)
        end_of_entry_member(r);
    else if (r->page != NULL && r->depth == 2)
        end_of_page_member(r);
    r->name[0] = '\0';
    r->text_n = 0;
    r->depth--;
}

/* Entities are declared in there: nothing that S3 does. */
static void
on_doctype(void *context, const char *name, const char *system, const char *public, int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    stop(context, "it declares a document type");
}

static bool read_xml(struct reader *r, const char *text, size_t n)
{
    if (n > INT_MAX) {
        r->fault = "it is too long";
        return false;
    }
    r->parser = XML_ParserCreate(NULL);
    if (r->parser == NULL) {
        r->memory = true;
        return false;
    }
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_begin, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    bool read = XML_Parse(r->parser, text, (int)n, 1) == XML_STATUS_OK;
    enum XML_Error error = XML_GetErrorCode(r->parser);
    r->memory = r->memory || (!read && error == XML_ERROR_NO_MEMORY);
    if (!read && r->fault == NULL)
        r->fault = XML_ErrorString(error);
    XML_ParserFree(r->parser);
    return read && r->fault == NULL && !r->memory;
}

static bool decode_keys(struct reader *r)
{
    for (size_t i = 0; r->encoded && i < r->page->entries.n; i++) {
        struct s3_entry *entry = &r->page->entries.items[i];
        char *key = arena_strdup(r->arena, entry->key);
        if (key == NULL || !uri_decode(key, true)) {
            r->fault = "a Key in it is not URL encoded";
            r->memory = key == NULL;
            return false;
        }
        entry->key = key;
    }
    return true;
}

bool s3_page_parse(
    struct arena *arena, const char *text, size_t n, struct s3_page *page, const char **fault)
{
    struct reader *r = arena_calloc(arena, 1, sizeof *r);
    *page = (struct s3_page){0};
    *fault = NULL;
    if (r == NULL)
        return false;
    r->arena = arena;
    r->root = "ListBucketResult";
    r->page = page;
    bool parsed = read_xml(r, text, n) && decode_keys(r);
    if (page->next != NULL && (!r->truncated || page->next[0] == '\0'))
        page->next = NULL;
    if (parsed && r->truncated && page->next == NULL) {
        r->fault = "there are more pages, and no token for the next";
        parsed = false;
    }
    *fault = r->memory ? NULL : r->fault;
    return parsed;
}

bool s3_error_parse(struct arena *arena, const char *text, size_t n, struct s3_error *error)
{
    struct reader *r = arena_calloc(arena, 1, sizeof *r);
    *error = (struct s3_error){"", "", ""};
    if (r == NULL)
        return false;
    r->arena = arena;
    r->root = "Error";
    r->error = error;
    bool read = read_xml(r, text, n) && error->code != NULL && error->code[0] != '\0';
    if (!read)
        *error = (struct s3_error){"", "", ""};
    return read;
}
