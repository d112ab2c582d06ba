#include "core/scheduling/slots/slot_census.h"

#include <criterion/criterion.h>

static const struct fresh_terms terms = {.concurrency = 1};
static const struct fresh_slots slots = {.map_slots = 4, .total_slots = 8};
static const struct fresh_job job = {
    .phase = FRESH_MAP, .maps = 9, .maps_running = 4, .map_task_s = 1, .task_time_s = 80};

static struct findings warn(const struct fresh_census *census, struct arena *arena)
{
    struct findings warnings = {.arena = arena};
    fresh_census_warn(census, &terms, &slots, 3, &warnings);
    return warnings;
}

Test(slot_census, a_state_that_may_be_has_no_warnings)
{
    struct arena arena;
    struct fresh_census census = {.consumption = 0};
    arena_init(&arena, 0);
    fresh_census_add(&census, &job, 10);
    cr_expect_eq(warn(&census, &arena).n, 0, "8 slots used on average, of 8");
    arena_fini(&arena);
}

Test(slot_census, each_contradiction_has_its_warning)
{
    struct arena arena;
    struct fresh_census census = {.consumption = 0};
    arena_init(&arena, 0);
    fresh_census_add(&census, &job, 9);
    fresh_census_add(&census, &job, 10);
    struct findings warnings = warn(&census, &arena);
    cr_assert_eq(warnings.n, 3);
    cr_expect_str_eq(warnings.items[0].code, "more_running_than_slots");
    cr_expect_eq(finding_value(&warnings.items[0], "running"), 8);
    cr_expect_str_eq(warnings.items[1].code, "more_jobs_than_concurrency");
    cr_expect_str_eq(warnings.items[2].code, "more_time_than_slots");
    arena_fini(&arena);
}

Test(slot_census, reduces_follow_maps)
{
    struct arena arena;
    struct omo_census census = {.reduced_early = 0};
    const struct omo_rates rates = {1, 9};
    const struct omo_rates none = {0, 9};
    arena_init(&arena, 0);
    struct findings warnings = {.arena = &arena};
    omo_census_add(&census,
                   &(struct omo_job){.maps = 3, .maps_finished = 3, .reduces_finished = 1});
    omo_census_warn(&census, &rates, &warnings);
    cr_expect_eq(warnings.n, 0);
    omo_census_add(&census,
                   &(struct omo_job){.maps = 3, .maps_finished = 2, .reduces_finished = 1});
    omo_census_warn(&census, &none, &warnings);
    cr_assert_eq(warnings.n, 2);
    cr_expect_str_eq(warnings.items[0].code, "reduces_before_maps");
    cr_expect_str_eq(warnings.items[1].code, "nothing_released");
    arena_fini(&arena);
}
