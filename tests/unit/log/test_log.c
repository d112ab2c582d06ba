#include "log/log.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
