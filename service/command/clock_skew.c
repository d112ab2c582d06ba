#include "command/clock_skew.h"

#include "log/log.h"
#include "metrics/registry.h"

enum { WITHIN_MAX_US = 100000 };

METRIC_GAUGE(clock_skew_seconds,
             "provisor_clock_skew_seconds",
             "How far the database's clock was ahead of this machine's when /readyz last looked.",
             "");

void clock_skew_init(struct clock_skew *skew, int64_t warn_us)
{
    skew->warn_us = warn_us;
    atomic_init(&skew->ahead_us, 0);
    atomic_init(&skew->known, false);
    atomic_init(&skew->warned, false);
}

/* Back in step at half of it: what lies at the border is not reported time and again. */
static void report(struct clock_skew *skew, int64_t apart_us, double ahead_s)
{
    if (skew->warn_us > 0 && apart_us > skew->warn_us) {
        if (!atomic_exchange(&skew->warned, true))
            LOG_EVENT(LOG_WARN, "clock.skewed", NULL, LOG_NUMBER("database_ahead_s", ahead_s),
                      LOG_NUMBER("warned_beyond_s", (double)skew->warn_us * 1e-6));
    } else if (apart_us <= skew->warn_us / 2 && atomic_exchange(&skew->warned, false)) {
        LOG_EVENT(LOG_INFO, "clock.in_step", NULL, LOG_NUMBER("database_ahead_s", ahead_s));
    }
}

void clock_skew_note(struct clock_skew *skew, const struct store_clock *seen)
{
    double ahead_s = (double)seen->ahead_us * 1e-6;
    int64_t apart_us = seen->ahead_us < 0 ? -seen->ahead_us : seen->ahead_us;
    if (seen->within_us > WITHIN_MAX_US)
        return;
    atomic_store(&skew->ahead_us, seen->ahead_us);
    atomic_store(&skew->known, true);
    metric_set(&clock_skew_seconds, ahead_s, NULL);
    report(skew, apart_us - seen->within_us, ahead_s);
}

bool clock_skew_read(const struct clock_skew *skew, double *seconds)
{
    *seconds = (double)atomic_load(&skew->ahead_us) * 1e-6;
    return atomic_load(&skew->known);
}
