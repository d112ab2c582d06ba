#define _GNU_SOURCE /* RTLD_NEXT */
#include "names.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <string.h>

#include "threads/clock.h"

typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int
look_up(const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **found)
{
    lookup next;
    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    return next(name, port, hints, found);
}

static atomic_int changes; /* how often that name was looked up */

int getaddrinfo(const char *restrict name,
                const char *restrict port,
                const struct addrinfo *restrict hints,
                struct addrinfo **restrict found)
{
    if (name != NULL && strcmp(name, "hangs.test") == 0) {
        clock_sleep_ms(NAME_HANGS_MS);
        return EAI_AGAIN;
    }
    if (name != NULL && strcmp(name, "changes.test") == 0)
        return look_up(atomic_fetch_add(&changes, 1) == 0 ? "127.0.0.1" : "127.0.0.2", port, hints,
                       found);
    if (name != NULL && strstr(name, ".here.test") != NULL)
        return look_up("127.0.0.1", port, hints, found);
    if (name == NULL || strcmp(name, "mixed.test") != 0)
        return look_up(name, port, hints, found);
    int failed = look_up("10.1.2.3", port, hints, found);
    return failed != 0 ? failed : look_up("127.0.0.1", port, hints, &(*found)->ai_next);
}
