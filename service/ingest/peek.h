#ifndef INGEST_PEEK_H
#define INGEST_PEEK_H

#include "ingest/container.h"

/*
 * Does a file of a container look like a log, or like an archive that may hold one? Told from its
 * first bytes, decompressed. What cannot be decompressed looks like neither. Leaves the container
 * with that file open. Errors as container_open_member and container_read, except that what is
 * packed in a way that is not supported looks like a log: to be refused when it is read.
 */
enum pv_code peek_at_member(struct container *container,
                            const struct member *member,
                            const struct compression_limits *limits,
                            bool *may_be_log,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
