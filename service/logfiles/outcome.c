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

void log_result_say_read(struct log_result *result,
                         enum log_outcome outcome,
                         bool unfinished,
                         const char *other)
{
    static const char later[] =
        "unfinished: imported again after its end it is replaced by the whole log";
    char reason[sizeof result->reason];
    bool goes_on = unfinished && outcome != LOG_DUPLICATE;
    const char *code = goes_on                                        ? "no_application_end"
                       : outcome == LOG_DUPLICATE && other[0] != '\0' ? "less_complete"
                                                                      : "";
    (void)snprintf(reason, sizeof reason, "%s%s%s", other, goes_on && other[0] != '\0' ? "; " : "",
                   goes_on ? later : "");
    log_result_say(result, outcome, code, reason);
}
