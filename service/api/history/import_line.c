#include "api/history/import_line.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/uuid.h"
#include "codec/history/run.h"

/* --- decoding --- */

enum pv_code import_line_fault(const struct import_line *line,
                               const char *member,
                               const char *code,
                               const char *detail,
                               struct pv_error *err)
{
    char pointer[256];
    (void)snprintf(pointer, sizeof pointer, "/%" PRIu64 "%s", line->index, member);
    return pv_fault(err, PV_PLACE_POINTER, pointer, code, "line %" PRIu64 ": %s", line->line,
                    detail);
}

/* What is wrong with one line joins what is wrong with others. */
static enum pv_code
pass_faults(const struct import_line *line, const struct pv_error *why, struct pv_error *err)
{
    if (why->n_faults == 0 && why->code != PV_E_SYNTAX && why->code != PV_E_LIMIT &&
        why->code != PV_E_INVALID)
        return pv_fail(err, why->code, "%s", why->detail);
    if (why->code == PV_E_SYNTAX)
        (void)pv_fail(err, PV_E_SYNTAX, "line %" PRIu64 ": %.200s", line->line, why->detail);
    if (why->n_faults == 0)
        return import_line_fault(line, "", pv_code_name(why->code), why->detail, err);
    enum pv_code code = why->code;
    for (size_t i = 0; i < why->n_faults && i < PV_FAULTS_MAX; i++)
        code = import_line_fault(line, why->faults[i].at, why->faults[i].code,
                                 why->faults[i].detail, err);
    return code;
}

/* Milliseconds since 1970 of a UUIDv7. */
static uint64_t id_ms(const char id[37])
{
    char hex[13];
    (void)snprintf(hex, sizeof hex, "%.8s%.4s", id, id + 9);
    return strtoull(hex, NULL, 16);
}

/* Ids order the tables by time, months ahead of their data: none may claim a month to come. */
static void check_id(const struct codec_node *top, const struct run *run, int64_t now_us)
{
    const uint64_t hour_ms = 3600000;
    if (run->id[0] != '\0' && id_ms(run->id) > (uint64_t)now_us / 1000 + hour_ms)
        codec_fault_member(top, "id", "invalid_id",
                           "must not be a UUID of version 7 of the future");
}

enum pv_code import_line_decode(const struct config *config,
                                const struct import_line *line,
                                int64_t now_us,
                                struct arena *arena,
                                struct run *run,
                                struct pv_error *err)
{
    const struct codec_bounds bounds = {.depth = (size_t)config->json_depth_max,
                                        .values = (size_t)config->json_values_max};
    const struct codec_run_limits limits = {
        .stages = config->stages_max, .tasks = config->tasks_max, .labels = config->labels_max};
    struct pv_error why;
    pv_error_clear(&why);
    struct codec_document document;
    enum pv_code code = codec_open(&document, line->text, line->n, &bounds, arena, &why);
    if (code == PV_OK) {
        codec_run_decode_record(&document.top, &limits, run);
        check_id(&document.top, run, now_us);
        code = codec_close(&document);
    }
    return code == PV_OK ? PV_OK : pass_faults(line, &why, err);
}

/* --- identity --- */

/* Canonical: what an export would write of it, without the parts that only say where it is kept. */
static enum pv_code write_content(struct arena *arena,
                                  const struct run *run,
                                  unsigned include,
                                  struct strview *text,
                                  struct pv_error *err)
{
    struct run bare = *run;
    bare.id[0] = '\0';
    bare.recorded_us = RUN_NO_INSTANT;
    bare.tasks_thinned = false;
    bare.log_digest = bare.log_beginning = (struct strview){NULL, 0};
    struct writer w;
    writer_init(&w, arena);
    codec_run_encode(&w, &bare, (struct strview){NULL, 0}, include | CODEC_RUN_RECORD);
    text->at = writer_finish(&w, &text->n);
    return text->at != NULL ? PV_OK : pv_no_memory(err);
}

enum pv_code import_line_same(
    struct arena *arena, const struct run *a, const struct run *b, bool *same, struct pv_error *err)
{
    struct strview x = {NULL, 0};
    struct strview y = {NULL, 0};
    struct arena_mark mark = arena_mark(arena);
    enum pv_code code = write_content(arena, a, CODEC_RUN_STAGES, &x, err);
    if (code == PV_OK)
        code = write_content(arena, b, CODEC_RUN_STAGES, &y, err);
    if (code == PV_OK)
        *same = strview_equal(x, y);
    arena_rewind(arena, mark);
    return code;
}

/* The time a run states of itself; 0 where it states none, or one that is yet to come. */
static uint64_t own_ms(const struct run *run, int64_t now_us)
{
    int64_t us = run->started_us != RUN_NO_INSTANT ? run->started_us : run->recorded_us;
    return us > 0 && us <= now_us ? (uint64_t)us / 1000 : 0;
}

enum pv_code import_line_name(struct arena *arena,
                              struct counter_map *seen,
                              int64_t now_us,
                              struct run *run,
                              struct pv_error *err)
{
    if (run->id[0] != '\0')
        return PV_OK;
    struct strview content = {NULL, 0};
    struct arena_mark mark = arena_mark(arena);
    PV_TRY(write_content(arena, run, CODEC_RUN_TASKS, &content, err));
    uint64_t key = 0;
    uint64_t before = 0;
    unsigned char hash[32];
    unsigned char random[32];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)content.at, content.n, NULL,
                             0);
    arena_rewind(arena, mark);
    memcpy(&key, hash, sizeof key);
    if (counter_map_add(seen, key, &before) != PV_OK)
        return pv_no_memory(err);
    (void)crypto_generichash(random, sizeof random, (const unsigned char *)&before, sizeof before,
                             hash, sizeof hash);
    uuid7_format(own_ms(run, now_us), random, run->id);
    return PV_OK;
}

void import_line_other_id(const char id[37], const char application_id[37], char other[37])
{
    unsigned char hash[32];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)id, 36,
                             (const unsigned char *)application_id, 36);
    uuid7_format(id_ms(id), hash, other);
}
