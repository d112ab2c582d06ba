#ifndef DISPATCH_SIGNATURE_H
#define DISPATCH_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strview.h"

/*
 * Signatures of Standard Webhooks: over "<id>.<timestamp>.<body>", by HMAC-SHA256 with a secret that
 * the receiver knows as well (v1), or by ed25519 with a key of which it knows the public half (v1a).
 * Secrets are wiped by whoever holds them (sodium_memzero).
 */
enum {
    SECRET_BYTES_MIN = 24,
    SECRET_BYTES_MAX = 64,
    SECRET_TEXT = 96,     /* "whsec_..." or "whpk_..." with its end */
    SIGNATURES_MAX = 2,   /* of the secret and of the one before it */
    SIGNATURE_TEXT = 200, /* a header with so many */
    PUBLIC_KEY_BYTES = 32
};

struct signing_secret {
    bool is_key_pair; /* v1a: the bytes are an ed25519 secret key (seed and public key) */
    size_t n;
    unsigned char bytes[SECRET_BYTES_MAX];
};

/* "whsec_" and the base64 of 24 to 64 bytes. false: it is not. */
bool signing_secret_parse(struct strview text, struct signing_secret *secret);

/* 32 random bytes. */
void signing_secret_make(struct signing_secret *secret);

/* A key pair. */
void signing_keys_make(struct signing_secret *secret);

/* "whsec_..." of a secret that is shared. */
void signing_secret_text(const struct signing_secret *secret, char text[SECRET_TEXT]);

/* The public half of a key pair, and its text "whpk_...". */
void signing_public_key(const struct signing_secret *secret, unsigned char key[PUBLIC_KEY_BYTES]);
void public_key_text(const unsigned char key[PUBLIC_KEY_BYTES], char text[SECRET_TEXT]);

/* The header webhook-signature: one for each of at most SIGNATURES_MAX secrets. */
void signature_make(const struct signing_secret secrets[],
                    size_t n,
                    const char *id,
                    int64_t timestamp_s,
                    struct strview body,
                    char header[SIGNATURE_TEXT]);

#endif
