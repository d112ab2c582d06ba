#ifndef CORE_CLUSTER_ADMISSION_H
#define CORE_CLUSTER_ADMISSION_H

#include "core/history/run.h"

enum admission_status { ADMISSION_HELD, ADMISSION_RELEASED, ADMISSION_EXPIRED };
extern const char *const admission_status_words[]; /* ends with NULL */

/* Cores of a cluster reserved for a run of an application, from starts_us to expires_us. */
struct admission {
    char id[37];
    char cluster_id[37];
    struct strview cluster; /* its name */
    struct strview application;
    char advice_id[37]; /* "": it follows none */
    enum admission_status status;
    double cores;         /* asked for */
    double granted_cores; /* whole quanta */
    int64_t memory_bytes; /* RUN_UNKNOWN: none reserved */
    int64_t starts_us;
    int64_t deadline_us; /* RUN_NO_INSTANT: none given */
    int64_t expires_us;
    int64_t ended_us; /* RUN_NO_INSTANT: it is held */
    char run_id[37];  /* whose report released it; "": none */
    int64_t created_us;
};

/* What is asked for. What is not given is taken from the advice that it follows. */
struct admission_question {
    char advice_id[37];         /* "": none */
    struct strview cluster;     /* at == NULL: that of the advice */
    struct strview application; /* likewise */
    double cores;               /* NAN: likewise */
    double cores_min;           /* NAN: all of them */
    int64_t memory_bytes;       /* RUN_UNKNOWN: none */
    int64_t starts_us;          /* RUN_NO_INSTANT: now */
    double deadline_s;          /* from the start; NAN: that of the advice */
    double expires_s;           /* likewise; NAN: the deadline */
};

#endif
