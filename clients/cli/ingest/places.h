#ifndef CLI_INGEST_PLACES_H
#define CLI_INGEST_PLACES_H

#include "cli/ingest/ingest_options.h"
#include "cli/ingest/log_list.h"
#include "cli/ingest/watch.h"

/* The places that logs are taken from, opened. */
struct places {
    const struct ingest_options *options;
    struct source *local;
    struct source **remote; /* as many as n_remote */
    size_t n_remote;
    bool standard_input;
};

/* EXIT_USAGE: what is none. Close it in any case. */
bool places_open(struct places *places,
                 const struct ingest_options *options,
                 struct failure *failure);
void places_close(struct places *places);

/* All logs of all places. false: a place could not be listed to its end; the others are in the list. */
bool places_list(const struct places *places, struct log_list *list, struct failure *failure);

/* Local places, with all that is in them. */
void places_watch(const struct places *places, struct watch *watch);

/* A text that is another for other places or another service. */
void places_identify(const struct places *places, char out[17]);

#endif
