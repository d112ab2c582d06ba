#include "logfiles/outcome.h"

#include <stdio.h>

const char *const log_outcome_words[LOG_OUTCOMES] = {
    [LOG_STORED] = "stored",   [LOG_DUPLICATE] = "duplicate", [LOG_REPLACED] = "replaced",
    [LOG_IGNORED] = "ignored", [LOG_REJECTED] = "rejected",   [LOG_PENDING] = "pending",
};

const char *const log_total_words[LOG_OUTCOMES] = {
    [LOG_STORED] = "stored",   [LOG_DUPLICATE] = "duplicates", [LOG_REPLACED] = "replaced",
    [LOG_IGNORED] = "ignored", [LOG_REJECTED] = "rejected",    [LOG_PENDING] = "pending",
};

void log_result_say(struct log_result *result,
                    enum log_outcome outcome,
                    const char *code,
                    const char *reason)
{
    result->outcome = outcome;
    (void)snprintf(result->code, sizeof result->code, "%s", code);
    (void)snprintf(result->reason, sizeof result->reason, "%s", reason);
}

void log_result_say_read(struct log_result *result, enum log_outcome outcome, bool unfinished)
{
    bool worth_saying = unfinished && outcome != LOG_DUPLICATE;
    log_result_say(result, outcome, worth_saying ? "no_application_end" : "",
                   worth_saying ? "unfinished: imported again after its end it is replaced by"
                                  " the whole log"
                                : "");
}
