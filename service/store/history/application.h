#ifndef STORE_HISTORY_APPLICATION_H
#define STORE_HISTORY_APPLICATION_H

#include "core/history/application.h"
#include "store/store.h"

/* All texts of results live in `arena`. Writers add the audit row themselves. */

/* Fills in id, versions, instants. PV_E_CONFLICT: the name is taken. */
enum pv_code store_application_insert(struct store_tx *tx,
                                      struct arena *arena,
                                      struct application *application,
                                      struct pv_error *err) PV_MUSTCHECK;
/* As it is shown, with the latest run and advice. PV_E_NOT_FOUND. */
enum pv_code store_application_show(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *name,
                                    struct application *application,
                                    struct pv_error *err) PV_MUSTCHECK;
/* The latest run and advice are not read. PV_E_NOT_FOUND. */
enum pv_code store_application_find(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *name,
                                    struct application *application,
                                    struct pv_error *err) PV_MUSTCHECK;
/* The application of that name, made when there is none (ingesting creates). */
enum pv_code store_application_ensure(struct store_tx *tx,
                                      struct arena *arena,
                                      const char *name,
                                      struct application *application,
                                      struct pv_error *err) PV_MUSTCHECK;
/* if_version: RUN_UNKNOWN for unconditional, else PV_E_PRECONDITION when another version is there.
 */
enum pv_code store_application_update(struct store_tx *tx,
                                      struct arena *arena,
                                      const char *name,
                                      int64_t if_version,
                                      const struct application_change *change,
                                      struct application *application,
                                      struct pv_error *err) PV_MUSTCHECK;
/* The application with everything that belongs to it. */
enum pv_code store_application_delete(struct store_tx *tx,
                                      const char *name,
                                      int64_t if_version,
                                      struct pv_error *err) PV_MUSTCHECK;

enum application_order {
    APPLICATION_BY_NAME,         /* of bytes */
    APPLICATION_BY_LAST_RUN,     /* the latest run first, without runs last; by name where equal */
    APPLICATION_BY_NAME_ANY_CASE /* A like a; then by bytes */
};
/* Which applications: those whose names begin so and contain that, and that have all of these
 * labels. */
struct application_filter {
    const char *name_prefix;   /* "": any */
    const char *name_contains; /* likewise; A like a, of ASCII */
    const struct run_label *labels;
    size_t n_labels;
    enum application_order order;
    const char *after; /* cursor: the last name seen; "": the first page */
    int64_t before_us; /* by last run: and when its latest run was; RUN_NO_INSTANT: it has none */
    size_t limit;
};
struct application_list {
    struct application *items;
    size_t n;
    bool more;
};
enum pv_code store_application_list(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct application_filter *filter,
                                    struct application_list *list,
                                    struct pv_error *err) PV_MUSTCHECK;

/* The latest run and advice of n applications, by the bits of enum application_include: a statement
 * for each, which takes a step down an index for every application. */
enum pv_code store_application_load_latest(struct store_tx *tx,
                                           struct arena *arena,
                                           struct application applications[],
                                           size_t n,
                                           unsigned include,
                                           struct pv_error *err) PV_MUSTCHECK;

#endif
