#include "api/shared/cursor.h"

#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

static const unsigned char key[32] = "thirty-two bytes of a known key";
static struct arena arena;

static void set_up(void)
{
    cr_assert_geq(sodium_init(), 0);
    arena_init(&arena, 0);
}
static void tear_down(void)
{
    arena_fini(&arena);
}
TestSuite(cursor, .init = set_up, .fini = tear_down, .timeout = 20);

static char *sealed(int64_t instant_us, const char *text)
{
    struct cursor cursor = {.instant_us = instant_us};
    (void)snprintf(cursor.text, sizeof cursor.text, "%s", text);
    char *out = cursor_seal(key, "team", "/v1/runs?label=a", &cursor, &arena);
    cr_assert_not_null(out);
    return out;
}

Test(cursor, comes_back_as_it_was)
{
    char longest[sizeof((struct cursor *)0)->text];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const char *texts[] = {"", "a", "h\xc3\xa9llo / world", longest};
    const int64_t instants[] = {INT64_MIN, -1, 0, 1767606000000000, INT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 5; k++) {
            struct cursor back;
            char *text = sealed(instants[k], texts[i]);
            cr_assert_eq(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789-_"),
                         strlen(text), "fits into a URL as it is");
            cr_assert(cursor_unseal(key, "team", "/v1/runs?label=a", text, &back));
            cr_assert_eq(back.instant_us, instants[k]);
            cr_assert_str_eq(back.text, texts[i]);
        }
    }
}

Test(cursor, opens_only_for_its_team_scope_and_key)
{
    struct cursor back = {.instant_us = 7};
    const unsigned char other[32] = "another key";
    char *text = sealed(1, "id");
    cr_assert_not(cursor_unseal(key, "other", "/v1/runs?label=a", text, &back));
    cr_assert_not(cursor_unseal(key, "team", "/v1/runs?label=b", text, &back));
    cr_assert_not(cursor_unseal(other, "team", "/v1/runs?label=a", text, &back));
    cr_assert_not(cursor_unseal(key, "team/v1/runs?label=a", "", text, &back),
                  "parts do not run together");
    cr_assert_eq(back.instant_us, 7, "untouched");
}

Test(cursor, any_changed_character_is_noticed)
{
    char *text = sealed(1767606000000000, "0197c1de-0000-7000-8000-000000000000");
    struct cursor back;
    for (size_t i = 0; text[i] != '\0'; i++) {
        char was = text[i];
        text[i] = was == 'A' ? 'B' : 'A';
        cr_assert_not(cursor_unseal(key, "team", "/v1/runs?label=a", text, &back), "at %zu", i);
        text[i] = was;
    }
    text[strlen(text) - 1] = '\0';
    cr_assert_not(cursor_unseal(key, "team", "/v1/runs?label=a", text, &back), "cut");
}

Test(cursor, what_is_no_cursor_is_refused)
{
    static char endless[5000];
    memset(endless, 'A', sizeof endless - 1);
    const char *bad[] = {"", "A", "====", "a b", "\xff", "AQ", endless};
    struct cursor back;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_not(cursor_unseal(key, "team", "x", bad[i], &back), "%zu", i);
}
