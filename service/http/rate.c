#include "http/rate.h"

static const uint64_t second_ns = 1000000000u;

void http_rate_init(struct http_rate *rate, int64_t per_s)
{
    rate->interval_ns = per_s == 0 ? 0 : second_ns / (uint64_t)per_s;
    atomic_init(&rate->due_ns, 0);
}

bool http_rate_take(struct http_rate *rate, uint64_t now_ns)
{
    if (rate->interval_ns == 0)
        return true;
    uint64_t due_ns = atomic_load(&rate->due_ns);
    uint64_t next_ns;
    do {
        uint64_t from_ns = due_ns > now_ns ? due_ns : now_ns;
        next_ns = from_ns + rate->interval_ns;
        if (next_ns > now_ns + second_ns)
            return false;
    } while (!atomic_compare_exchange_weak(&rate->due_ns, &due_ns, next_ns));
    return true;
}
