#include "sparklog_cases.h"

#include <stdio.h>
#include <string.h>

const struct joblog_limits case_limits = {
    .line_bytes = 1 << 20, .stages = 1000, .tasks = 10000, .memory_bytes = 8 << 20};

void case_hash(const unsigned char key[32], struct strview text, char digits[17])
{
    uint32_t sum = key[0];
    for (size_t i = 0; i < text.n; i++)
        sum = sum * 31 + (unsigned char)text.at[i];
    (void)snprintf(digits, 17, "%08zx%08x", text.n, (unsigned)sum);
}

void reading_init(struct reading *reading,
                  const char *text,
                  size_t piece,
                  const struct joblog_limits *limits)
{
    memset(reading, 0, sizeof *reading);
    arena_init(&reading->arena, 0);
    struct log_reader *log = log_reader_create(&sparklog_kind, limits);
    if (log == NULL) {
        reading->code = PV_E_MEMORY;
        return;
    }
    size_t n = strlen(text);
    piece = piece == 0 ? n + 1 : piece;
    for (size_t at = 0; at < n && reading->code == PV_OK; at += piece)
        reading->code =
            log_reader_feed(log, text + at, n - at < piece ? n - at : piece, &reading->err);
    if (reading->code == PV_OK)
        reading->code = log_reader_finish(log, &reading->arena, &reading->run, &reading->err);
    reading->counts = log_reader_counts(log);
    log_reader_destroy(log);
}

void reading_fini(struct reading *reading)
{
    arena_fini(&reading->arena);
}

int64_t reading_warning(const struct reading *reading, const char *code)
{
    const struct finding *found = finding_find(&reading->run.warnings, code);
    return found == NULL ? 0 : (int64_t)finding_value(found, "count");
}

const struct run_stage *reading_stage(const struct reading *reading, int64_t id)
{
    for (size_t i = 0; i < reading->run.n_stages; i++) {
        if (reading->run.stages[i].id == id)
            return &reading->run.stages[i];
    }
    return NULL;
}
