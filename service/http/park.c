#include "http/park.h"

#include "http/exchange.h"

/*
 * A ticket is the exchange itself, held once more. `park` tells where the two who hold it stand:
 * the worker that is about to leave and the one who wakes; whoever comes second sees what the first
 * did. The hold of the job stays with a parked exchange and goes to the worker that takes it up
 * again.
 */

static struct exchange *exchange_of(const struct http_ticket *ticket)
{
    return (struct exchange *)(uintptr_t)ticket;
}

struct http_ticket *http_park(struct http_request *request)
{
    struct exchange *x = (void *)((char *)request - offsetof(struct exchange, request));
    if (atomic_load(&x->server->stopping))
        return NULL;
    request->again = HTTP_AGAIN_WOKEN;
    atomic_store(&x->park, PARK_TICKET);
    (void)atomic_fetch_add(&x->holders, 1);
    return (struct http_ticket *)x;
}

/* The worker has not left yet: it will see that it need not. */
static bool wake_before_parked(struct exchange *x)
{
    enum exchange_park expected = PARK_TICKET;
    if (!atomic_compare_exchange_strong(&x->park, &expected, PARK_WOKEN))
        return false;
    exchange_release(x, false);
    return true;
}

bool http_ticket_wake(struct http_ticket *ticket)
{
    struct exchange *x = exchange_of(ticket);
    if (wake_before_parked(x))
        return true;
    if (!exchange_take_up(x))
        return false;
    exchange_release(x, false);
    return true;
}

bool http_ticket_is_alive(const struct http_ticket *ticket)
{
    return atomic_load(&exchange_of(ticket)->state) == JOB_RUNNING;
}

void http_ticket_drop(struct http_ticket *ticket)
{
    struct exchange *x = exchange_of(ticket);
    if (wake_before_parked(x))
        return;
    exchange_release(x, false); /* the job's */
    exchange_release(x, false);
}
