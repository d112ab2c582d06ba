#include "dispatch/seal.h"

#include <sodium.h>
#include <stdio.h>

/* A version byte, a random nonce, then what libsodium makes of it. */
enum {
    VERSION = 1,
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    MAC = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    KEY = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
    HEAD = 1 + NONCE,
    PLACE_TEXT = 160
};

static void derive_key(const unsigned char service_key[32], unsigned char key[KEY])
{
    static const unsigned char context[] = "provisor webhook secrets 1";
    (void)crypto_generichash(key, KEY, context, sizeof context - 1, service_key, 32);
}

static size_t write_place(const struct seal_place *place, char text[PLACE_TEXT])
{
    return (size_t)snprintf(text, PLACE_TEXT, "%s/%s/%s", place->team_id, place->webhook_id,
                            place->purpose);
}

struct strview seal_close(struct arena *arena,
                          const unsigned char service_key[32],
                          const struct seal_place *place,
                          struct strview secret)
{
    unsigned char key[KEY];
    char about[PLACE_TEXT];
    size_t about_n = write_place(place, about);
    unsigned char *out = arena_alloc(arena, HEAD + secret.n + MAC);
    if (out == NULL)
        return (struct strview){NULL, 0};
    out[0] = VERSION;
    randombytes_buf(out + 1, NONCE);
    derive_key(service_key, key);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(
        out + HEAD, NULL, (const unsigned char *)secret.at, secret.n, (const unsigned char *)about,
        about_n, NULL, out + 1, key);
    sodium_memzero(key, sizeof key);
    return (struct strview){(const char *)out, HEAD + secret.n + MAC};
}

enum pv_code seal_open(struct arena *arena,
                       const unsigned char service_key[32],
                       const struct seal_place *place,
                       struct strview sealed,
                       struct strview *secret,
                       struct pv_error *err)
{
    unsigned char key[KEY];
    char about[PLACE_TEXT];
    size_t about_n = write_place(place, about);
    const unsigned char *in = (const unsigned char *)sealed.at;
    if (sealed.n < HEAD + MAC || in[0] != VERSION)
        return pv_fail(err, PV_E_INTERNAL, "a secret is not sealed as this program seals them");
    unsigned char *out = arena_alloc(arena, sealed.n - HEAD - MAC + 1);
    if (out == NULL)
        return pv_no_memory(err);
    derive_key(service_key, key);
    int failed = crypto_aead_xchacha20poly1305_ietf_decrypt(
        out, NULL, NULL, in + HEAD, sealed.n - HEAD, (const unsigned char *)about, about_n, in + 1,
        key);
    sodium_memzero(key, sizeof key);
    if (failed != 0)
        return pv_fail(err, PV_E_INTERNAL,
                       "a secret was not sealed with the key of this service for this webhook");
    out[sealed.n - HEAD - MAC] = '\0';
    *secret = (struct strview){(const char *)out, sealed.n - HEAD - MAC};
    return PV_OK;
}
