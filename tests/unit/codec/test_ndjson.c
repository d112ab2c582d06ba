#include "codec/json/ndjson.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct seen {
    char text[256];
    size_t n;
    unsigned stop_at; /* refuse this line */
};

/* Writes "line:text|" for each line. */
static enum pv_code
note(void *context, uint64_t line, const char *text, size_t n, struct pv_error *err)
{
    struct seen *seen = context;
    if (line == seen->stop_at)
        return pv_fail(err, PV_E_CONFLICT, "no");
    int more = snprintf(seen->text + seen->n, sizeof seen->text - seen->n, "%u:%.*s|",
                        (unsigned)line, (int)n, text);
    seen->n += (size_t)more;
    return PV_OK;
}

static enum pv_code
split(const char *bytes, size_t piece, size_t most, struct seen *seen, struct pv_error *err)
{
    struct ndjson lines;
    size_t n = strlen(bytes);
    enum pv_code code = PV_OK;
    pv_error_clear(err);
    ndjson_init(&lines, most, NULL, note, seen);
    for (size_t at = 0; code == PV_OK && at < n; at += piece)
        code = ndjson_feed(&lines, bytes + at, at + piece < n ? piece : n - at, err);
    if (code == PV_OK)
        code = ndjson_finish(&lines, err);
    ndjson_fini(&lines);
    return code;
}

/* The same lines come out however the bytes are cut; blank ones are passed over but counted. */
Test(ndjson, lines_do_not_depend_on_pieces)
{
    static const char text[] = "{\"a\": 1}\n\n \t\r\n{}\r\n[\n\nlast";
    for (size_t piece = 1; piece <= sizeof text; piece++) {
        struct seen seen = {.n = 0};
        struct pv_error err;
        cr_assert_eq(split(text, piece, 100, &seen, &err), PV_OK);
        cr_assert_str_eq(seen.text, "1:{\"a\": 1}|4:{}\r|5:[|7:last|");
    }
}

/* A line may be as long as the limit and no longer, wherever it is cut; the error names it. */
Test(ndjson, bounds_lines)
{
    for (size_t piece = 1; piece <= 12; piece++) {
        struct seen seen = {.n = 0};
        struct pv_error err;
        cr_assert_eq(split("1234\n1234\n", piece, 4, &seen, &err), PV_OK);
        cr_assert_eq(split("1234\n12345\n", piece, 4, &seen, &err), PV_E_LIMIT);
        cr_assert(strstr(err.detail, "line 2 ") != NULL);
        cr_assert_eq(split("12345", piece, 4, &seen, &err), PV_E_LIMIT);
    }
}

/* What the taker answers is passed on, and nothing more is taken. */
Test(ndjson, stops_where_the_taker_does)
{
    struct seen seen = {.stop_at = 2};
    struct pv_error err;
    cr_assert_eq(split("a\nb\nc\n", 3, 10, &seen, &err), PV_E_CONFLICT);
    cr_assert_str_eq(seen.text, "1:a|");
}

static enum pv_code
note_and_pause(void *context, uint64_t line, const char *text, size_t n, struct pv_error *err)
{
    struct ndjson *lines = context;
    static struct seen seen;
    lines->pause = true;
    return note(&seen, line, text, n, err);
}

/* A taker that has enough gets one line of each call, and none is lost. */
Test(ndjson, a_taker_may_pause)
{
    static const char text[] = "a\n\nbc\nd";
    static const size_t ends[] = {2, 6, 7};
    size_t at = 0;
    struct ndjson lines;
    struct pv_error err = {.code = PV_OK};
    ndjson_init(&lines, 10, NULL, note_and_pause, &lines);
    for (size_t i = 0; i < 3; i++) {
        size_t taken = 0;
        cr_assert_eq(ndjson_feed_some(&lines, text + at, strlen(text) - at, &taken, &err), PV_OK);
        at += taken;
        cr_assert_eq(at, ends[i]);
        cr_assert_eq(lines.pause, i < 2, "the last line has no end yet");
    }
    cr_assert_eq(ndjson_finish(&lines, &err), PV_OK);
    cr_assert_eq(lines.line, 5);
    ndjson_fini(&lines);
}

/* The beginning of a line is held until its end has come, and counted for as long. */
Test(ndjson, an_unfinished_line_is_counted)
{
    struct ledger ledger = {.max = 1000, .unit = 1000};
    struct ledger_share share = {.ledger = &ledger};
    struct ledger_account account = {.share = &share};
    struct seen seen = {.n = 0};
    struct ndjson lines;
    struct pv_error err = {.code = PV_OK};
    static const char piece[300];
    ndjson_init(&lines, 10000, &account, note, &seen);
    cr_assert_eq(ndjson_feed(&lines, piece, sizeof piece, &err), PV_OK);
    cr_assert_geq(account.used, sizeof piece);
    enum pv_code code = PV_OK;
    for (size_t i = 0; i < 3 && code == PV_OK; i++)
        code = ndjson_feed(&lines, piece, sizeof piece, &err);
    cr_assert_eq(code, PV_E_MEMORY);
    cr_assert(account.refused);
    ndjson_fini(&lines);
    cr_assert_eq(account.used, 0);
}
