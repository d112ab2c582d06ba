#ifndef API_SHARED_DOCUMENTS_H
#define API_SHARED_DOCUMENTS_H

#include <stddef.h>

/*
 * What the program carries: the contract as YAML and JSON, and the documentation site. docs/site
 * makes the table at build, sorted by path; a build without mkdocs has the contract alone.
 */
struct document {
    const char *path;         /* "openapi.yaml", "docs/index.html": no leading slash */
    const char *content_type; /* of the bytes */
    const char *digest;       /* of the bytes, hexadecimal */
    const char *bytes;
    size_t n;
    const char *packed; /* the same as gzip, or NULL where that saves little */
    size_t packed_n;
};
extern const struct document documents[];
extern const size_t documents_n;

/* Sources for script-src of a content security policy, each with a space before it. */
extern const char document_script_hashes[];

/* info.version of the contract (docs/compatibility.md). */
extern const char contract_version[];

#endif
