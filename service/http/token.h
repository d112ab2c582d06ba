#ifndef HTTP_TOKEN_H
#define HTTP_TOKEN_H

#include <stdbool.h>

/*
 * Bearer tokens: prv_<id>_<secret>_<checksum>. The id (a UUID without dashes) finds the row; the
 * secret is 256 random bits, so a fast keyed hash is enough to keep; by the checksum
 * a scanner for leaked secrets and a client recognise a token, or a mistyped one, without asking the
 * service. Callers have run sodium_init.
 */
enum {
    TOKEN_SECRET = 32,
    TOKEN_HASH = 32,
    TOKEN_TEXT = 4 + 32 + 1 + 64 + 1 + 8 + 1 /* with its NUL */
};

/* A new secret for the token with this id (UUID text). Wipe both when they are no longer needed. */
void token_make(const char id[37], unsigned char secret[TOKEN_SECRET], char text[TOKEN_TEXT]);

/* false: not a token of ours, or its checksum is wrong; id and secret are undefined then. */
bool token_parse(const char *text, char id[37], unsigned char secret[TOKEN_SECRET]);

/* What is stored of a secret: keyed BLAKE2b over id and secret. */
void token_hash(const unsigned char key[32],
                const char id[37],
                const unsigned char secret[TOKEN_SECRET],
                unsigned char hash[TOKEN_HASH]);

/* Compares in constant time. */
bool token_matches(const unsigned char key[32],
                   const char id[37],
                   const unsigned char secret[TOKEN_SECRET],
                   const unsigned char hash[TOKEN_HASH]);

#endif
