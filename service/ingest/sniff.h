#ifndef INGEST_SNIFF_H
#define INGEST_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

/* Is a stream of bytes an archive? Told from its first bytes, never from a name. */
enum sniffed {
    SNIFF_MORE, /* not known yet */
    SNIFF_LOG,  /* no archive: a log, or a compressed stream */
    SNIFF_TAR,
    SNIFF_ZIP
};

/* So many first bytes always suffice: one block of a tar. */
enum { SNIFF_BYTES = 512 };

/* at_end: nothing follows these n bytes, so the answer is never SNIFF_MORE. */
enum sniffed sniff(const unsigned char *head, size_t n, bool at_end);

#endif
