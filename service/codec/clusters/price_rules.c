#include "codec/clusters/price_rules.h"

const char *const price_row_names[PRICE_MEMBERS] = {
    "per_executor_hour",     "spot_per_executor_hour", "interruptions_per_hour", "per_machine_hour",
    "spot_per_machine_hour", "machine_cores",          "machine_memory_bytes"};

struct checking {
    const bool *present;
    struct price_fault *faults;
    size_t n;
};

static void
add_fault(struct checking *c, enum price_member at, enum price_member because, bool conflicts)
{
    c->faults[c->n++] = (struct price_fault){at, because, conflicts};
}

/* `member`, where it was sent, needs another that was not. */
static bool check_need(struct checking *c, enum price_member member, enum price_member needed)
{
    bool lacks = c->present[member] && !c->present[needed];
    if (lacks)
        add_fault(c, needed, member, false);
    return lacks;
}

static void check_machine(struct checking *c)
{
    if (!c->present[PRICE_MACHINE_MEMORY])
        (void)check_need(c, PRICE_MACHINE, PRICE_MACHINE_CORES);
    /* One fault for the missing price is enough. */
    if (!check_need(c, PRICE_SPOT_MACHINE, PRICE_MACHINE) &&
        !check_need(c, PRICE_MACHINE_CORES, PRICE_MACHINE))
        (void)check_need(c, PRICE_MACHINE_MEMORY, PRICE_MACHINE);
}

size_t price_rules_check(const bool present[PRICE_MEMBERS],
                         struct price_fault faults[PRICE_FAULTS_MAX])
{
    struct checking c = {present, faults, 0};
    if (present[PRICE_EXECUTOR] && present[PRICE_MACHINE])
        add_fault(&c, PRICE_MACHINE, PRICE_EXECUTOR, true);
    (void)check_need(&c, PRICE_SPOT_EXECUTOR, PRICE_EXECUTOR);
    if (!present[PRICE_SPOT_MACHINE])
        (void)check_need(&c, PRICE_INTERRUPTIONS,
                         present[PRICE_MACHINE] ? PRICE_SPOT_MACHINE : PRICE_SPOT_EXECUTOR);
    check_machine(&c);
    return c.n;
}
