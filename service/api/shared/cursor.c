#include "api/shared/cursor.h"

#include <sodium.h>
#include <string.h>

enum {
    VERSION = 1,
    MAC_BYTES = 16,
    INSTANT_AT = 1 + MAC_BYTES,
    TEXT_AT = INSTANT_AT + 8,
    TEXT_MAX = sizeof((struct cursor *)0)->text - 1,
    RAW_MAX = TEXT_AT + TEXT_MAX
};

/* A length before each part, so that no two lists of parts read alike. */
static void cursor_absorb(crypto_generichash_state *state, const void *bytes, size_t n)
{
    uint64_t length = n;
    (void)crypto_generichash_update(state, (const unsigned char *)&length, sizeof length);
    (void)crypto_generichash_update(state, bytes, n);
}

static void seal_mac(const unsigned char key[32],
                     const char *team_id,
                     const char *scope,
                     const unsigned char *sealed,
                     size_t n,
                     unsigned char mac[MAC_BYTES])
{
    static const char purpose[] = "provisor cursor 1";
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, key, 32, MAC_BYTES);
    cursor_absorb(&state, purpose, sizeof purpose);
    cursor_absorb(&state, team_id, strlen(team_id));
    cursor_absorb(&state, scope, strlen(scope));
    cursor_absorb(&state, sealed, n);
    (void)crypto_generichash_final(&state, mac, MAC_BYTES);
}

char *cursor_seal(const unsigned char key[32],
                  const char *team_id,
                  const char *scope,
                  const struct cursor *cursor,
                  struct arena *arena)
{
    unsigned char raw[RAW_MAX];
    size_t n = strnlen(cursor->text, TEXT_MAX);
    uint64_t instant = (uint64_t)cursor->instant_us;
    raw[0] = VERSION;
    for (size_t i = 0; i < 8; i++)
        raw[INSTANT_AT + i] = (unsigned char)(instant >> (56 - 8 * i));
    memcpy(raw + TEXT_AT, cursor->text, n);
    seal_mac(key, team_id, scope, raw + INSTANT_AT, 8 + n, raw + 1);

    size_t length =
        sodium_base64_encoded_len(TEXT_AT + n, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *text = arena_alloc(arena, length);
    if (text != NULL)
        (void)sodium_bin2base64(text, length, raw, TEXT_AT + n,
                                sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return text;
}

bool cursor_unseal(const unsigned char key[32],
                   const char *team_id,
                   const char *scope,
                   const char *text,
                   struct cursor *cursor)
{
    unsigned char raw[RAW_MAX];
    size_t n = 0;
    const char *end = NULL;
    if (sodium_base642bin(raw, sizeof raw, text, strlen(text), NULL, &n, &end,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        *end != '\0' || n < TEXT_AT || raw[0] != VERSION)
        return false;
    unsigned char mac[MAC_BYTES];
    seal_mac(key, team_id, scope, raw + INSTANT_AT, n - INSTANT_AT, mac);
    if (sodium_memcmp(mac, raw + 1, MAC_BYTES) != 0)
        return false;
    uint64_t instant = 0;
    for (size_t i = 0; i < 8; i++)
        instant = instant << 8 | raw[INSTANT_AT + i];
    memcpy(&cursor->instant_us, &instant, sizeof instant);
    memcpy(cursor->text, raw + TEXT_AT, n - TEXT_AT);
    cursor->text[n - TEXT_AT] = '\0';
    return true;
}
