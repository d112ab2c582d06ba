#ifndef CLI_INGEST_TAR_HEADER_H
#define CLI_INGEST_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The header of a regular file in a tar archive: ustar (POSIX.1-1988), with a pax header
 * (POSIX.1-2001) before it where name or length do not fit. A library that writes archives would have
 * to be loaded, with a dozen of others, by every command.
 */
enum { TAR_BLOCK = 512, TAR_HEADER_MAX = 16 * 1024 };

/* name: UTF-8, without folders. mtime_s: since 1970, 0 if unknown. *n, a multiple of TAR_BLOCK, are
 * written. false: the name is empty or too long. */
bool tar_header_write(
    const char *name, int64_t bytes, int64_t mtime_s, char out[TAR_HEADER_MAX], size_t *n);

#endif
