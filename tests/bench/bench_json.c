/*
 * What a decision on a free slot takes without HTTP: the body measured and parsed, decoded, decided
 * on and answered, by FRESH among 3, 10 and 100 jobs.
 *
 * The status is 1 when bodies of 100 jobs are parsed slower than 200 MB/s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/scheduling/slot_decision_make.h"
#include "codec/json/reader.h"

enum { ROUNDS = 20000, JOBS_MAX = 100 };

static const double GOAL_BYTES_PER_S = 200e6;
static const struct codec_bounds bounds = {.depth = 64, .values = 2000000};

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "%s failed\n", what);
    exit(2);
}

static size_t write_state(char text[], size_t room, size_t jobs)
{
    int n = snprintf(text, room,
                     "{\"kind\":\"fresh\",\"now_s\":600,\"map_slots\":290,\"reduce_slots\":100,"
                     "\"concurrency\":%zu,\"jobs\":[",
                     jobs);
    for (size_t i = 0; i < jobs; i++)
        n += snprintf(
            text + n, room - (size_t)n,
            "%s{\"name\":\"job-%03zu\",\"phase\":\"map\",\"started_s\":%zu,\"maps\":270,"
            "\"maps_finished\":%zu,\"maps_running\":%zu,\"map_task_s\":%g,\"reduces\":250,"
            "\"reduces_finished\":0,\"reduces_running\":0,\"reduce_task_s\":%g,"
            "\"task_time_s\":%.3f}",
            i > 0 ? "," : "", i, 10 + 4 * i, 100 + i % 90, i % 7, 9.5 + (double)(i % 13) / 8,
            6.25 + (double)(i % 7) / 4, 2473.516 + 11.372 * (double)i);
    n += snprintf(text + n, room - (size_t)n, "]}");
    return (size_t)n;
}

static double parse_s(const char *text, size_t n, size_t rounds)
{
    double began = cpu_s();
    for (size_t i = 0; i < rounds; i++) {
        struct arena arena;
        struct pv_error err;
        struct codec_document document;
        pv_error_clear(&err);
        arena_init(&arena, 0);
        check(codec_open(&document, text, n, &bounds, &arena, &err) == PV_OK, "parsing");
        check(codec_close(&document) == PV_OK, "closing");
        arena_fini(&arena);
    }
    return (cpu_s() - began) / (double)rounds;
}

static double decide_s(const char *text, size_t n, size_t rounds, size_t *reply)
{
    static const struct codec_slot_decision_limits limits = {.jobs = JOBS_MAX};
    double began = cpu_s();
    for (size_t i = 0; i < rounds; i++) {
        struct arena arena;
        struct pv_error err;
        struct codec_document document;
        struct codec_slot_decision asked;
        struct slot_decision_made made;
        struct writer w;
        pv_error_clear(&err);
        arena_init(&arena, 0);
        check(codec_open(&document, text, n, &bounds, &arena, &err) == PV_OK, "parsing");
        codec_slot_decision_decode(&document.top, &limits, &asked);
        check(codec_close(&document) == PV_OK, "decoding");
        check(slot_decision_make(&asked, &arena, &made, &err) == PV_OK, "deciding");
        writer_init(&w, &arena);
        slot_decision_encode(&w, &asked, &made);
        check(writer_finish(&w, reply) != NULL, "encoding");
        arena_fini(&arena);
    }
    return (cpu_s() - began) / (double)rounds;
}

int main(void)
{
    static const size_t sizes[] = {3, 10, 100};
    static char text[1 << 15];
    double bytes_per_s = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = write_state(text, sizeof text, sizes[i]);
        size_t reply = 0;
        size_t rounds = ROUNDS / sizes[i] * 3;
        double parsed = parse_s(text, n, rounds);
        double decided = decide_s(text, n, rounds, &reply);
        bytes_per_s = (double)n / parsed;
        printf(
            "%3zu jobs  %6.1f kB parsed in %6.2f us, %5.0f MB/s; decided and answered with %5.1f "
            "kB in %6.2f us\n",
            sizes[i], (double)n / 1e3, 1e6 * parsed, bytes_per_s / 1e6, (double)reply / 1e3,
            1e6 * decided);
    }
    return bytes_per_s < GOAL_BYTES_PER_S;
}
