#ifndef BASE_CODE_H
#define BASE_CODE_H

/*
 * Every function that can fail returns one of these. An answer nobody likes (an infeasible
 * deadline, a model that does not converge) is a result, not a code.
 *
 * Each row is X(enumerator, stable name on the wire, short text). The HTTP status of a code is
 * decided in one place, http/problem.c.
 */
#define PV_CODES(X)                                                                                \
    X(PV_OK, "ok", "done")                                                                         \
    X(PV_E_MEMORY, "out_of_memory", "not enough memory")                                           \
    X(PV_E_SYNTAX, "malformed", "the request is malformed")                                        \
    X(PV_E_INVALID, "invalid", "the request is well-formed but not valid")                         \
    X(PV_E_DOMAIN, "out_of_domain", "a number is outside the range a method is defined for")       \
    X(PV_E_TOO_FEW, "too_few_observations", "there are too few observations")                      \
    X(PV_E_SINGULAR, "singular", "the observations do not determine the parameters")               \
    X(PV_E_LIMIT, "limit_exceeded", "a stated limit is exceeded")                                  \
    X(PV_E_TOO_LARGE, "body_too_large", "the body is larger than allowed")                         \
    X(PV_E_HEADERS, "headers_too_large", "the header fields are larger than allowed")              \
    X(PV_E_UNAUTHENTICATED, "unauthenticated", "a valid bearer token is required")                 \
    X(PV_E_FORBIDDEN, "forbidden", "the token lacks the scope")                                    \
    X(PV_E_NOT_FOUND, "not_found", "there is no such thing")                                       \
    X(PV_E_GONE, "gone", "it was there, and its time is over")                                     \
    X(PV_E_METHOD, "method_not_allowed", "the method is not allowed here")                         \
    X(PV_E_CONFLICT, "conflict", "the request conflicts with what is there")                       \
    X(PV_E_CAPACITY, "insufficient_capacity",                                                      \
      "the cluster does not have enough free at that time")                                        \
    X(PV_E_PRECONDITION, "precondition_failed", "a precondition of the request failed")            \
    X(PV_E_MEDIA_TYPE, "unsupported_media_type", "the type or coding of the body is not taken")    \
    X(PV_E_EXPECTATION, "expectation_failed", "the expectation cannot be met")                     \
    X(PV_E_NOT_IMPLEMENTED, "not_implemented", "the protocol element is not supported")            \
    X(PV_E_STORAGE, "storage_quota_exceeded", "the team stores as much as it may")                 \
    X(PV_E_QUOTA, "quota_exceeded", "the team has as many as it may have at once")                 \
    X(PV_E_TIMEOUT, "timeout", "the time allowed for the request is over")                         \
    X(PV_E_RETRY, "retry", "a concurrent change got in the way")                                   \
    X(PV_E_UNAVAILABLE, "unavailable", "the service cannot answer just now")                       \
    X(PV_E_CANCELLED, "cancelled", "the work was cancelled")                                       \
    X(PV_E_LEASE_LOST, "lease_lost", "the work is not this process's any more")                    \
    X(PV_E_ABANDONED, "attempts_exhausted", "the work was given up after several attempts")        \
    X(PV_E_LOST, "process_lost", "the process that did the work is gone")                          \
    X(PV_E_INTERNAL, "internal", "an internal error")

#define PV_CODE_ENUM(code, name, text) code,
enum pv_code { PV_CODES(PV_CODE_ENUM) };
#undef PV_CODE_ENUM

enum { PV_CODE_COUNT = PV_E_INTERNAL + 1 };

/* The caller must look at the code. */
#define PV_MUSTCHECK __attribute__((warn_unused_result))

/* Leave the function with the code of `expression` unless that is PV_OK: for places where nothing
 * is held that would have to be given back. */
#define PV_TRY(expression)                                                                         \
    do {                                                                                           \
        enum pv_code code_ = (expression);                                                         \
        if (code_ != PV_OK)                                                                        \
            return code_;                                                                          \
    } while (0)

/* A printf-like function: `format` and `first` count arguments from 1. */
#define PV_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

/* Stable name ("not_found"), as it stands in problem types and logs. Never NULL. */
const char *pv_code_name(enum pv_code code);

/* One short English phrase for people. Never NULL. */
const char *pv_code_text(enum pv_code code);

#endif
