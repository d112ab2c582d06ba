#ifndef API_HISTORY_IMPORT_LINE_H
#define API_HISTORY_IMPORT_LINE_H

#include "api/api.h"
#include "base/counter_map.h"
#include "core/history/run.h"

/* One line of an import: the run it holds, and who that run is. */

struct import_line {
    uint64_t index; /* among the records, from 0: /3 in pointers */
    uint64_t line;  /* of the file, from 1: for people */
    const char *text;
    size_t n;
};

/*
 * Decode. What is at fault goes into err with pointers such as /3/stages/0/parents and the number
 * of the line in the detail, after what is there already; the result is then err's code.
 * Everything run points at lives in arena. now_us: ids may not lie in the future.
 */
enum pv_code import_line_decode(const struct config *config,
                                const struct import_line *line,
                                int64_t now_us,
                                struct arena *arena,
                                struct run *run,
                                struct pv_error *err) PV_MUSTCHECK;

/* A fault at a member ("" for the whole) of the line. Returns err's code. */
enum pv_code import_line_fault(const struct import_line *line,
                               const char *member,
                               const char *code,
                               const char *detail,
                               struct pv_error *err) PV_MUSTCHECK;

/*
 * Give a run without an id one that its content and its place among equal ones decide, so that the
 * same file imported again names the same runs. seen counts over the whole import.
 */
enum pv_code import_line_name(struct arena *arena,
                              struct counter_map *seen,
                              int64_t now_us,
                              struct run *run,
                              struct pv_error *err) PV_MUSTCHECK;

/* The id that stands for `id` in an application where `id` itself is another's; always the same. */
void import_line_other_id(const char id[37], const char application_id[37], char other[37]);

/*
 * Do both say the same, except for their ids, the moment of recording and the durations of single
 * tasks (which a history may have thinned out)? PV_E_MEMORY.
 */
enum pv_code import_line_same(struct arena *arena,
                              const struct run *a,
                              const struct run *b,
                              bool *same,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
