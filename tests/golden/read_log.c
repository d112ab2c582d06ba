#include "read_log.h"

#include <stdio.h>
#include <stdlib.h>

#include "compression/compression.h"

const struct joblog_limits wide_limits = {
    .line_bytes = 8 << 20, .stages = 100000, .tasks = 5000000, .memory_bytes = 256 << 20};

const char *shared_directory(void)
{
    const char *given = getenv("PROVISOR_SHARED");
    return given != NULL && given[0] != '\0' ? given : SHARED_DEFAULT;
}

static enum pv_code to_log(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    return log_reader_feed(context, bytes, n, err);
}

static enum pv_code read_file(
    FILE *file, size_t piece, struct decompressor *framing, bool *truncated, struct pv_error *err)
{
    char *bytes = malloc(piece);
    if (bytes == NULL)
        return PV_E_MEMORY;
    enum pv_code code = PV_OK;
    size_t n;
    while (code == PV_OK && (n = fread(bytes, 1, piece, file)) > 0)
        code = decompressor_feed(framing, bytes, n, err);
    free(bytes);
    return code == PV_OK ? decompressor_finish(framing, truncated, err) : code;
}

enum pv_code read_log(const char *path, size_t piece, struct log_reader *log, struct pv_error *err)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return pv_fail(err, PV_E_NOT_FOUND, "cannot read %.200s", path);
    const struct compression_limits limits = {
        .total_bytes = 1ULL << 40, .ratio = 10000, .window_log_max = 27};
    struct decompressor *framing = decompressor_create(&limits, to_log, log);
    bool truncated = false;
    enum pv_code code =
        framing == NULL ? PV_E_MEMORY : read_file(file, piece, framing, &truncated, err);
    if (truncated)
        log_reader_note_truncated(log, compression_kind(framing));
    decompressor_destroy(framing);
    (void)fclose(file);
    return code;
}
