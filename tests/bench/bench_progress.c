/*
 * What telling of progress costs the work itself: steps of about a microsecond and of ten, with and
 * without operation_progress after each, while another thread reads as the heart beat does (a
 * thousand times as often). The least of the repetitions, in nanoseconds a step. It should stay
 * under 1 % of the work.
 *
 *     bench_progress
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "operation/runner_internal.h"

enum { STEPS = 100000, REPETITIONS = 15 };

static atomic_bool over;

static void *beat(void *argument)
{
    struct progress_flags *flags = argument;
    const struct timespec rest = {.tv_nsec = 400000};
    while (!atomic_load(&over)) {
        (void)(atomic_load(&flags->done) + atomic_load(&flags->total));
        (void)nanosleep(&rest, NULL);
    }
    return NULL;
}

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double work(double x, int rounds)
{
    for (int i = 0; i < rounds; i++)
        x = sqrt(x * x + 1.0 / (x + 1.0));
    return x;
}

static double measure(struct operation_run *run, int rounds, bool telling, double *sink)
{
    double least = INFINITY;
    for (int r = 0; r < REPETITIONS; r++) {
        double begun = cpu_ns();
        for (int64_t i = 0; i < STEPS; i++) {
            *sink = work(*sink, rounds);
            if (telling && !operation_progress(run, i, STEPS, "steps"))
                return NAN;
        }
        double took = (cpu_ns() - begun) / STEPS;
        least = took < least ? took : least;
    }
    return least;
}

int main(void)
{
    struct progress_flags flags;
    struct operation_run run = {.flags = &flags};
    double sink = 1.0;
    pthread_t reader;
    progress_flags_reset(&flags);
    if (pthread_create(&reader, NULL, beat, &flags) != 0)
        return 1;
    printf("%10s %14s %14s %8s\n", "rounds", "silent ns", "telling ns", "cost %");
    static const int rounds[] = {100, 1000};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        double silent = measure(&run, rounds[i], false, &sink);
        double telling = measure(&run, rounds[i], true, &sink);
        printf("%10d %14.1f %14.1f %8.2f\n", rounds[i], silent, telling,
               100 * (telling - silent) / silent);
    }
    atomic_store(&over, true);
    (void)pthread_join(reader, NULL);
    return sink > 0 ? 0 : 1;
}
