#ifndef LOG_LOG_H
#define LOG_LOG_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Structured log: one JSON object a line on standard error: {"at", "level", "event", "request_id"?,
 * fields}, from any thread. Never a token, a password or a body.
 *
 * Until log_start each line is written at once. From then on a thread of its own writes what waits
 * in a buffer of bounded size, so that nobody waits for whoever reads the log: lines for which
 * there is no room are dropped and counted, and a line "log.lines_dropped" says how many were lost
 * before it.
 */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

enum log_kind { LOG_KIND_END, LOG_KIND_TEXT, LOG_KIND_COUNT, LOG_KIND_NUMBER };

struct log_field {
    enum log_kind kind;
    const char *key;
    const char *text;
    int64_t count;
    double number;
};

#define LOG_TEXT(k, v) ((struct log_field){.kind = LOG_KIND_TEXT, .key = (k), .text = (v)})
#define LOG_COUNT(k, v)                                                                            \
    ((struct log_field){.kind = LOG_KIND_COUNT, .key = (k), .count = (int64_t)(v)})
#define LOG_NUMBER(k, v) ((struct log_field){.kind = LOG_KIND_NUMBER, .key = (k), .number = (v)})

#define LOG_END ((struct log_field){.kind = LOG_KIND_END})

/*
 * LOG_EVENT(LOG_INFO, "pool.connected", NULL, LOG_TEXT("host", h), LOG_COUNT("idle", n))
 * The end is put behind the arguments first, so that the last macro always has one more.
 */
#define LOG_EVENT(level, event, ...) LOG_EVENT_ENDED((level), (event), __VA_ARGS__, LOG_END)
#define LOG_EVENT_ENDED(level, event, request_id, ...)                                             \
    log_event(level, event, (request_id), (const struct log_field[]){__VA_ARGS__})

/* Begin to write from a thread of its own; false: there is none, lines are written at once. */
bool log_start(void);
/* Write what waits, for at most that long, and end the thread; what is left then is lost. */
void log_stop(unsigned seconds);
/* Lines that were dropped since the start. */
uint64_t log_dropped(void);

void log_set_level(enum log_level level);
bool log_level_parse(const char *word, enum log_level *level);
void log_event(enum log_level level,
               const char *event,
               const char *request_id,
               const struct log_field fields[]);

#endif
