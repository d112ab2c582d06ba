#include "core/history/run_reach.h"

#include <math.h>
#include <string.h>

#include "base/order.h"
#include "core/history/log_damage.h"
#include "core/history/log_origin.h"

/* Counts that are unknown are negative, and so are sums of two such. */
static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int compare_durations(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(b) - isnan(a) : compare_double(a, b);
}

static int compare_counts(const struct run *run, const struct run *other)
{
    int order = compare_int64(sum_of(run->tasks_succeeded, run->tasks_failed),
                              sum_of(other->tasks_succeeded, other->tasks_failed));
    if (order == 0)
        order = compare_int64(sum_of(run->stages_completed, run->stages_failed),
                              sum_of(other->stages_completed, other->stages_failed));
    return order == 0 ? compare_int64(run->jobs, other->jobs) : order;
}

static int compare_digests(struct strview a, struct strview b)
{
    if (a.at == NULL || b.at == NULL)
        return (a.at != NULL) - (b.at != NULL);
    return memcmp(a.at, b.at, RUN_DIGEST_BYTES);
}

int run_compare_reach(const struct run *run, const struct run *other)
{
    int64_t damage = log_damage(run), other_damage = log_damage(other);
    int order = run->ended - other->ended;
    if (order == 0)
        order = run->ended ? (damage == 0) - (other_damage == 0)
                           : compare_durations(run->duration_s, other->duration_s);
    if (order == 0)
        order = compare_counts(run, other);
    if (order == 0)
        order = compare_int64(other_damage, damage);
    return order == 0 ? compare_digests(run->log_digest, other->log_digest) : order;
}

static enum run_verdict compare_logs(const struct run *run, const struct run *stored)
{
    const bool digested = run->log_digest.at != NULL;
    if (stored->log_digest.at == NULL && digested && run->ended)
        return RUN_VERDICT_REPLACE;
    if (run->ended && stored->ended &&
        (!digested || (log_damage(run) == 0 && log_damage(stored) == 0)))
        return RUN_VERDICT_CONFLICT;
    return run_compare_reach(run, stored) > 0 ? RUN_VERDICT_REPLACE : RUN_VERDICT_KEEP;
}

enum run_verdict run_log_verdict(const struct run *run, const struct run *stored)
{
    unsigned char origins[2][LOG_ORIGIN_BYTES_MAX];
    struct strview own = {(const char *)origins[0], log_origin_write(run, origins[0])};
    struct strview other = {(const char *)origins[1], log_origin_write(stored, origins[1])};
    if (run->log_digest.at != NULL && stored->log_digest.at != NULL &&
        compare_digests(run->log_digest, stored->log_digest) == 0)
        return RUN_VERDICT_KEEP;
    if (!log_origin_agrees(own, other))
        return RUN_VERDICT_INSERT;
    enum run_verdict verdict = compare_logs(run, stored);
    bool settled = verdict == RUN_VERDICT_REPLACE ? log_origin_knows(own, other)
                   : verdict == RUN_VERDICT_KEEP  ? log_origin_knows(other, own)
                                                  : true;
    return settled ? verdict : RUN_VERDICT_INSERT;
}

enum run_verdict run_logs_verdict(
    const struct run *run, const struct run stored[], size_t n, size_t *which, bool gives_way[])
{
    enum run_verdict made = RUN_VERDICT_INSERT;
    *which = n;
    for (size_t i = 0; i < n; i++) {
        enum run_verdict verdict = run_log_verdict(run, &stored[i]);
        gives_way[i] = verdict == RUN_VERDICT_REPLACE;
        bool decides = verdict == RUN_VERDICT_KEEP || verdict == RUN_VERDICT_CONFLICT;
        if (verdict != RUN_VERDICT_INSERT && (*which == n || decides)) {
            *which = i;
            made = verdict;
        }
        if (verdict == RUN_VERDICT_KEEP)
            break;
    }
    return made;
}
