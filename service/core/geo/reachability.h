#ifndef CORE_GEO_REACHABILITY_H
#define CORE_GEO_REACHABILITY_H

#include <stddef.h>
#include <stdint.h>

/*
 * How likely a cluster is unreachable in a slot of time, from the outages it had while it was
 * watched. Two things are learnt, both faded exponentially: the share u of the time in which it was
 * away, and how many outages begin in a second in which it is there (r). A slot of s seconds is
 * untouched when the cluster is there at its start and no outage begins until its end:
 *
 *     probability = 1 - (1 - u) exp(-r s)
 *
 * A prior stands for what is known before anything was seen: so many seconds of watching (its
 * strength) with the outages that are usual. u is then the mean of a Beta distribution and r that
 * of a Gamma distribution, in which the prior counts as observed time; it moves the answer little
 * once far more than its strength was watched.
 */
struct reachability_prior {
    double mean_time_between_outages_s; /* from the beginning of an outage to that of the next, >
                                           mean_outage_s */
    double mean_outage_s;               /* of an outage, >= 0 */
    double weight_s;                    /* > 0 */
};

struct outage {
    int64_t from_us;
    int64_t until_us; /* >= from_us */
};

struct reachability {
    double probability;
    double outages;    /* faded; what the prior adds is not counted */
    double observed_s; /* likewise */
    double downtime_s; /* likewise; within observed_s */
};

/*
 * Sorts outages and joins those that overlap or touch; returns how many are left, at most `most`:
 * the newest.
 */
size_t outages_join(struct outage outages[], size_t n, size_t most);

/*
 * Of a slot of slot_s seconds, as of now. outages: joined, rising, within [first_us, newest_us],
 * which is the time that was watched; first_us > newest_us: none, the prior alone.
 */
void reachability_find(const struct outage outages[],
                       size_t n,
                       int64_t first_us,
                       int64_t newest_us,
                       int64_t now_us,
                       int64_t half_life_s,
                       const struct reachability_prior *prior,
                       double slot_s,
                       struct reachability *found);

#endif
