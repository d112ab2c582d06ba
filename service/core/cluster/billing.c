#include "core/cluster/billing.h"

#include <math.h>

#include "core/history/run.h"

struct billing billing_of_executors(double per_hour)
{
    return (struct billing){.per_hour = per_hour};
}

static double zero_if_unknown(double value)
{
    return isnan(value) ? 0.0 : value;
}

struct billing billing_of_price(const struct price *price, bool spot, int64_t executors_per_machine)
{
    return (struct billing){.per_hour = spot ? price_spot(price) : price_on_demand(price),
                            .executors_per_machine =
                                price_is_of_machines(price) ? executors_per_machine : 0,
                            .startup_s = zero_if_unknown(price->startup_billed_s),
                            .minimum_s = zero_if_unknown(price->minimum_billed_s),
                            .increment_s = zero_if_unknown(price->billing_increment_s)};
}

bool billing_is_plain(const struct billing *billing)
{
    return billing->executors_per_machine == 0 && billing->startup_s == 0 &&
           billing->minimum_s == 0 && billing->increment_s == 0;
}

int64_t billing_units(const struct billing *billing, int64_t executors)
{
    int64_t each = billing->executors_per_machine;
    return each < 1 ? executors : executors / each + (executors % each != 0);
}

double billing_billed_s(const struct billing *billing, double duration_s)
{
    /* A predicted time is not known to a billionth: so little beyond an increment begins none, and
     * increments as small as that round nothing (nor does the quotient overflow). */
    static const double nothing = 1e-9;
    double billed_s = fmax(billing->minimum_s, billing->startup_s + duration_s);
    if (!(billing->increment_s > nothing * billed_s))
        return billed_s;
    return ceil(billed_s / billing->increment_s * (1.0 - nothing)) * billing->increment_s;
}

double billing_unit_s(const struct billing *billing, int64_t executors, double duration_s)
{
    return (double)billing_units(billing, executors) * billing_billed_s(billing, duration_s);
}

double billing_cost(const struct billing *billing, int64_t executors, double duration_s)
{
    return billing_unit_s(billing, executors, duration_s) / 3600.0 * billing->per_hour;
}

double billing_independent_units(const struct billing *billing, int64_t executors)
{
    int64_t each = billing->executors_per_machine;
    double m = (double)executors;
    if (each <= 1)
        return m;
    const int64_t full = executors / each, rest = executors % each;
    double squares = (double)full * (double)each * (double)each + (double)rest * (double)rest;
    return m * m / squares;
}

/* INT64_MAX: unknown. */
static int64_t quotient(int64_t of_machine, int64_t of_executor)
{
    return of_machine == RUN_UNKNOWN || of_executor < 1 ? INT64_MAX : of_machine / of_executor;
}

struct packing billing_pack(int64_t machine_cores,
                            int64_t machine_bytes,
                            int64_t executor_cores,
                            int64_t container_bytes)
{
    int64_t by_cores = quotient(machine_cores, executor_cores);
    int64_t by_memory = quotient(machine_bytes, container_bytes);
    bool memory = by_memory < by_cores;
    int64_t least = memory ? by_memory : by_cores;
    return (struct packing){.executors = least == INT64_MAX ? 0 : least,
                            .by_memory = memory,
                            .known = least != INT64_MAX};
}
