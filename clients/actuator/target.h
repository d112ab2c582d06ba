#ifndef ACTUATOR_TARGET_H
#define ACTUATOR_TARGET_H

#include <stdbool.h>

#include "actuator/quota_loop.h"
#include "cli/failure.h"

/*
 * What a grant is applied to: the cgroup or the container at a place. What such a thing has is a text
 * of its kind, so that what was there before can be put back: "50000 100000" or "max 100000" of a
 * cgroup, "500m 250m" of a container (limit and request, "-" for none).
 */
enum { QUOTA_TEXT = 96, PLACE_TEXT = 1024 };

enum target_outcome {
    TARGET_DONE,
    TARGET_GONE,    /* there is none at this place */
    TARGET_REFUSED, /* for good: the place is not allowed, or the value not possible */
    TARGET_FAILED,  /* may succeed later */
    TARGET_AWAY     /* likewise, and so it is with all other places: the rest of the round waits */
};

struct target {
    void *context;
    bool reads_are_cheap; /* each round reads what is there, and so finds what others changed */
    /* What is at the place. The failure says why, of all outcomes but TARGET_DONE; beside that, what to
     * know nevertheless. */
    enum target_outcome (*read)(void *context,
                                const char *place,
                                char text[QUOTA_TEXT],
                                struct failure *failure);
    enum target_outcome (*write)(void *context,
                                 const char *place,
                                 const char *text,
                                 struct failure *failure);
    /* What so many cores are here. cpu_max: as the service has it; or NULL. */
    void (*format)(const void *context, double cores, const char *cpu_max, char text[QUOTA_TEXT]);
    /* And back: INFINITY without a limit, NAN where it cannot be read. */
    double (*cores)(const char *text);
    void (*close)(void *context);
};

/* Both open_ functions: EXIT_USAGE or EXIT_FAILED. */
struct configuration;
bool cgroup_open(const struct configuration *configuration,
                 struct target *target,
                 struct failure *failure);
bool kubernetes_open(const struct configuration *configuration,
                     struct target *target,
                     struct failure *failure);

/* The place of an executor: its own in the configuration, else by the pattern. Names from the network
 * are one component each; one that is none (empty, ".", "..", with a slash) is refused. */
bool target_place(const struct configuration *configuration,
                  const struct grant *grant,
                  char place[PLACE_TEXT],
                  struct failure *failure);

/* Is it one component of a path, n bytes of a name? */
bool target_is_component(const char *name, size_t n);

#endif
