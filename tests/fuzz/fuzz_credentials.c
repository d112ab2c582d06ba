/*
 * Any bytes as a bearer token, as the text of a cursor, and as what a cursor holds. Nothing may
 * crash; a cursor that opens is the very text that its contents seal to; whatever is sealed opens.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/shared/cursor.h"
#include "base/uuid.h"
#include "fuzz.h"
#include "http/token.h"

static const unsigned char key[32] = "the same key for every input....";

static void as_token(const char *text)
{
    char id[37];
    char again[37];
    unsigned char secret[TOKEN_SECRET];
    if (token_parse(text, id, secret))
        FUZZ_REQUIRE(strlen(text) == TOKEN_TEXT - 1 && uuid_parse(id, again));
}

static void as_cursor_text(const char *text, struct arena *arena)
{
    struct cursor cursor;
    if (!cursor_unseal(key, "team", "scope", text, &cursor))
        return;
    char *sealed = cursor_seal(key, "team", "scope", &cursor, arena);
    FUZZ_REQUIRE(sealed != NULL && strcmp(sealed, text) == 0);
}

static void as_cursor(const char *text, size_t n, struct arena *arena)
{
    struct cursor cursor = {.instant_us = (int64_t)n};
    struct cursor back;
    memcpy(cursor.text, text, n < sizeof cursor.text ? n : sizeof cursor.text - 1);
    char *sealed = cursor_seal(key, "team", text, &cursor, arena);
    FUZZ_REQUIRE(sealed != NULL && cursor_unseal(key, "team", text, sealed, &back));
    FUZZ_REQUIRE(back.instant_us == cursor.instant_us && strcmp(back.text, cursor.text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    FUZZ_REQUIRE(sodium_init() >= 0);
    struct arena arena;
    arena_init(&arena, 0);
    char *text = arena_strndup(&arena, (const char *)data, n);
    FUZZ_REQUIRE(text != NULL);
    as_token(text);
    as_cursor_text(text, &arena);
    as_cursor(text, n, &arena);
    arena_fini(&arena);
    return 0;
}
