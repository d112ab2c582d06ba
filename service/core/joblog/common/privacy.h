#ifndef CORE_JOBLOG_COMMON_PRIVACY_H
#define CORE_JOBLOG_COMMON_PRIVACY_H

#include "core/joblog/common/json.h"
#include "core/joblog/common/limits.h"
#include "core/joblog/common/secret_scan.h"

/*
 * The free texts of a log that a run keeps, made fit to keep: the names of stages, the name and ids
 * of the application, Spark's version. What looks like a credential is never kept, whatever the
 * policy. Lengths of results do not count the NUL behind them.
 */

/*
 * Stage names are call sites, "collect at /srv/jobs/etl.py:12": the method, the source file and the
 * line are kept, its directory by the policy for paths. Anything else may be SQL or what a user
 * wrote: kept, hashed ("text:" and 16 hexadecimal digits) or dropped by the policy for SQL text; in
 * a text that is kept the policies for paths and host names hold word by word. 0: nothing is kept.
 */
size_t privacy_stage_name(const struct joblog_privacy *privacy,
                          struct json_text text,
                          char out[SCREEN_NAME_MAX]);

/*
 * An id of an application or attempt: letters, digits, '-' and '_' with at least one digit, as
 * every cluster manager makes them; another text becomes "id:" and its hash, so that the same log
 * is still known again. False: nothing is left of it.
 */
bool privacy_id(const struct joblog_privacy *privacy, char *id, size_t capacity);

/*
 * The name of an application is its owner's identifier and kept as it is, except for SQL: Hive calls
 * jobs after their query. Unless the policy keeps SQL, the name becomes "query(HASH)", which no rule
 * folds.
 */
void privacy_application_name(const struct joblog_privacy *privacy, char *name, size_t capacity);

/*
 * The host of a node: as it is, "host:" and its hash, or nothing (""), by the policy for host names.
 * What is no name or address of a host, or looks like a credential, is hashed where it would be
 * kept.
 */
void privacy_node_name(const struct joblog_privacy *privacy,
                       struct json_text host,
                       char out[SCREEN_NAME_MAX]);

/* Does it look like a version: "3.5.1", "3.1.1-amzn-0"? */
bool privacy_is_version(const char *text);

#endif
