#include "api/history/run_clock.h"

#include "threads/clock.h"

static const int64_t DAY_US = INT64_C(86400000000);

enum pv_code run_clock_warn(struct run *run, struct arena *arena, struct pv_error *err)
{
    char text[INSTANT_TEXT];
    if (run->started_us == RUN_NO_INSTANT || run->started_us - DAY_US <= clock_wall_us())
        return PV_OK;
    instant_format(run->started_us, text);
    run->warnings.arena = arena;
    (void)finding_add(&run->warnings, "starts_in_future",
                      "the run starts at %s, more than a day from now: until then it counts as the "
                      "latest run",
                      text);
    return findings_check(&run->warnings, err);
}
