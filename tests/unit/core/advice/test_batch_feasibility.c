/* Jobs of a batch on one cluster, by hand. */
#include <criterion/criterion.h>
#include <math.h>

#include "core/advice/batch_feasibility.h"
#include "core/history/run.h"

static struct batch_outcome
check_in(const struct edf_memory *memory, struct batch_job jobs[], size_t n, size_t cores)
{
    struct arena scratch;
    struct batch_outcome outcome;
    struct pv_error err = {0};
    arena_init(&scratch, 0);
    cr_assert_eq(batch_feasibility_check(jobs, n, cores, memory, 1000000, &scratch, &outcome, &err),
                 PV_OK);
    arena_fini(&scratch);
    return outcome;
}

static struct batch_outcome check(struct batch_job jobs[], size_t n, size_t cores)
{
    return check_in(NULL, jobs, n, cores);
}

static struct batch_job job(double release_s, double deadline_s, int64_t cores, double duration_s)
{
    return (struct batch_job){
        .release_s = release_s, .deadline_s = deadline_s, .cores = cores, .duration_s = duration_s};
}

Test(batch_feasibility, side_by_side)
{
    struct batch_job jobs[] = {job(0, 10, 4, 10), job(0, 12, 6, 12)};
    struct batch_outcome outcome = check(jobs, 2, 10);
    cr_expect(outcome.feasible && outcome.min_total_cores == RUN_UNKNOWN);
    cr_expect(jobs[0].met && jobs[0].completion_s == 10);
    cr_expect(jobs[1].met && jobs[1].completion_s == 12);
}

Test(batch_feasibility, who_has_to_share_takes_longer)
{
    struct batch_job jobs[] = {job(0, 10, 4, 10), job(0, 12, 6, 12)};
    struct batch_outcome outcome = check(jobs, 2, 9);
    cr_expect(!outcome.feasible);
    cr_expect_eq(outcome.min_total_cores, 10);
    cr_expect(jobs[0].met && jobs[0].completion_s == 10, "the earlier deadline comes first");
    cr_expect(!jobs[1].met && jobs[1].completion_s == 22, "one of six waits for the first job");
}

Test(batch_feasibility, one_after_the_other)
{
    struct batch_job jobs[] = {job(0, 10, 4, 10), job(10, 10, 4, 10), job(3, NAN, 4, 7)};
    struct batch_outcome outcome = check(jobs, 3, 4);
    cr_expect(outcome.feasible);
    cr_expect_eq(jobs[1].completion_s, 20);
    cr_expect(jobs[2].met && jobs[2].completion_s == 27, "without a deadline it goes last");
}

Test(batch_feasibility, nothing_is_recommended)
{
    struct batch_job jobs[] = {job(0, 10, RUN_UNKNOWN, NAN), job(0, 10, 4, 10)};
    struct batch_outcome outcome = check(jobs, 2, 4);
    cr_expect(!outcome.feasible && outcome.min_total_cores == RUN_UNKNOWN);
    cr_expect(!jobs[0].met && isnan(jobs[0].completion_s) && jobs[1].met);
    cr_expect(!check(jobs, 1, 4).feasible);
}

/* 3 of 8 bytes, 6 of 8, 2 of 8, on cores for all. The second waits for the first; the third would fit
 * beside the first but does not overtake. By deadline it goes first. */
Test(batch_feasibility, memory_is_waited_for)
{
    struct batch_job jobs[] = {job(0, 30, 4, 10), job(0, 30, 4, 10), job(0, 10, 2, 5)};
    const struct edf_memory first_come = {8, EDF_FIRST_COME};
    const struct edf_memory by_deadline = {8, EDF_EARLIEST_DEADLINE};
    jobs[0].memory_bytes = 3;
    jobs[1].memory_bytes = 6;
    jobs[2].memory_bytes = 2;
    struct batch_outcome outcome = check_in(&first_come, jobs, 3, 20);
    cr_expect(!outcome.feasible && outcome.min_total_cores == RUN_UNKNOWN, "no cores help");
    cr_expect(jobs[0].launched_s == 0 && jobs[1].launched_s == 10 && jobs[2].launched_s == 10);
    cr_expect(jobs[1].completion_s == 20 && !jobs[2].met);
    cr_expect(outcome.launches.fits_at_once == 1 && outcome.launches.waited == 2);
    outcome = check_in(&by_deadline, jobs, 3, 20);
    cr_expect(outcome.feasible && outcome.launches.fits_at_once == 2);
    cr_expect(jobs[2].launched_s == 0 && jobs[0].launched_s == 0 && jobs[1].launched_s == 10);
    outcome = check(jobs, 3, 20);
    cr_expect(outcome.feasible && jobs[1].launched_s == 0 && outcome.launches.holding == 0);
}

Test(batch_feasibility, more_memory_than_there_is)
{
    const struct edf_memory memory = {8, EDF_FIRST_COME};
    struct batch_job jobs[] = {job(0, 30, 4, 10), job(0, 30, 4, 10)};
    jobs[0].memory_bytes = 9;
    jobs[1].memory_bytes = RUN_UNKNOWN;
    struct batch_outcome outcome = check_in(&memory, jobs, 2, 20);
    cr_expect(!outcome.feasible && !jobs[0].met && isnan(jobs[0].launched_s));
    cr_expect(jobs[1].met && jobs[1].launched_s == 0);
}
