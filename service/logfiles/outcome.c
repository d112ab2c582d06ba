#include "logfiles/outcome.h"

#include <stdio.h>
#include <string.h>

const char *const log_outcome_words[LOG_OUTCOMES] = {
    [LOG_STORED] = "stored",   [LOG_DUPLICATE] = "duplicate", [LOG_REPLACED] = "replaced",
    [LOG_IGNORED] = "ignored", [LOG_REJECTED] = "rejected",   [LOG_PENDING] = "pending",
};

const char *const log_total_words[LOG_OUTCOMES] = {
    [LOG_STORED] = "stored",   [LOG_DUPLICATE] = "duplicates", [LOG_REPLACED] = "replaced",
    [LOG_IGNORED] = "ignored", [LOG_REJECTED] = "rejected",    [LOG_PENDING] = "pending",
};

const char log_unfinished_code[] = "no_application_end";

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
    static const char later[] = "unfinished: a longer log of the run will replace it";
    char reason[sizeof result->reason];
    bool goes_on = unfinished && outcome != LOG_DUPLICATE;
    const char *code = goes_on                                        ? log_unfinished_code
                       : outcome == LOG_DUPLICATE && other[0] != '\0' ? "less_complete"
                                                                      : "";
    (void)snprintf(reason, sizeof reason, "%s%s%s", other, goes_on && other[0] != '\0' ? "; " : "",
                   goes_on ? later : "");
    log_result_say(result, outcome, code, reason);
}

static void log_result_add(struct log_result *result, const char *text)
{
    size_t n = strlen(result->reason);
    (void)snprintf(result->reason + n, sizeof result->reason - n, "%s%s", n > 0 ? "; " : "", text);
}

void log_result_add_name(struct log_result *result, struct strview name)
{
    char text[300];
    (void)snprintf(text, sizeof text, "its name in the log is %.*s", (int)name.n, name.at);
    log_result_add(result, text);
}

/* The codes are words: "lost_events" met 41 times becomes "lost events: 41". */
void log_result_add_warning(struct log_result *result, const char *code, double count)
{
    char text[100];
    if (strcmp(code, log_unfinished_code) == 0)
        return; /* said already */
    (void)snprintf(text, sizeof text, count > 1 ? "%s: %.0f" : "%s", code, count);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
    log_result_add(result, text);
}
