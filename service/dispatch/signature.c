#include "dispatch/signature.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#define SECRET_PREFIX "whsec_"
#define PUBLIC_PREFIX "whpk_"

_Static_assert(PUBLIC_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "one size of public key");
_Static_assert(SECRET_BYTES_MAX >= crypto_sign_SECRETKEYBYTES, "a key pair fits");

bool signing_secret_parse(struct strview text, struct signing_secret *secret)
{
    const size_t prefix = sizeof SECRET_PREFIX - 1;
    const char *end = NULL;
    if (text.n <= prefix || memcmp(text.at, SECRET_PREFIX, prefix) != 0)
        return false;
    *secret = (struct signing_secret){.is_key_pair = false};
    return sodium_base642bin(secret->bytes, sizeof secret->bytes, text.at + prefix, text.n - prefix,
                             NULL, &secret->n, &end, sodium_base64_VARIANT_ORIGINAL) == 0 &&
           end == text.at + text.n && secret->n >= SECRET_BYTES_MIN;
}

void signing_secret_make(struct signing_secret *secret)
{
    enum { MADE = 32 };
    *secret = (struct signing_secret){.n = MADE};
    randombytes_buf(secret->bytes, MADE);
}

void signing_keys_make(struct signing_secret *secret)
{
    unsigned char public_key[crypto_sign_PUBLICKEYBYTES];
    *secret = (struct signing_secret){.is_key_pair = true, .n = crypto_sign_SECRETKEYBYTES};
    (void)crypto_sign_keypair(public_key, secret->bytes);
}

/* The prefix, then base64. */
static void
write_text(char text[SECRET_TEXT], const char *prefix, const unsigned char *bytes, size_t n)
{
    int at = snprintf(text, SECRET_TEXT, "%s", prefix);
    (void)sodium_bin2base64(text + at, SECRET_TEXT - (size_t)at, bytes, n,
                            sodium_base64_VARIANT_ORIGINAL);
}

void signing_secret_text(const struct signing_secret *secret, char text[SECRET_TEXT])
{
    write_text(text, SECRET_PREFIX, secret->bytes, secret->n);
}

void signing_public_key(const struct signing_secret *secret, unsigned char key[PUBLIC_KEY_BYTES])
{
    (void)crypto_sign_ed25519_sk_to_pk(key, secret->bytes);
}

void public_key_text(const unsigned char key[PUBLIC_KEY_BYTES], char text[SECRET_TEXT])
{
    write_text(text, PUBLIC_PREFIX, key, PUBLIC_KEY_BYTES);
}

/* What is signed, piece by piece: id and timestamp with their dots, then the body. */
static size_t sign_shared(const struct signing_secret *secret,
                          struct strview head,
                          struct strview body,
                          unsigned char out[crypto_sign_BYTES])
{
    crypto_auth_hmacsha256_state state;
    (void)crypto_auth_hmacsha256_init(&state, secret->bytes, secret->n);
    (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)head.at, head.n);
    (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)body.at, body.n);
    (void)crypto_auth_hmacsha256_final(&state, out);
    sodium_memzero(&state, sizeof state);
    return crypto_auth_hmacsha256_BYTES;
}

/* Plain ed25519 reads a message twice, so it has to lie in one piece. */
static size_t sign_by_key(const struct signing_secret *secret,
                          struct strview message,
                          unsigned char out[crypto_sign_BYTES])
{
    (void)crypto_sign_detached(out, NULL, (const unsigned char *)message.at, message.n,
                               secret->bytes);
    return crypto_sign_BYTES;
}

enum { HEAD_TEXT = 128, MESSAGE_MAX = HEAD_TEXT + (32 << 10) };

static size_t sign(const struct signing_secret *secret,
                   struct strview head,
                   struct strview body,
                   unsigned char out[crypto_sign_BYTES])
{
    char message[MESSAGE_MAX];
    if (!secret->is_key_pair)
        return sign_shared(secret, head, body, out);
    if (head.n + body.n > sizeof message)
        return 0; /* bodies are bounded to less (EVENT_BODY_MAX) */
    memcpy(message, head.at, head.n);
    memcpy(message + head.n, body.at, body.n);
    return sign_by_key(secret, (struct strview){message, head.n + body.n}, out);
}

void signature_make(const struct signing_secret secrets[],
                    size_t n,
                    const char *id,
                    int64_t timestamp_s,
                    struct strview body,
                    char header[SIGNATURE_TEXT])
{
    char head[HEAD_TEXT];
    int head_n = snprintf(head, sizeof head, "%s.%" PRId64 ".", id, timestamp_s);
    size_t at = 0;
    header[0] = '\0';
    for (size_t i = 0; i < n && i < SIGNATURES_MAX; i++) {
        unsigned char bytes[crypto_sign_BYTES];
        size_t signed_n = sign(&secrets[i], (struct strview){head, (size_t)head_n}, body, bytes);
        at += (size_t)snprintf(header + at, SIGNATURE_TEXT - at, "%s%s", i == 0 ? "" : " ",
                               secrets[i].is_key_pair ? "v1a," : "v1,");
        (void)sodium_bin2base64(header + at, SIGNATURE_TEXT - at, bytes, signed_n,
                                sodium_base64_VARIANT_ORIGINAL);
        at += strlen(header + at);
    }
}
