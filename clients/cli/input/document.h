#ifndef CLI_INPUT_DOCUMENT_H
#define CLI_INPUT_DOCUMENT_H

#include <jansson.h>
#include <stddef.h>

#include "cli/failure.h"

/*
 * A document that somebody wrote, JSON or YAML, as a JSON value. What begins with '{' or '[' is read
 * as JSON, and as YAML where it is none. Faults name the file and the line. NULL: recorded, with EXIT_USAGE.
 */
json_t *document_read(const char *text, size_t n, const char *file, struct failure *failure);

/* YAML alone, as of its JSON schema: plain null, ~, true, false and numbers are those, everything
 * else is text. One document; no aliases; no key twice. */
json_t *yaml_document_read(const char *text, size_t n, const char *file, struct failure *failure);

/* The line, from 1, on which the value at a JSON Pointer begins in a document that was read: of the
 * deepest part of the pointer that the document has; 0: it has none of it. */
size_t document_line(const char *text, size_t n, const char *pointer);

#endif
