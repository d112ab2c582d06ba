/* Bottlenecks of the nearest run as reasons of an advice, and the properties that cure them. */
#include "core/advice/bottleneck_advice.h"

#include <criterion/criterion.h>

enum { ITEMS = 5 };
static struct arena arena;
static struct bottleneck items[ITEMS];
static struct bottlenecks found;

static struct bottleneck item_of(enum bottleneck_kind kind, int64_t stage_id, double lost_s)
{
    return (struct bottleneck){
        .kind = kind,
        .stage_id = stage_id,
        .lost_s = lost_s,
        .cure = "Do it.",
        .finding = {.code = bottleneck_kind_name(kind), .message = "It is slow."}};
}

static void set_up(void)
{
    arena_init(&arena, 0);
    items[0] = item_of(BOTTLENECK_DRIVER, RUN_UNKNOWN, 50);
    items[1] = item_of(BOTTLENECK_STRAGGLER, 3, 40);
    items[2] = item_of(BOTTLENECK_STRAGGLER, 4, 30);
    items[3] = item_of(BOTTLENECK_SKEW, 5, 20);
    items[4] = item_of(BOTTLENECK_IDLE_CORES, 6, 10);
    items[4].idle = (struct idle_cores){.key = "spark.executor.cores", .value = "6"};
    found = (struct bottlenecks){.run_id = "the-run", .items = items, .n = ITEMS};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(bottleneck_advice, .init = set_up, .fini = tear_down);

/* The three that lose most are named, with their stages if they have one. */
Test(bottleneck_advice, the_greatest_losses_are_reasons)
{
    struct advice advice = {.reasons = {.arena = &arena}};
    cr_assert_eq(bottlenecks_explain(&found, &arena, &advice, NULL), PV_OK);
    cr_assert_eq(advice.reasons.n, 3);
    const struct finding *driver = &advice.reasons.items[0], *second = &advice.reasons.items[1];
    cr_expect_str_eq(driver->code, "bottleneck");
    cr_expect_str_eq(driver->message, "In the nearest run: It is slow. Do it.");
    cr_assert_eq(driver->n_evidence, 3);
    cr_expect_str_eq(driver->evidence[0].text, "driver");
    cr_expect_eq(finding_value(driver, "lost_s"), 50);
    cr_expect_str_eq(driver->evidence[2].text, "the-run");
    cr_assert_eq(second->n_evidence, 4);
    cr_expect_eq(finding_value(second, "stage_id"), 3);
    found.run_id[0] = '\0';
    found.n = 1;
    advice = (struct advice){.reasons = {.arena = &arena}};
    cr_assert_eq(bottlenecks_explain(&found, &arena, &advice, NULL), PV_OK);
    cr_assert_eq(advice.reasons.n, 1);
    cr_expect_eq(advice.reasons.items[0].n_evidence, 2);
}

/* Each property once, for the stage that loses most by it; none for cores that idle, since the
 * prediction is for the recorded slots. */
Test(bottleneck_advice, each_property_is_set_once)
{
    struct spark_property_plan cures[BOTTLENECKS_ADVISED];
    size_t n = 0;
    cr_assert_eq(bottleneck_cures(&found, 8, &arena, cures, &n, NULL), PV_OK);
    cr_assert_eq(n, 1);
    cr_expect_str_eq(cures[0].key, "spark.speculation");
    cr_expect_str_eq(cures[0].value, "true");
    cr_expect_str_eq(cures[0].reason,
                     "stage 3: a straggling task; output needs an idempotent committer");
    /* 4 tasks of 1 GiB on 16 cores: splits of 256 MiB. */
    struct findings made = {.arena = &arena};
    items[3] = item_of(BOTTLENECK_TOO_FEW_TASKS, 7, 20);
    items[3].from_storage = true;
    struct finding *note = finding_add(&made, "too_few_tasks", "It is slow.");
    finding_number(note, "tasks", 4);
    finding_number(note, "bytes_per_task", 1 << 30);
    items[3].finding = *note;
    cr_assert_eq(bottleneck_cures(&found, 16, &arena, cures, &n, NULL), PV_OK);
    cr_assert_eq(n, 2);
    cr_expect_str_eq(cures[1].key, "spark.sql.files.maxPartitionBytes");
    cr_expect_str_eq(cures[1].value, "256m");
    cr_expect_str_eq(cures[1].reason,
                     "stage 7: its input is read by fewer tasks than there are cores");
}
