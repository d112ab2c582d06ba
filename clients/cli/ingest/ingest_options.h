#ifndef CLI_INGEST_INGEST_OPTIONS_H
#define CLI_INGEST_INGEST_OPTIONS_H

#include <stdatomic.h>

#include "cli/remote/message.h"
#include "cli/settings/settings.h"
#include "cli/sources/s3.h"
#include "logfiles/report.h"

/* What an ingest is asked for; all of it is borrowed. */
struct ingest_options {
    const struct settings *settings;
    const atomic_bool *stop;    /* finish what is begun, begin nothing more */
    const char *const *sources; /* paths, "-", URLs */
    size_t n_sources;
    const char *history_server; /* its URL; or NULL */
    struct s3_options s3;
    const char *webhdfs_user; /* or NULL */
    const char *path;         /* where logs are posted */
    const struct remote_parameter *query;
    bool names_run; /* the query says what only one run can have: one log only */
    size_t threads;
    const char *state; /* file of the journal; NULL: the usual one, or none */
    bool again;        /* whatever the journal says */
    bool dry_run;
    bool unfinished_too;
    bool watch;
    double rescan_s; /* of a watch: how often all is looked at */
    double quiet_s;  /* and for how long a file must not have changed */
    enum report_form form;
    bool quiet;
};

#endif
