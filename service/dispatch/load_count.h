#ifndef DISPATCH_LOAD_COUNT_H
#define DISPATCH_LOAD_COUNT_H

#include <stddef.h>

/*
 * How many transfers are under way to each host, or for each team: a count by a key. Any number of
 * webhooks, of any number of teams, may lead to one host, and together they are not to be an attack on
 * it; and no team is to take all connections. Of one thread.
 */
struct load_count {
    struct load_count *next;
    size_t users;   /* transfers that wait or are under way */
    size_t running; /* the caller's to count */
    char key[];
};

/* The count of this key, which is copied, one user more; NULL: no memory. The list begins as NULL. */
struct load_count *load_count_join(struct load_count **counts, const char *key);

/* Likewise of the host of this URL, by the key "https://name:port"; NULL, too, where it is no URL. */
struct load_count *load_count_join_host(struct load_count **counts, const char *url);

/* The last user ends it. NULL is allowed. */
void load_count_leave(struct load_count **counts, struct load_count *count);

#endif
