#ifndef CORE_HISTORY_INGESTION_H
#define CORE_HISTORY_INGESTION_H

#include <stdint.h>

#include "base/strview.h"

/* An attempt to bring a log in, and what became of it. Texts are borrowed; at == NULL: unknown. */

enum ingestion_road {
    INGESTION_APPLICATION, /* the call names the application */
    INGESTION_LOG_NAME,    /* the log names it */
    INGESTION_IMPORT       /* `provisord import` */
};
extern const char *const ingestion_road_words[];

enum ingestion_outcome {
    INGESTION_STORED,
    INGESTION_REPLACED,
    INGESTION_DUPLICATE,
    INGESTION_REFUSED
};
extern const char *const ingestion_outcome_words[];

struct ingestion {
    char id[37];      /* of the latest attempt: ids are in the order of time */
    int64_t at_us;    /* of the first attempt */
    int64_t last_us;  /* of the latest attempt */
    int64_t attempts; /* equal ones that share this record */
    char token_id[37];
    struct strview actor;
    struct strview request_id;
    enum ingestion_road road;
    struct strview source; /* name of the file or object, as the policy for paths leaves it */
    struct strview application;
    struct strview spark_application_id;
    char run_id[37];       /* that was stored, or that closed the refusal */
    struct strview digest; /* of the plain log, hexadecimal */
    int64_t bytes;         /* as sent, as far as they were read; RUN_UNKNOWN */
    enum ingestion_outcome outcome;
    /* Refusals only: the type of the problem, a word for programs and a sentence. */
    struct strview problem;
    struct strview code;
    struct strview reason;
    bool is_no_log; /* the file holds no event; never stored */
    struct strview
        same;          /* equal for attempts that share a record; at == NULL: a record of its own */
    int64_t closed_us; /* when the log came in after all */
};

/* Returns a sentence that says what to do about a refusal; NULL if it is not a refusal. */
const char *ingestion_cure(const struct ingestion *ingestion);

#endif
