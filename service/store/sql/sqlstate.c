#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "store/store_internal.h"
#include "store/usage/usage.h"

enum { QUOTA_RETRY_S = 600 }; /* what passes with time passes slowly: keys by the day */

/*
 * Longest match first: five characters, then the class. The manual's appendix A lists the states;
 * those with PV are raised by our own functions.
 */
static const struct {
    const char *prefix;
    enum pv_code code;
    bool discard;
} meanings[] = {
    {"23505", PV_E_CONFLICT, false},   /* unique_violation */
    {"23503", PV_E_INVALID, false},    /* foreign_key_violation */
    {"23514", PV_E_INVALID, false},    /* check_violation */
    {"22021", PV_E_INVALID, false},    /* character_not_in_repertoire: a NUL in a text */
    {"25006", PV_E_UNAVAILABLE, true}, /* read_only_sql_transaction: a standby since failover */
    {"40001", PV_E_RETRY, false},      /* serialization_failure */
    {"40P01", PV_E_RETRY, false},      /* deadlock_detected */
    {"55P03", PV_E_RETRY, false},      /* lock_not_available */
    {"57014", PV_E_TIMEOUT, false},    /* query_canceled: statement_timeout */
    {"25P03", PV_E_TIMEOUT, true},     /* idle_in_transaction_session_timeout */
    {"PV403", PV_E_FORBIDDEN, false},  /* raised by provisor.require_operator() */
    {"PV422", PV_E_STORAGE, false},    /* raised by provisor.refuse_quota() */
    {"PV429", PV_E_QUOTA, false},      /* likewise: one that passes with time */
    {"54", PV_E_LIMIT, false},         /* program_limit_exceeded: too long for an index, say */
    {"53", PV_E_UNAVAILABLE, true},    /* insufficient_resources: connections, disk, memory */
    {"57P", PV_E_UNAVAILABLE, true},   /* admin_shutdown, crash_shutdown, cannot_connect_now */
    {"08", PV_E_UNAVAILABLE, true},    /* connection exceptions, PgBouncer's own errors too */
};

enum pv_code sqlstate_code(const char *state, bool *discard)
{
    *discard = true;
    if (state == NULL || *state == '\0')
        return PV_E_UNAVAILABLE;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (strncmp(state, meanings[i].prefix, strlen(meanings[i].prefix)) == 0) {
            *discard = meanings[i].discard;
            return meanings[i].code;
        }
    }
    *discard = false;
    return PV_E_INTERNAL;
}

static const char *sqlstate_field(const PGresult *result, int which)
{
    const char *text = result == NULL ? NULL : PQresultErrorField(result, which);
    return text == NULL ? "" : text;
}

/* Names of tables and constraints, never the message: it may quote what a client sent. */
static void log_failure(const PGresult *result, enum pv_code code, const char *request_id)
{
    LOG_EVENT(code == PV_E_INTERNAL ? LOG_ERROR : LOG_WARN, "store.statement_failed", request_id,
              LOG_TEXT("sqlstate", sqlstate_field(result, PG_DIAG_SQLSTATE)),
              LOG_TEXT("code", pv_code_name(code)),
              LOG_TEXT("table", sqlstate_field(result, PG_DIAG_TABLE_NAME)),
              LOG_TEXT("constraint", sqlstate_field(result, PG_DIAG_CONSTRAINT_NAME)),
              LOG_TEXT("routine", sqlstate_field(result, PG_DIAG_SOURCE_FUNCTION)));
}

static const char *detail_of(enum pv_code code)
{
    switch ((unsigned)code) {
    case PV_E_CONFLICT:
        return "something of that name is there already";
    case PV_E_INVALID:
        return "the request refers to something that is not there or breaks a rule of the data";
    case PV_E_RETRY:
        return "a concurrent change got in the way; try again";
    case PV_E_TIMEOUT:
        return "the database took longer than a statement may";
    case PV_E_FORBIDDEN:
        return "only the operator's team may do this";
    case PV_E_LIMIT:
        return "a value is larger than the database can index";
    case PV_E_UNAVAILABLE:
        return "the database is not available just now";
    default:
        return "the database refused a statement";
    }
}

/* "runs 20 21": the quota, its limit, what is needed, as provisor.refuse_quota() writes them. */
static enum pv_code refuse_quota(const PGresult *result,
                                 enum pv_code code,
                                 const char *request_id,
                                 struct pv_error *err)
{
    struct pv_quota quota = {.name = ""};
    const char *text = sqlstate_field(result, PG_DIAG_MESSAGE_DETAIL);
    size_t n = strcspn(text, " ");
    char *end = NULL;
    if (n < sizeof quota.name) {
        memcpy(quota.name, text, n);
        quota.limit = strtoll(text + n, &end, 10);
        quota.needed = strtoll(end, NULL, 10);
    }
    LOG_EVENT(LOG_INFO, "store.over_quota", request_id, LOG_TEXT("quota", quota.name));
    (void)pv_fail(err, code,
                  "with this request the team would store %" PRId64 " %s, and its quota is %" PRId64
                  ": %s",
                  quota.needed, quota.name, quota.limit, usage_remedy(quota.name));
    if (err != NULL) {
        err->quota = quota;
        err->retry_after_s = code == PV_E_QUOTA ? QUOTA_RETRY_S : 0;
    }
    return code;
}

enum pv_code
sqlstate_fail(const PGresult *result, const char *request_id, bool *discard, struct pv_error *err)
{
    const char *state = sqlstate_field(result, PG_DIAG_SQLSTATE);
    enum pv_code code = sqlstate_code(state, discard);
    if (code == PV_E_STORAGE || code == PV_E_QUOTA)
        return refuse_quota(result, code, request_id[0] == '\0' ? NULL : request_id, err);
    log_failure(result, code, request_id[0] == '\0' ? NULL : request_id);
    (void)pv_fail(err, code, "%s", detail_of(code));
    if (err != NULL && (code == PV_E_UNAVAILABLE || code == PV_E_TIMEOUT || code == PV_E_RETRY))
        err->retry_after_s = 1;
    return code;
}
