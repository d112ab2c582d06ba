#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/code.h"

/* Where in a request a fault lies. */
enum pv_place {
    PV_PLACE_POINTER,   /* `at` is a plain JSON Pointer into the body: /jobs/0/name */
    PV_PLACE_PARAMETER, /* `at` is the name of a query or path parameter */
    PV_PLACE_HEADER     /* `at` is the name of a header field */
};

struct pv_fault {
    enum pv_place place;
    char at[256];
    char code[32]; /* stable word for programs: "required", "unknown_field", "out_of_range", ... */
    char detail[192];
};

/* The quota of a team that a request would pass (PV_E_STORAGE, PV_E_QUOTA); name "": none. */
struct pv_quota {
    char name[24]; /* "runs", "bytes", ... */
    int64_t limit;
    int64_t needed; /* what the team would store with the request */
};

/* What is free where not as much is as was asked for (PV_E_CAPACITY). */
struct pv_room {
    bool given;
    double cores, cores_now;                /* all the time that was asked for; now */
    int64_t memory_bytes, memory_bytes_now; /* likewise; -1: unknown */
    int64_t
        earliest_us; /* from when on enough is free, microseconds since 1970; INT64_MIN: unknown */
};

enum { PV_FAULTS_MAX = 8 };

/*
 * Detail of a failure, owned by the caller, filled without allocation. The first code and detail
 * win; faults are collected up to PV_FAULTS_MAX and counted beyond. Every function here accepts err
 * == NULL.
 */
struct pv_error {
    enum pv_code code;
    char detail[256];
    size_t n_faults; /* may exceed PV_FAULTS_MAX: then only the first ones are kept */
    struct pv_fault faults[PV_FAULTS_MAX];
    struct pv_quota quota;
    struct pv_room room;
    unsigned retry_after_s; /* > 0: sent as Retry-After */
    /* PV_E_QUOTA: what the team has its share of, sent as RateLimit; "": of nothing counted. */
    char limit[16];
    char limit_unit[24];
    int64_t limit_most;
    char allow[64]; /* PV_E_METHOD: value of Allow; PV_E_MEDIA_TYPE: of Accept */
};

void pv_error_clear(struct pv_error *err);

/* Record a failure (unless one is there already) and return `code`, so that callers can write
 * `return pv_fail(err, PV_E_..., "...")`. */
enum pv_code pv_fail(struct pv_error *err, enum pv_code code, const char *format, ...)
    PV_PRINTF(3, 4);

/* Record which limit was met: its name and unit on the wire, what there is of it, and when to try
 * again. */
void pv_error_set_limit(struct pv_error *err,
                        const char *limit,
                        const char *unit,
                        int64_t most,
                        unsigned retry_after_s);

/* `return pv_no_memory(err)`: PV_E_MEMORY, recorded as by pv_fail. */
enum pv_code pv_no_memory(struct pv_error *err);

/* Record a fault at a place of the request. The code becomes PV_E_INVALID unless one is set.
 * Returns the code of the error (PV_E_INVALID when err is NULL). */
enum pv_code pv_fault(struct pv_error *err,
                      enum pv_place place,
                      const char *at,
                      const char *code,
                      const char *format,
                      ...) PV_PRINTF(5, 6);

#ifdef __clang_analyzer__
/* clang's analyzer reads one file at a time. What these return is shown to it here, so that it does
 * not follow a failure as if it were a success. */
#define pv_fail(err, code, ...) ((void)pv_fail(err, code, __VA_ARGS__), (code))
#define pv_no_memory(err) ((void)pv_no_memory(err), PV_E_MEMORY)
#define pv_fault(...) ((void)pv_fault(__VA_ARGS__), PV_E_INVALID)
#endif

#endif
