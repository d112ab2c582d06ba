#include "api/advice/advised_runs.h"

#include <math.h>

#include "metrics/metrics.h"
#include "store/advice/advice.h"

METRIC_COUNTER(
    intervals,
    "provisor_advised_runs_total",
    "Stored runs that followed an advice, by where their duration lies: inside the predicted "
    "interval, faster or slower; other when the run failed, ran on other executors or the "
    "advice had no interval.",
    "interval");
METRIC_COUNTER(
    deadlines,
    "provisor_advised_run_deadlines_total",
    "Stored runs that followed an advice with a deadline, by whether they met it: met or "
    "missed.",
    "outcome");

static const char *place_in_interval(const struct run *run, const struct advice_row *advice)
{
    bool followed =
        (run->executors <= 0 || run->executors == advice->executors) &&
        (run->cores_per_executor <= 0 || run->cores_per_executor == advice->cores_per_executor);
    bool bounded = !isnan(advice->lower_s) || !isnan(advice->upper_s);
    if (!run->succeeded || !(run->duration_s > 0) || !followed || !bounded)
        return "other";
    if (run->duration_s < advice->lower_s)
        return "faster";
    return run->duration_s > advice->upper_s ? "slower" : "inside";
}

void advised_runs_count(struct api *api, struct http_request *request, const struct run *run)
{
    struct store_tx *tx = NULL;
    struct advice_row advice;
    if (run->advice_id[0] == '\0')
        return;
    enum pv_code code =
        store_begin(api->store, &request->principal, request->request_id, STORE_READ, &tx, NULL);
    if (code == PV_OK)
        code = store_advice_find(tx, request->arena, run->advice_id, &advice, NULL);
    store_rollback(&tx);
    if (code != PV_OK)
        return;
    metric_add(&intervals, 1, METRIC_LABELS(place_in_interval(run, &advice)));
    bool ended = !run->succeeded || run->duration_s > 0;
    if (ended && !isnan(advice.deadline_s)) {
        bool met = run->succeeded && run->duration_s <= advice.deadline_s;
        metric_add(&deadlines, 1, METRIC_LABELS(met ? "met" : "missed"));
    }
}
