#ifndef LOGFILES_OUTCOME_H
#define LOGFILES_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strview.h"

/*
 * What became of a log on its way into the history, in the same words whoever brings it:
 * `provisord import` and `provisor ingest`.
 */
enum log_outcome {
    LOG_STORED,
    LOG_DUPLICATE, /* the same log was there, or a more complete one */
    LOG_REPLACED,  /* a less complete log of the run was there */
    LOG_IGNORED,   /* no log */
    LOG_REJECTED,  /* a log that cannot be taken, or a file that cannot be read */
    LOG_PENDING,   /* would be sent; of a dry run that asks nobody */
    LOG_OUTCOMES
};
extern const char *const log_outcome_words[LOG_OUTCOMES]; /* of one log */
extern const char *const log_total_words[LOG_OUTCOMES];   /* of how many logs */

/* Code of a log that is still being written, or has no end. */
extern const char log_unfinished_code[];

struct log_result {
    const char *name; /* its path, or the name that its source gives it */
    uint64_t bytes;   /* stored, over all files of a folder; 0: unknown */
    enum log_outcome outcome;
    char application[1024]; /* "" when the log was not read so far */
    char run_id[37];        /* "" when there is none */
    size_t warnings;        /* what the reader noticed */
    char code[32];          /* a word for programs; "" where nothing is the matter */
    char reason[512];       /* the same for people */
};

/* How far it is with all that was found. */
struct log_progress {
    size_t items; /* reported */
    uint64_t bytes;
    bool done; /* no thread is at work any more */
};

/* Fill outcome, code and reason. */
void log_result_say(struct log_result *result,
                    enum log_outcome outcome,
                    const char *code,
                    const char *reason);

/* The same for a log that was read. other: a sentence about another log of the run, "" if there is
 * none. The result also says that the log is unfinished. */
void log_result_say_read(struct log_result *result,
                         enum log_outcome outcome,
                         bool unfinished,
                         const char *other);

/* Append what else is to be said of a log that was read: its name in the log, if rules made another
 * of it, or a warning of its reader with how often it was met (1 where that is not counted). */
void log_result_add_name(struct log_result *result, struct strview name);
void log_result_add_warning(struct log_result *result, const char *code, double count);

#endif
