#ifndef INGEST_MEMBERS_H
#define INGEST_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strview.h"

/*
 * Which files of an archive or folder make up a log, and in which order. Three layouts, recognised
 * by names:
 *
 * rolling     Spark's event log directory: events_<n>_<log>[.codec][.compact], in the numeric order
 *             of n. A compacted part stands for all parts up to its number. The empty marker
 *             appstatus_<log>[.inprogress] next to them is no part.
 * timed       Databricks: eventlog-YYYY-MM-DD--HH-MM[.codec] in the order of time, and last the
 *             one still written, eventlog[.codec].
 * single      a file of any other name: a log of its own (if it looks like one: peek.h).
 *
 * Files whose names begin with a dot are notes of file systems and are passed over.
 */
enum member_layout { MEMBER_ROLLING, MEMBER_TIMED, MEMBER_SINGLE };

struct member {
    const char *name; /* whole path */
    uint64_t where;   /* where the container finds it again */
    struct strview folder;
    struct strview log; /* rolling: <log>; single: the file's own name; timed: empty */
    enum member_layout layout;
    uint64_t number; /* position: n, the digits of the time, or UINT64_MAX for the last */
    bool compact;
    size_t added; /* how many were added before */
};

/* One log: n parts in their order. */
struct member_log {
    const struct member *members;
    size_t n;
    uint64_t missing; /* rolling parts that are not there although later ones are */
};

struct members {
    struct arena arena; /* of all below */
    size_t entries_max;
    size_t name_bytes_max;
    size_t entries; /* added, also those passed over */
    struct member *members;
    size_t n;
    size_t capacity;
    struct member_log *logs; /* after members_arrange */
    size_t n_logs;
};

/* account: what is kept is counted there; borrowed; NULL: nowhere. */
void members_init(struct members *members,
                  size_t entries_max,
                  size_t name_bytes_max,
                  struct ledger_account *account);
void members_fini(struct members *members);

/* One more file. PV_E_LIMIT: too many, or its name too long (detail names the setting). */
enum pv_code members_add(struct members *members,
                         const char *name,
                         uint64_t where,
                         struct pv_error *err) PV_MUSTCHECK;

/*
 * All files are known: find the logs. Of two files with one and the same path the later one counts,
 * as in a tar that was appended to.
 * PV_E_INVALID: two files claim the same place in a log; PV_E_MEMORY.
 */
enum pv_code members_arrange(struct members *members, struct pv_error *err) PV_MUSTCHECK;

/* A name as it may stand in a message: printable ASCII, its end when it is long. */
enum { MEMBERS_SHOWN = 81 };
void members_show(struct strview name, char out[MEMBERS_SHOWN]);

/* The one log there is. PV_E_INVALID when there is none or several (detail says which). */
enum pv_code members_one_log(const struct members *members,
                             const struct member_log **log,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
