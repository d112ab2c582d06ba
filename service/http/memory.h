#ifndef HTTP_MEMORY_H
#define HTTP_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_account.h"

/*
 * The ledger of what requests hold (base/memory_account.h), with a share for each team that has a
 * request: body, what it is decoded to, work, and the reply until it has been read. Safe from any
 * thread.
 */
struct http_memory {
    struct memory_ledger ledger;
    pthread_mutex_t lock;
    struct team_memory *buckets[256]; /* teams with requests, under the lock */
    size_t highest;                   /* the most in use since memory went back; the sweeper's */
};

void http_memory_init(struct http_memory *memory, size_t max);
void http_memory_fini(struct http_memory *memory);

/*
 * The account's share is that of the team from now on ("": of requests that nobody has asked yet).
 * false: there is no memory for a share; the account is as before.
 */
bool http_memory_open(struct http_memory *memory, struct memory_account *account, const char *team);

/* Give back what the account still holds, and let go of the share. */
void http_memory_close(struct http_memory *memory, struct memory_account *account);

/* What large requests leave in the heaps goes back to the system. Takes milliseconds then. */
void http_memory_trim(struct http_memory *memory);

/* Bring the metrics up to date. */
void http_memory_collect(const struct http_memory *memory);

#endif
