#ifndef CLI_INGEST_INGEST_H
#define CLI_INGEST_INGEST_H

#include "cli/ingest/ingest_options.h"

/*
 * Event logs from wherever they lie into the service's history: once, or for as long as it is let
 * (watch). Everything else of this room is a part of it.
 *
 * The exit status. failure: what kept it from beginning; the rest is said as it happens.
 */
enum exit_status ingest_run(const struct ingest_options *options, struct failure *failure);

#endif
