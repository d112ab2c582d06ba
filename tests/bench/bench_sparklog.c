/*
 * Our side of bench_sparklog.py: one event log (plain or compressed), read from its file in pieces
 * as an upload brings them, through framing and the log reader. Prints one line of JSON.
 *
 *     bench_sparklog read FILE
 *     bench_sparklog decode FILE    framing alone: what the codec costs
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compression/compression.h"
#include "core/joblog/spark/sparklog.h"

enum { PIECE = 1 << 17 };

static const struct joblog_limits limits = {
    .line_bytes = 64 << 20, .stages = 1000000, .tasks = 50000000, .memory_bytes = (size_t)4 << 30};

static enum pv_code take_plain(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    return log_reader_feed(context, bytes, n, err);
}

static enum pv_code drop_plain(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    (void)context, (void)bytes, (void)n, (void)err;
    return PV_OK;
}

static enum pv_code read_file(int file, struct decompressor *framing, struct pv_error *err)
{
    static char piece[PIECE];
    ssize_t n;
    while ((n = read(file, piece, sizeof piece)) > 0) {
        enum pv_code code = decompressor_feed(framing, piece, (size_t)n, err);
        if (code != PV_OK)
            return code;
    }
    bool truncated;
    return n < 0 ? pv_fail(err, PV_E_INVALID, "the file cannot be read")
                 : decompressor_finish(framing, &truncated, err);
}

static void print(struct joblog_counts counts, const struct run *run)
{
    struct rusage used;
    (void)getrusage(RUSAGE_SELF, &used);
    printf("{\"bytes\": %" PRIu64 ", \"lines\": %" PRIu64 ", \"tasks\": %" PRId64
           ", \"task_ms\": %.0f, \"peak_kb\": %ld}\n",
           counts.bytes, counts.lines, run->tasks_succeeded, run->task_time_s * 1000,
           used.ru_maxrss);
}

static int
read_log(struct decompressor *framing, struct log_reader *log, const char *path, bool only_decode)
{
    struct pv_error err;
    pv_error_clear(&err);
    struct arena arena;
    arena_init(&arena, 0);
    struct run run;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    enum pv_code code = read_file(file, framing, &err);
    if (code == PV_OK && !only_decode) {
        code = log_reader_finish(log, &arena, &run, &err);
        if (code == PV_OK)
            print(log_reader_counts(log), &run);
    }
    if (code != PV_OK)
        fprintf(stderr, "%s: %s\n", path, pv_code_name(code));
    if (file >= 0)
        (void)close(file);
    arena_fini(&arena);
    return code == PV_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    bool only_decode = argc == 3 && strcmp(argv[1], "decode") == 0;
    if (argc != 3 || (!only_decode && strcmp(argv[1], "read") != 0)) {
        fprintf(stderr, "usage: bench_sparklog read|decode FILE\n");
        return 2;
    }
    const struct compression_limits wide = {
        .total_bytes = 1ULL << 40, .ratio = 1e6, .window_log_max = 27};
    struct log_reader *log = log_reader_create(&sparklog_kind, &limits);
    struct decompressor *framing =
        decompressor_create(&wide, only_decode ? drop_plain : take_plain, log);
    int status = log == NULL || framing == NULL ? 1 : read_log(framing, log, argv[2], only_decode);
    decompressor_destroy(framing);
    log_reader_destroy(log);
    return status;
}
