/*
 * Our side of bench_sparklog.py: one event log (plain or compressed), read from its file in pieces
 * as an upload brings them, through framing and the log reader. Prints one line of JSON.
 *
 *     bench_sparklog FILE
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/sparklog/sparklog.h"
#include "framing/framing.h"

enum { PIECE = 1 << 17 };

static const struct sparklog_limits limits = {
    .line_bytes = 64 << 20, .stages = 1000000, .tasks = 50000000, .memory_bytes = (size_t)4 << 30};

static enum pv_code take_plain(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    return sparklog_feed(context, bytes, n, err);
}

static enum pv_code read_file(int file, struct framing *framing, struct pv_error *err)
{
    static char piece[PIECE];
    ssize_t n;
    while ((n = read(file, piece, sizeof piece)) > 0) {
        enum pv_code code = framing_feed(framing, piece, (size_t)n, err);
        if (code != PV_OK)
            return code;
    }
    bool truncated;
    return n < 0 ? pv_fail(err, PV_E_INVALID, "the file cannot be read")
                 : framing_finish(framing, &truncated, err);
}

static void print(struct sparklog_counts counts, const struct run *run)
{
    struct rusage used;
    (void)getrusage(RUSAGE_SELF, &used);
    printf("{\"bytes\": %" PRIu64 ", \"lines\": %" PRIu64 ", \"tasks\": %" PRId64
           ", \"task_ms\": %.0f, \"peak_kb\": %ld}\n",
           counts.bytes, counts.lines, run->tasks_succeeded, run->task_time_s * 1000,
           used.ru_maxrss);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bench_sparklog FILE\n");
        return 2;
    }
    const struct framing_limits wide = {1ULL << 40, 1e6, 27};
    struct pv_error err;
    pv_error_clear(&err);
    struct arena arena;
    arena_init(&arena, 0);
    struct sparklog *log = sparklog_create(&limits);
    struct framing *framing = framing_create(&wide, take_plain, log);
    int file = open(argv[1], O_RDONLY | O_CLOEXEC);
    enum pv_code code = log == NULL || framing == NULL ? PV_E_MEMORY : PV_OK;
    struct run run;
    if (code == PV_OK)
        code = read_file(file, framing, &err);
    if (code == PV_OK)
        code = sparklog_finish(log, &arena, &run, &err);
    if (code == PV_OK)
        print(sparklog_counts(log), &run);
    else
        fprintf(stderr, "%s: %s\n", argv[1], pv_code_name(code));
    (void)close(file);
    framing_destroy(framing);
    sparklog_destroy(log);
    arena_fini(&arena);
    return code == PV_OK ? 0 : 1;
}
