#ifndef SUPPORT_ROUNDS_H
#define SUPPORT_ROUNDS_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* gcc */
#define ROUNDS_SHARE 4
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ROUNDS_SHARE 4
#endif
#endif
#ifndef ROUNDS_SHARE
#define ROUNDS_SHARE 1
#endif

/*
 * How often a test that draws its input repeats: n times in a plain build, which looks for wrong
 * results; a quarter as often under sanitizers, which take several times as long and look for faults
 * of memory in lines that fewer rounds reach.
 */
static inline size_t rounds(size_t n)
{
    return n / ROUNDS_SHARE;
}

#endif
