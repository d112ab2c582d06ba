#include "log/log.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "threads/clock.h"

/* What the block writes to standard error. */
static char written[65536];
static int pipe_ends[2];
static int standard_error;

static void capture_begin(void)
{
    cr_assert_eq(pipe(pipe_ends), 0);
    standard_error = dup(STDERR_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
}

static json_t *capture_end(void)
{
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    close(pipe_ends[1]);
    ssize_t n = read(pipe_ends[0], written, sizeof written - 1);
    close(pipe_ends[0]);
    written[n < 0 ? 0 : n] = '\0';
    if (n <= 0)
        return NULL;
    cr_assert_eq(written[n - 1], '\n', "a line ends");
    cr_assert_eq(strchr(written, '\n'), written + n - 1, "one line");
    json_t *line = json_loads(written, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(line, "not JSON: %s", written);
    return line;
}

static const char *text(const json_t *line, const char *key)
{
    const char *value = json_string_value(json_object_get(line, key));
    return value == NULL ? "(none)" : value;
}

Test(log, a_line_is_one_json_object_with_its_fields)
{
    capture_begin();
    LOG_EVENT(LOG_WARN, "pool.lost", "req-1", LOG_TEXT("host", "db \"1\"\n\\"), LOG_COUNT("n", -3),
              LOG_NUMBER("ms", 1.5), LOG_NUMBER("never", (double)NAN), LOG_TEXT("none", NULL));
    json_t *line = capture_end();
    cr_assert_str_eq(text(line, "level"), "warn");
    cr_assert_str_eq(text(line, "event"), "pool.lost");
    cr_assert_str_eq(text(line, "request_id"), "req-1");
    cr_assert_str_eq(text(line, "host"), "db \"1\"\n\\");
    cr_assert_eq(json_integer_value(json_object_get(line, "n")), -3);
    cr_assert_eq(json_real_value(json_object_get(line, "ms")), 1.5);
    cr_assert(json_is_null(json_object_get(line, "never")));
    cr_assert(json_is_null(json_object_get(line, "none")));
    cr_assert_eq(strlen(text(line, "at")) > 19 && text(line, "at")[10] == 'T', 1);
    json_decref(line);
}

Test(log, an_event_without_request_has_no_request_id)
{
    capture_begin();
    LOG_EVENT(LOG_INFO, "start", NULL);
    json_t *line = capture_end();
    cr_assert_null(json_object_get(line, "request_id"));
    cr_assert_eq(json_object_size(line), 3);
    json_decref(line);
}

Test(log, levels_below_the_least_are_silent)
{
    log_set_level(LOG_WARN);
    capture_begin();
    LOG_EVENT(LOG_INFO, "unheard", NULL);
    cr_assert_null(capture_end());
    capture_begin();
    LOG_EVENT(LOG_ERROR, "heard", NULL);
    json_t *line = capture_end();
    cr_assert_str_eq(text(line, "event"), "heard");
    json_decref(line);
}

Test(log, bad_utf8_and_endless_text_still_make_a_whole_line)
{
    static char endless[20000];
    memset(endless, 'x', sizeof endless - 1);
    capture_begin();
    LOG_EVENT(LOG_INFO, "odd", "\xff\xc0", LOG_TEXT("k1", endless), LOG_TEXT("k2", endless),
              LOG_TEXT("k3", endless), LOG_TEXT("k4", endless), LOG_TEXT("k5", endless),
              LOG_TEXT("k6", endless), LOG_TEXT("k7", endless), LOG_TEXT("k8", endless),
              LOG_TEXT("k9", endless));
    json_t *line = capture_end();
    cr_assert_str_eq(text(line, "request_id"), "\xef\xbf\xbd\xef\xbf\xbd");
    cr_assert_str_eq(text(line, "k1") + 1023, "x", "a text is cut at 1024 bytes");
    cr_assert_null(json_object_get(line, "k9"));
    cr_assert(json_is_true(json_object_get(line, "cut")));
    json_decref(line);
}

Test(log, level_words)
{
    enum log_level level = LOG_INFO;
    cr_assert(log_level_parse("debug", &level) && level == LOG_DEBUG);
    cr_assert(log_level_parse("error", &level) && level == LOG_ERROR);
    cr_assert_not(log_level_parse("loud", &level));
    cr_assert_eq(level, LOG_ERROR, "untouched");
}

/* Reads all that comes until the other end is closed, but not before it may. */
static void *read_all(void *argument)
{
    size_t n = 0;
    ssize_t got;
    char **text = argument;
    size_t capacity = 4 * 1024 * 1024;
    *text = calloc(1, capacity);
    while ((got = read(pipe_ends[0], *text + n, capacity - 1 - n)) > 0)
        n += (size_t)got;
    return NULL;
}

static size_t log_until_full(void)
{
    static char padding[1001];
    memset(padding, 'x', sizeof padding - 1);
    size_t n = 0;
    while (log_dropped() < 10) {
        LOG_EVENT(LOG_INFO, "test.filler", NULL, LOG_COUNT("n", n), LOG_TEXT("padding", padding));
        n++;
    }
    return n;
}

Test(log, who_reads_late_finds_whole_lines_in_order_and_the_count_of_those_missing, .timeout = 60)
{
    pthread_t reader;
    char *all = NULL;
    capture_begin();
    cr_assert(log_start());
    size_t filled = log_until_full();
    cr_assert_eq(pthread_create(&reader, NULL, read_all, &all), 0);
    const struct timespec pause = {.tv_nsec = 5000000};
    uint64_t dropped = log_dropped();
    for (size_t i = 0; i < 200; i++) { /* the buffer empties meanwhile */
        (void)nanosleep(&pause, NULL);
        LOG_EVENT(LOG_INFO, "test.later", NULL, LOG_COUNT("n", i));
    }
    log_stop(20);
    LOG_EVENT(LOG_INFO, "test.last", NULL);
    dup2(standard_error, STDERR_FILENO);
    close(pipe_ends[1]);
    cr_assert_eq(pthread_join(reader, NULL), 0);
    size_t fillers = 0;
    size_t later = 0;
    json_int_t missing = 0;
    const char *event = "";
    char *rest = NULL;
    for (char *at = strtok_r(all, "\n", &rest); at != NULL; at = strtok_r(NULL, "\n", &rest)) {
        static char last[32];
        json_t *line = json_loads(at, 0, NULL);
        cr_assert_not_null(line, "not JSON: %s", at);
        event = text(line, "event");
        json_int_t n = json_integer_value(json_object_get(line, "n"));
        if (strcmp(event, "test.filler") == 0)
            cr_assert_eq((size_t)n, fillers++, "in order");
        later += strcmp(event, "test.later") == 0;
        if (strcmp(event, "log.lines_dropped") == 0)
            missing += json_integer_value(json_object_get(line, "count"));
        (void)snprintf(last, sizeof last, "%s", event);
        event = last;
        json_decref(line);
    }
    cr_assert_eq(fillers, filled - dropped);
    cr_assert_eq((uint64_t)missing, dropped);
    cr_assert_eq(later, 200);
    cr_assert_str_eq(event, "test.last", "after the stop lines are written at once");
    free(all);
}

Test(log, a_stop_waits_only_so_long_for_a_reader, .timeout = 60)
{
    capture_begin();
    cr_assert(log_start());
    (void)log_until_full();
    uint64_t before = clock_monotonic_ns();
    log_stop(1);
    double waited_s = (double)(clock_monotonic_ns() - before) * 1e-9;
    uint64_t dropped = log_dropped();
    LOG_EVENT(LOG_INFO, "test.last", NULL); /* must not block */
    dup2(standard_error, STDERR_FILENO);
    cr_assert_geq(waited_s, 0.99);
    cr_assert_lt(waited_s, 10);
    cr_assert_geq(log_dropped(), dropped);
}
