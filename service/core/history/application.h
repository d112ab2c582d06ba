#ifndef CORE_HISTORY_APPLICATION_H
#define CORE_HISTORY_APPLICATION_H

#include "core/history/problem_size.h"

/* The latest run of an application, in short. */
struct application_last_run {
    char id[37];         /* "": there is none, or it was not read */
    double problem_size; /* NAN: unknown */
    struct strview problem_size_measure;
    int64_t executors; /* RUN_UNKNOWN, as the next one */
    int64_t cores_per_executor;
    double duration_s; /* NAN: unknown */
    bool succeeded;
};

/* The latest advice for it, in short. */
struct application_last_advice {
    char id[37];            /* likewise */
    struct strview verdict; /* at == NULL: from before there were verdicts */
    bool feasible;
    int64_t executors;           /* RUN_UNKNOWN: none were recommended */
    double predicted_duration_s; /* NAN: likewise, as deadline_probability */
    double deadline_s;           /* NAN: there was no deadline */
    double confidence;
    double deadline_probability;
};

/* An application of a team: named, with labels and a retention of its runs. */
struct application {
    char id[37]; /* "": not stored */
    struct strview name;
    struct strview description; /* at == NULL: none */
    struct run_label *labels;   /* sorted by key */
    size_t n_labels;
    int64_t retention_days;           /* RUN_UNKNOWN: the service's default */
    int64_t retention_runs;           /* RUN_UNKNOWN: no limit */
    struct size_measure size_measure; /* of runs from logs */
    int64_t runs;                     /* how many are kept */
    int64_t version;                  /* of the application's own fields: the ETag */
    int64_t history_version;          /* grows with every run that comes or goes */
    int64_t created_us;
    int64_t updated_us;
    int64_t last_run_us; /* start of the latest run; RUN_NO_INSTANT: there is none, or not read */
    int64_t last_advice_us;                     /* likewise, when the latest advice was given */
    struct application_last_run last_run;       /* where they were asked for */
    struct application_last_advice last_advice; /* likewise */
};

/* Which of the latest are read and shown. */
enum application_include { APPLICATION_LAST_RUN = 1, APPLICATION_LAST_ADVICE = 2 };

/* What a PATCH sets; a member that is not `has_` stays as it is. */
struct application_change {
    bool has_description;
    bool has_labels;
    bool has_retention;
    bool has_size_measure;
    struct application to;
};

#endif
