#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * 64-bit FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV non-cryptographic hash
 * algorithm"), for tables. It has no key: who chooses what is hashed can make collisions, so a
 * table that clients fill is bounded, or its keys are ours (ids of teams).
 *
 * Begin with HASH_START and pass on what comes back: hash_text(hash_text(HASH_START, team), name).
 */
#define HASH_START UINT64_C(14695981039346656037)

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

/* The same on machines of either byte order. */
static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (unsigned bit = 0; bit < 64; bit += 8)
        hash = (hash ^ (number >> bit & 255)) * UINT64_C(1099511628211);
    return hash;
}

/* Its NUL included, so that "ab" and "c" are not "a" and "bc". */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    do
        hash = (hash ^ *at) * UINT64_C(1099511628211);
    while (*at++ != '\0');
    return hash;
}

#endif
