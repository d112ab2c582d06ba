#include "core/geo/reachability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double US_PER_S = 1e6;

static int by_beginning(const void *a, const void *b)
{
    const struct outage *x = a;
    const struct outage *y = b;
    if (x->from_us != y->from_us)
        return x->from_us < y->from_us ? -1 : 1;
    return (x->until_us > y->until_us) - (x->until_us < y->until_us);
}

size_t outages_join(struct outage outages[], size_t n, size_t most)
{
    size_t kept = 0;
    if (n > 0)
        qsort(outages, n, sizeof *outages, by_beginning);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || outages[i].from_us > outages[kept - 1].until_us)
            outages[kept++] = outages[i];
        else if (outages[i].until_us > outages[kept - 1].until_us)
            outages[kept - 1].until_us = outages[i].until_us;
    }
    if (kept <= most)
        return kept;
    memmove(outages, outages + (kept - most), most * sizeof *outages);
    return most;
}

/* --- fading: a second of time t counts 2^-((now - t)/half-life) --- */

struct fade {
    int64_t now_us;
    double half_life_s;
};

static double reachability_seconds(int64_t from_us, int64_t until_us)
{
    return (double)(until_us - from_us) / US_PER_S;
}

static double fade_at(const struct fade *fade, int64_t at_us)
{
    return exp2(-reachability_seconds(at_us, fade->now_us) / fade->half_life_s);
}

/* The integral of it. expm1, because an outage is short compared with a half-life. */
static double fade_between(const struct fade *fade, int64_t from_us, int64_t until_us)
{
    double rate = log(2) / fade->half_life_s;
    return fade_at(fade, until_us) * -expm1(-rate * reachability_seconds(from_us, until_us)) / rate;
}

/* --- */

/* Posterior means: the prior counts as `weight_s` of watching. */
static double
touched(const struct reachability *seen, const struct reachability_prior *prior, double slot_s)
{
    double expected = prior->weight_s / prior->mean_time_between_outages_s;
    double outages = expected + seen->outages;
    double watched_s = prior->weight_s + seen->observed_s;
    double there_s = watched_s - expected * prior->mean_outage_s - seen->downtime_s;
    if (there_s <= 0)
        return 1;
    /* 1 - (there/watched) exp(-outages/there slot), by small numbers. */
    double away = (watched_s - there_s) / watched_s;
    return away - (1 - away) * expm1(-outages / there_s * slot_s);
}

void reachability_find(const struct outage outages[],
                       size_t n,
                       int64_t first_us,
                       int64_t newest_us,
                       int64_t now_us,
                       int64_t half_life_s,
                       const struct reachability_prior *prior,
                       double slot_s,
                       struct reachability *found)
{
    struct reachability seen = {0};
    if (first_us <= newest_us) {
        /* A clock that is ahead of ours reported last. */
        const struct fade fade = {now_us > newest_us ? now_us : newest_us, (double)half_life_s};
        seen.observed_s = fade_between(&fade, first_us, newest_us);
        for (size_t i = 0; i < n; i++) {
            seen.outages += fade_at(&fade, outages[i].from_us);
            seen.downtime_s += fade_between(&fade, outages[i].from_us, outages[i].until_us);
        }
        seen.downtime_s = fmin(seen.downtime_s, seen.observed_s);
    }
    seen.probability = touched(&seen, prior, slot_s);
    *found = seen;
}
