#include <jansson.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "api/operations/operation_kinds.h"
#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "store/history/application.h"
#include "threads/clock.h"

/*
 * Kinds of long work for tests, in place of the service's own: the program provisord_lab is
 * provisord with this table. "steps" counts to `steps`, resting `step_ms` after each, and then does
 * what its request says: {"steps": 10, "step_ms": 20, "bytes": 1000, "effect": "prefix-", "fail":
 * "too-few", "deaf": true}
 * bytes   of memory, held from the beginning to the end
 * effect  makes one application, named prefix and a new id, in the transaction of its end
 * fail    "too-few", "unavailable" or "internal" at the end
 * deaf    goes on although it is told to stop
 * "never" is refused at once.
 */
struct steps {
    int64_t steps;
    int64_t step_ms;
    int64_t bytes;
    const char *effect;
    const char *fail;
    bool deaf;
};

static int64_t whole(const json_t *json, const char *key)
{
    return json_integer_value(json_object_get(json, key));
}

static bool read_steps(const struct operation_run *run, struct steps *steps)
{
    json_t *json = json_loadb(run->request.at, run->request.n, 0, NULL);
    if (json == NULL)
        return false;
    const char *effect = json_string_value(json_object_get(json, "effect"));
    const char *fail = json_string_value(json_object_get(json, "fail"));
    *steps = (struct steps){.steps = whole(json, "steps"),
                            .step_ms = whole(json, "step_ms"),
                            .bytes = whole(json, "bytes"),
                            .effect = effect == NULL ? NULL : arena_strdup(run->arena, effect),
                            .fail = fail == NULL ? "" : arena_strdup(run->arena, fail),
                            .deaf = json_is_true(json_object_get(json, "deaf"))};
    json_decref(json);
    return true;
}

static enum pv_code take_effect(struct operation_run *run, const char *prefix, struct pv_error *err)
{
    struct store_tx *tx = NULL;
    char id[37];
    clock_uuid7(id);
    struct application made = {.name = strview_of(arena_printf(run->arena, "%s%s", prefix, id)),
                               .retention_days = RUN_UNKNOWN,
                               .retention_runs = RUN_UNKNOWN};
    enum pv_code code = store_begin(run->store, &run->who, run->request_id, STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = store_application_insert(tx, run->arena, &made, err);
    if (code == PV_OK)
        return operation_commit(run, &tx, strview_of("{\"effect\":true}"), err);
    store_rollback(&tx);
    return code;
}

static enum pv_code end_steps(struct operation_run *run,
                              const struct steps *steps,
                              struct strview *result,
                              struct pv_error *err)
{
    if (strcmp(steps->fail, "too-few") == 0)
        return pv_fail(err, PV_E_TOO_FEW, "there are %lld steps", (long long)steps->steps);
    if (strcmp(steps->fail, "unavailable") == 0)
        return pv_fail(err, PV_E_UNAVAILABLE, "not today");
    if (strcmp(steps->fail, "internal") == 0)
        return pv_fail(err, PV_E_INTERNAL, "SELECT secret");
    if (steps->effect != NULL)
        return take_effect(run, steps->effect, err);
    const char *text = arena_printf(run->arena, "{\"steps\":%lld,\"attempt\":%lld}",
                                    (long long)steps->steps, (long long)run->key.attempt);
    *result = strview_of(text);
    return text == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code
run_steps(void *context, struct operation_run *run, struct strview *result, struct pv_error *err)
{
    struct steps steps;
    (void)context;
    if (!read_steps(run, &steps))
        return pv_fail(err, PV_E_INVALID, "the request is no object");
    if (arena_alloc(run->arena, (size_t)steps.bytes) == NULL)
        return pv_no_memory(err);
    const struct timespec rest = {.tv_sec = steps.step_ms / 1000,
                                  .tv_nsec = steps.step_ms % 1000 * 1000000};
    for (int64_t i = 0; i < steps.steps; i++) {
        if (!operation_progress(run, i, steps.steps, "steps") && !steps.deaf)
            return pv_fail(err, PV_E_CANCELLED, "told to stop");
        (void)nanosleep(&rest, NULL);
    }
    return end_steps(run, &steps, result, err);
}

static enum pv_code
run_never(void *context, struct operation_run *run, struct strview *result, struct pv_error *err)
{
    (void)context, (void)run, (void)result;
    return pv_fault(err, PV_PLACE_POINTER, "/steps", "out_of_range", "never");
}

const struct operation_kind api_operation_kinds[] = {
    {"steps", run_steps}, {"never", run_never}, {NULL, NULL}};
