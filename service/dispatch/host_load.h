#ifndef DISPATCH_HOST_LOAD_H
#define DISPATCH_HOST_LOAD_H

#include <stddef.h>

/*
 * How many transfers are under way to each host. Any number of webhooks, of any number of teams, may
 * lead to one, and together they are not to be an attack on it, nor take all connections. Of one thread.
 */
struct host_load {
    struct host_load *next;
    size_t users;   /* transfers that wait or are under way */
    size_t running; /* the caller's to count */
    char name[];    /* "https://name:port" */
};

/* The host of this URL, one user more; NULL: no memory, or no URL. The list begins as NULL. */
struct host_load *host_load_join(struct host_load **hosts, const char *url);

/* The last user ends it. NULL is allowed. */
void host_load_leave(struct host_load **hosts, struct host_load *host);

#endif
