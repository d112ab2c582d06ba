#ifndef ACTUATOR_CONFIGURATION_H
#define ACTUATOR_CONFIGURATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/failure.h"

/*
 * What the configuration file says: which loop is applied, to what, and what to do when no samples
 * come any more (docs/quota-loops.md, "Actuator"). YAML or JSON. Texts live in `document`.
 */
enum stale_action {
    STALE_KEEP,    /* quotas stay as they are */
    STALE_RELEASE, /* each gets what it had before the first quota was written */
    STALE_FLOOR    /* who has less than floor_cores is raised to it */
};

enum target_kind { TARGET_CGROUP, TARGET_KUBERNETES };

struct configuration {
    json_t *document;
    const char *loop;
    double poll_s;        /* 0: half of the loop's sample_s */
    double stale_after_s; /* 0: not given */
    enum stale_action on_stale;
    double floor_cores;
    bool restore_on_exit;
    bool restore_on_leave;  /* of executors that the loop no longer names */
    const char *state_file; /* NULL: what was there before is forgotten with the process */
    const json_t *workers;  /* names whose executors are applied; NULL: all */

    enum target_kind kind;
    const char *pattern;     /* of the place of an executor */
    const json_t *executors; /* id -> place, before the pattern; NULL: none */

    const char *root;  /* of cgroups */
    int64_t period_us; /* for loops without `cgroup` */

    const char *api; /* URL of Kubernetes; NULL: that of the cluster this runs in */
    const char *token_file;
    const char *ca_file;
    const char *namespace_name; /* NULL: this pod's */
    const char *container;
    bool equal_requests; /* requests.cpu follows limits.cpu */
};

/* EXIT_USAGE, with the place, where something is unknown, missing or out of range. */
bool configuration_read(const char *file,
                        struct configuration *configuration,
                        struct failure *failure);
/* How long a loop may be without a sample: as given, else 15 s or three times its sample_s, whichever
 * is longer, so that one with few samples is not stale between them. */
double configuration_stale_after_s(const struct configuration *configuration, double sample_s);

void configuration_free(struct configuration *configuration);

#endif
