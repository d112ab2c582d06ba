#include "api/advice/advised_runs.h"

#include "core/history/accuracy.h"
#include "metrics/registry.h"
#include "store/advice/advice.h"

METRIC_COUNTER(
    intervals,
    "provisor_advised_runs_total",
    "Stored runs that followed advice, by where their duration lies: inside the predicted "
    "interval, faster or slower; other when the run failed, ran on other executors or the "
    "advice had no interval.",
    "interval");
METRIC_COUNTER(deadlines,
               "provisor_advised_run_deadlines_total",
               "Stored runs that followed advice with a deadline, by whether they met it: met or "
               "missed.",
               "outcome");

void advised_runs_count(struct api *api, struct http_request *request, const struct run *run)
{
    store_tx_auto_t *tx = NULL;
    struct advice_row advice;
    if (run->advice_id[0] == '\0')
        return;
    enum pv_code code = api_read(api, request, &tx, NULL);
    if (code == PV_OK)
        code = store_advice_find(tx, request->arena, run->advice_id, &advice, NULL);
    if (code != PV_OK)
        return;
    const struct accuracy_advised advised = {.executors = advice.executors,
                                             .cores_per_executor = advice.cores_per_executor,
                                             .interval_s = {advice.lower_s, advice.upper_s},
                                             .deadline_s = advice.deadline_s};
    const char *deadline = accuracy_deadline(run, &advised);
    metric_add(&intervals, 1, METRIC_LABELS(accuracy_interval(run, &advised)));
    if (deadline != NULL)
        metric_add(&deadlines, 1, METRIC_LABELS(deadline));
}
