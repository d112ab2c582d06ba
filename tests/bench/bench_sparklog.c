/*
 * How fast the reader takes event logs: the shared logs (decompressed once, or a file given) are
 * repeated in memory up to N MB and read in pieces as they come from a decompressor. Beside it, in
 * the same process on the same bytes, what nothing can beat by much: counting newlines by memchr.
 *
 *     bench_sparklog [MB] [FILE...]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/sparklog/sparklog.h"
#include "framing/framing.h"
#include "read_log.h"

enum { PIECE = 1 << 17, ROUNDS = 5, SKIPPED = 77 };

struct bytes {
    char *at;
    size_t n;
    size_t capacity;
};

static const struct sparklog_limits limits = {
    .line_bytes = 8 << 20, .stages = 1000000, .tasks = 50000000, .memory_bytes = (size_t)4 << 30};

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum pv_code gather(void *context, const char *piece, size_t n, struct pv_error *err)
{
    struct bytes *bytes = context;
    if (n > bytes->capacity - bytes->n) {
        size_t capacity = (bytes->n + n) * 2;
        char *grown = realloc(bytes->at, capacity);
        if (grown == NULL)
            return pv_fail(err, PV_E_MEMORY, "not enough memory");
        bytes->at = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->at + bytes->n, piece, n);
    bytes->n += n;
    return PV_OK;
}

/* The plain bytes of a file; n == 0 when it cannot be read. */
static struct bytes load(const char *path)
{
    struct bytes bytes = {NULL, 0, 0};
    const struct framing_limits wide = {
        .total_bytes = 1ULL << 40, .ratio = 1e6, .window_log_max = 27};
    FILE *file = fopen(path, "rb");
    struct framing *framing = framing_create(&wide, gather, &bytes);
    static char piece[PIECE];
    size_t n;
    enum pv_code code = PV_OK;
    while (file != NULL && framing != NULL && code == PV_OK &&
           (n = fread(piece, 1, sizeof piece, file)) > 0)
        code = framing_feed(framing, piece, n, NULL);
    framing_destroy(framing);
    if (file != NULL)
        (void)fclose(file);
    return bytes;
}

static size_t count_lines(const struct bytes *bytes)
{
    size_t lines = 0;
    const char *end = bytes->at + bytes->n;
    for (const char *at = bytes->at; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        lines++;
    return lines;
}

/* Seconds for `times` copies of the log; the run of all of them must be sound. */
static double time_reader(const struct bytes *bytes, size_t times, struct run *run)
{
    struct arena arena;
    arena_init(&arena, 0);
    double began = now();
    struct sparklog *log = sparklog_create(&limits);
    enum pv_code code = log == NULL ? PV_E_MEMORY : PV_OK;
    for (size_t i = 0; i < times && code == PV_OK; i++) {
        for (size_t at = 0; at < bytes->n && code == PV_OK; at += PIECE)
            code = sparklog_feed(log, bytes->at + at, bytes->n - at < PIECE ? bytes->n - at : PIECE,
                                 NULL);
    }
    if (code == PV_OK)
        code = sparklog_finish(log, &arena, run, NULL);
    double took = now() - began;
    if (code != PV_OK)
        fprintf(stderr, "the reader answered %s\n", pv_code_name(code));
    sparklog_destroy(log);
    arena_fini(&arena);
    return code == PV_OK ? took : -1;
}

static int bench(const char *path, double megabytes)
{
    struct bytes bytes = load(path);
    if (bytes.n == 0) {
        printf("%s cannot be read\n", path);
        return SKIPPED;
    }
    size_t times = (size_t)(megabytes * 1e6 / (double)bytes.n) + 1;
    double total = (double)bytes.n * (double)times / 1e6;
    double best_reader = 1e300;
    double best_lines = 1e300;
    size_t lines = 0;
    struct run run;
    for (int round = 0; round < ROUNDS; round++) {
        double began = now();
        lines = 0;
        for (size_t i = 0; i < times; i++)
            lines += count_lines(&bytes);
        double took = now() - began;
        best_lines = took < best_lines ? took : best_lines;
        took = time_reader(&bytes, times, &run);
        if (took < 0)
            return 1;
        best_reader = took < best_reader ? took : best_reader;
    }
    const char *name = strrchr(path, '/');
    printf("%-48s %6.0f MB %9zu lines %9" PRId64 " tasks: reader %5.0f MB/s, newlines %6.0f MB/s, "
           "ratio %.3f\n",
           name == NULL ? path : name + 1, total, lines, run.tasks_succeeded, total / best_reader,
           total / best_lines, best_lines / best_reader);
    free(bytes.at);
    return 0;
}

int main(int argc, char **argv)
{
    double megabytes = argc > 1 ? strtod(argv[1], NULL) : 200;
    if (argc > 2) {
        int worst = 0;
        for (int i = 2; i < argc; i++)
            worst |= bench(argv[i], megabytes);
        return worst;
    }
    static const char *const logs[] = {
        "rapids/qualification/nds_q88_photon_db_13_3.zstd", "rapids/profiling/nds_q66_gpu.zstd",
        "rapids/profiling/tasks_executors_fail_compressed_eventlog.zstd"};
    int worst = 0;
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/data/spark-eventlogs/%s", shared_directory(),
                       logs[i]);
        int result = bench(path, megabytes);
        worst = result > worst ? result : worst;
    }
    return worst;
}
