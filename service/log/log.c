#define _GNU_SOURCE /* pthread_setname_np */
#include "log/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"
#include "base/strview.h"
#include "threads/clock.h"
#include "threads/cond.h"

/*
 * A line is built in one buffer and written whole, so lines of several threads do not mix. What
 * does not fit is left out and the line says so; it is one whole JSON object in any case.
 */
enum {
    LINE_MAX_BYTES = 8192,
    TEXT_MAX_BYTES = 1024,
    LINE_TAIL = 32,
    BUFFER_BYTES = 1024 * 1024, /* of lines that wait for the writer */
    TOGETHER_BYTES = 4096       /* lines of one write: a pipe takes so many as a whole */
};

static atomic_int least_level = LOG_INFO;

static const char *const level_words[] = {
    [LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"};

struct line {
    char text[LINE_MAX_BYTES];
    size_t n;
    bool full; /* something did not fit: the rest of this field is dropped */
};

void log_set_level(enum log_level level)
{
    atomic_store(&least_level, (int)level);
}

bool log_level_parse(const char *word, enum log_level *level)
{
    for (size_t i = 0; i < sizeof level_words / sizeof *level_words; i++) {
        if (strcmp(word, level_words[i]) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

static void log_put(struct line *line, const char *bytes, size_t n)
{
    if (line->full || n > sizeof line->text - LINE_TAIL - line->n) {
        line->full = true;
        return;
    }
    memcpy(line->text + line->n, bytes, n);
    line->n += n;
}

/* Length of the UTF-8 sequence at s, 1 for ASCII, 0 where it is not valid. */
static size_t sequence(const char *s, size_t n)
{
    for (size_t length = 1; length <= 4 && length <= n; length++) {
        if (strview_is_utf8((struct strview){s, length}))
            return length;
    }
    return 0;
}

static void put_quoted(struct line *line, const char *text)
{
    size_t n = strnlen(text, TEXT_MAX_BYTES);
    log_put(line, "\"", 1);
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = sequence(text + i, n - i);
        char escape[8];
        if (length == 0) {
            log_put(line, "\\ufffd", 6);
            length = 1;
        } else if (c == '"' || c == '\\') {
            log_put(line, (const char[]){'\\', (char)c}, 2);
        } else if (c < 0x20 || c == 0x7f) {
            (void)snprintf(escape, sizeof escape, "\\u%04x", c);
            log_put(line, escape, 6);
        } else {
            log_put(line, text + i, length);
        }
        i += length;
    }
    log_put(line, "\"", 1);
}

static void put_key(struct line *line, const char *key)
{
    log_put(line, line->n == 1 ? "" : ",", line->n == 1 ? 0 : 1);
    put_quoted(line, key);
    log_put(line, ":", 1);
}

static void put_value(struct line *line, const struct log_field *field)
{
    char number[32];
    switch (field->kind) {
    case LOG_KIND_END:
        return;
    case LOG_KIND_TEXT:
        if (field->text == NULL)
            log_put(line, "null", 4);
        else
            put_quoted(line, field->text);
        return;
    case LOG_KIND_COUNT:
        log_put(line, number, (size_t)snprintf(number, sizeof number, "%" PRId64, field->count));
        return;
    case LOG_KIND_NUMBER:
        if (isfinite(field->number))
            log_put(line, number, (size_t)snprintf(number, sizeof number, "%.9g", field->number));
        else
            log_put(line, "null", 4);
        return;
    }
}

/* A field is there as a whole or not at all. */
static bool put_field(struct line *line, const struct log_field *field)
{
    size_t before = line->n;
    put_key(line, field->key);
    put_value(line, field);
    if (!line->full)
        return true;
    line->n = before;
    line->full = false;
    return false;
}

/* Waits as long as the reader wants. */
static void write_all(const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t written = write(STDERR_FILENO, bytes, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
            (void)poll(&p, 1, -1);
            continue;
        }
        if (written <= 0)
            return; /* nobody reads the log: nowhere left to say so */
        bytes += written;
        n -= (size_t)written;
    }
}

/* --- the writer --- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char bytes[BUFFER_BYTES]; /* a ring of whole lines */
    size_t first;
    size_t n;
    uint64_t dropped;    /* lines, in all */
    uint64_t unreported; /* of these, those that no line has spoken of */
    bool running;
    bool ending;
    pthread_t thread;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whole lines off the ring: one, or several that fit TOGETHER_BYTES; their length. */
static size_t take_lines(char out[LINE_MAX_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < writer.n && i < LINE_MAX_BYTES; i++) {
        out[i] = writer.bytes[(writer.first + i) % BUFFER_BYTES];
        if (out[i] == '\n' && (n == 0 || i < TOGETHER_BYTES))
            n = i + 1;
        if (n > 0 && i >= TOGETHER_BYTES)
            break;
    }
    writer.first = (writer.first + n) % BUFFER_BYTES;
    writer.n -= n;
    return n;
}

static void *write_lines(void *argument)
{
    char lines[LINE_MAX_BYTES];
    (void)argument;
    (void)pthread_mutex_lock(&writer.lock);
    for (;;) {
        while (writer.n == 0 && !writer.ending)
            (void)pthread_cond_wait(&writer.changed, &writer.lock);
        if (writer.n == 0)
            break;
        size_t n = take_lines(lines);
        (void)pthread_mutex_unlock(&writer.lock);
        write_all(lines, n);
        (void)pthread_mutex_lock(&writer.lock);
    }
    (void)pthread_mutex_unlock(&writer.lock);
    return NULL;
}

static void append(const char *bytes, size_t n)
{
    size_t at = (writer.first + writer.n) % BUFFER_BYTES;
    size_t before_end = BUFFER_BYTES - at < n ? BUFFER_BYTES - at : n;
    memcpy(writer.bytes + at, bytes, before_end);
    memcpy(writer.bytes, bytes + before_end, n - before_end);
    writer.n += n;
}

/* Puts the line behind those that wait, or drops it. false: no thread writes. */
static bool hand_over(const char *text, size_t n)
{
    (void)pthread_mutex_lock(&writer.lock);
    bool running = writer.running;
    if (running && writer.n + n <= BUFFER_BYTES) {
        append(text, n);
        (void)pthread_cond_signal(&writer.changed);
    } else if (running) {
        writer.dropped++;
        writer.unreported++;
    }
    (void)pthread_mutex_unlock(&writer.lock);
    return running;
}

/* How many lines a line is to speak of: none while another would be dropped, too. */
static uint64_t take_unreported(void)
{
    uint64_t count = 0;
    (void)pthread_mutex_lock(&writer.lock);
    if (writer.unreported > 0 && writer.n < BUFFER_BYTES / 2) {
        count = writer.unreported;
        writer.unreported = 0;
    }
    (void)pthread_mutex_unlock(&writer.lock);
    return count;
}

bool log_start(void)
{
    sigset_t all;
    sigset_t before;
    if (!cond_init(&writer.changed))
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    writer.ending = false;
    bool started = pthread_create(&writer.thread, NULL, write_lines, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        (void)pthread_setname_np(writer.thread, "log");
    (void)pthread_mutex_lock(&writer.lock);
    writer.running = started;
    (void)pthread_mutex_unlock(&writer.lock);
    return started;
}

void log_stop(unsigned seconds)
{
    (void)pthread_mutex_lock(&writer.lock);
    bool running = writer.running;
    writer.ending = true;
    if (running)
        (void)pthread_cond_signal(&writer.changed);
    (void)pthread_mutex_unlock(&writer.lock);
    uint64_t until_ns = clock_monotonic_ns() + (uint64_t)seconds * UINT64_C(1000000000);
    if (!running || !thread_join_until(writer.thread, until_ns))
        return; /* the thread waits for a reader; later lines are dropped, not waited for */
    (void)pthread_mutex_lock(&writer.lock);
    writer.running = false;
    (void)pthread_mutex_unlock(&writer.lock);
}

uint64_t log_dropped(void)
{
    (void)pthread_mutex_lock(&writer.lock);
    uint64_t dropped = writer.dropped;
    (void)pthread_mutex_unlock(&writer.lock);
    return dropped;
}

void log_event(enum log_level level,
               const char *event,
               const char *request_id,
               const struct log_field fields[])
{
    if ((int)level < atomic_load(&least_level))
        return;
    uint64_t dropped = take_unreported();
    if (dropped > 0)
        LOG_EVENT(LOG_WARN, "log.lines_dropped", NULL, LOG_COUNT("count", dropped));
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char at[INSTANT_TEXT];
    instant_format((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000, at);

    struct line line = {.n = 0};
    log_put(&line, "{", 1);
    bool whole = put_field(&line, &LOG_TEXT("at", at));
    whole = put_field(&line, &LOG_TEXT("level", level_words[level])) && whole;
    whole = put_field(&line, &LOG_TEXT("event", event)) && whole;
    if (request_id != NULL && request_id[0] != '\0')
        whole = put_field(&line, &LOG_TEXT("request_id", request_id)) && whole;
    for (size_t i = 0; fields[i].kind != LOG_KIND_END; i++)
        whole = put_field(&line, &fields[i]) && whole;

    /* LINE_TAIL bytes are kept free for this. */
    const char *tail = whole ? "}\n" : ",\"cut\":true}\n";
    memcpy(line.text + line.n, tail, strlen(tail));
    if (!hand_over(line.text, line.n + strlen(tail)))
        write_all(line.text, line.n + strlen(tail));
}
