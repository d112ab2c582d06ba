#ifndef INGEST_INGEST_INTERNAL_H
#define INGEST_INGEST_INTERNAL_H

#include "ingest/bundle.h"
#include "ingest/stream.h"

struct ingest {
    struct ingest_limits limits;
    struct text text;
    struct stream *stream;
    enum stream_archive kind; /* of the spool */
    struct spool *spool;      /* NULL: no archive */
    struct bundle *bundle;    /* NULL until the archive is read */
    uint64_t bytes_sent;
    bool ended;
    bool read; /* nothing is left to read */
};

/*
 * Read on in a container instead of in bytes that were fed. The container is the intake's from now
 * on, also on failure. stored_bytes as in bundle_open.
 */
enum pv_code ingest_take_container(struct ingest *intake,
                                   struct container *container,
                                   uint64_t stored_bytes,
                                   struct pv_error *err) PV_MUSTCHECK;

#endif
