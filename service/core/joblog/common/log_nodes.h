#ifndef CORE_JOBLOG_COMMON_LOG_NODES_H
#define CORE_JOBLOG_COMMON_LOG_NODES_H

#include "base/arena.h"
#include "core/history/run.h"
#include "core/joblog/common/idmap.h"
#include "core/joblog/common/json.h"
#include "core/joblog/common/limits.h"
#include "core/joblog/common/secret_scan.h"

/*
 * The nodes that a log names, numbered in order of appearance. Hosts are compared as the log has
 * them; what is kept of a host is its name by the policy for host names, so that under
 * `drop` they are numbers alone.
 */
#define LOG_NODE_UNKNOWN UINT32_MAX

/* More than any cluster has; a host beyond is unknown. */
enum { LOG_NODES_MAX = 10000 };

struct log_node {
    char name[SCREEN_NAME_MAX]; /* "": dropped */
    int64_t cores;              /* held now */
    int64_t most_cores;         /* at once so far */
};

struct log_nodes {
    struct idmap at; /* hash of the host -> index in items */
    struct log_node *items;
    size_t n;
    size_t capacity;
};

/* The number of a host, which becomes a node when it is new; LOG_NODE_UNKNOWN for an absent text, an
 * empty one, or a host beyond LOG_NODES_MAX. PV_E_LIMIT, PV_E_MEMORY as budget_grow. O(1). */
enum pv_code log_nodes_find(struct log_nodes *nodes,
                            struct budget *budget,
                            const struct joblog_privacy *privacy,
                            struct json_text host,
                            uint32_t *node,
                            struct pv_error *err) PV_MUSTCHECK;

/* So many cores more, or fewer, are held on a node now. An unknown node or number is passed over. */
void log_nodes_hold(struct log_nodes *nodes, uint32_t node, int64_t cores);

/* The nodes become those of the run. False: no memory. */
bool log_nodes_build(const struct log_nodes *nodes, struct arena *arena, struct run *run);

/* The list where any of its n numbers is known, NULL otherwise. O(n). */
const int64_t *log_known_list(const int64_t values[], size_t n);

void log_nodes_fini(struct log_nodes *nodes, struct budget *budget);

#endif
