#include "http/token.h"

#include <sodium.h>
#include <string.h>

#include "base/uuid.h"

enum { ID_AT = 4, SECRET_AT = ID_AT + 32 + 1, CHECKSUM_AT = SECRET_AT + 64 + 1, CHECKSUM = 4 };

/* The shortest BLAKE2b the library makes, cut to the 8 digits of the checksum. */
static void checksum(const char *text, char digits[2 * CHECKSUM + 1])
{
    unsigned char hash[crypto_generichash_BYTES_MIN];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)text, CHECKSUM_AT - 1, NULL,
                             0);
    (void)sodium_bin2hex(digits, 2 * CHECKSUM + 1, hash, CHECKSUM);
}

void token_make(const char id[37], unsigned char secret[TOKEN_SECRET], char text[TOKEN_TEXT])
{
    memcpy(text, "prv_", 4); /* NOLINT(bugprone-not-null-terminated-result): the text goes on */
    size_t at = ID_AT;
    for (size_t i = 0; i < 36; i++)
        if (id[i] != '-')
            text[at++] = id[i];
    text[at] = '_';
    randombytes_buf(secret, TOKEN_SECRET);
    (void)sodium_bin2hex(text + SECRET_AT, 65, secret, TOKEN_SECRET);
    text[CHECKSUM_AT - 1] = '_';
    checksum(text, text + CHECKSUM_AT);
}

static bool parse_id(const char *digits, char id[37])
{
    char dashed[37];
    size_t at = 0;
    for (size_t i = 0; i < 32; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20)
            dashed[at++] = '-';
        dashed[at++] = digits[i];
    }
    dashed[at] = '\0';
    return uuid_parse(dashed, id);
}

bool token_parse(const char *text, char id[37], unsigned char secret[TOKEN_SECRET])
{
    if (strnlen(text, TOKEN_TEXT) != TOKEN_TEXT - 1 || memcmp(text, "prv_", 4) != 0 ||
        text[SECRET_AT - 1] != '_' || text[CHECKSUM_AT - 1] != '_')
        return false;
    char digits[2 * CHECKSUM + 1];
    checksum(text, digits);
    size_t n = 0;
    return memcmp(digits, text + CHECKSUM_AT, 2 * CHECKSUM) == 0 && parse_id(text + ID_AT, id) &&
           sodium_hex2bin(secret, TOKEN_SECRET, text + SECRET_AT, 64, NULL, &n, NULL) == 0 &&
           n == TOKEN_SECRET;
}

void token_hash(const unsigned char key[32],
                const char id[37],
                const unsigned char secret[TOKEN_SECRET],
                unsigned char hash[TOKEN_HASH])
{
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, key, 32, TOKEN_HASH);
    (void)crypto_generichash_update(&state, (const unsigned char *)"provisor token 1", 16);
    (void)crypto_generichash_update(&state, (const unsigned char *)id, 36);
    (void)crypto_generichash_update(&state, secret, TOKEN_SECRET);
    (void)crypto_generichash_final(&state, hash, TOKEN_HASH);
}

bool token_matches(const unsigned char key[32],
                   const char id[37],
                   const unsigned char secret[TOKEN_SECRET],
                   const unsigned char hash[TOKEN_HASH])
{
    unsigned char wanted[TOKEN_HASH];
    token_hash(key, id, secret, wanted);
    return sodium_memcmp(wanted, hash, TOKEN_HASH) == 0;
}
