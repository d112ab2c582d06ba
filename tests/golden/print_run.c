/*
 * What the reader makes of a log, as text for test_stages.py; with --plain the decompressed bytes.
 *
 *     print_run [--plain] PART...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compression/compression.h"
#include "read_log.h"
#include "run_text.h"

static enum pv_code to_stdout(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    (void)context;
    return fwrite(bytes, 1, n, stdout) == n ? PV_OK : pv_fail(err, PV_E_INTERNAL, "cannot write");
}

static int print_plain(const char *path)
{
    const struct compression_limits limits = {
        .total_bytes = 1ULL << 40, .ratio = 1e6, .window_log_max = 27};
    struct decompressor *framing = decompressor_create(&limits, to_stdout, NULL);
    FILE *file = fopen(path, "rb");
    static char bytes[65536];
    size_t n;
    enum pv_code code = framing == NULL || file == NULL ? PV_E_NOT_FOUND : PV_OK;
    while (code == PV_OK && (n = fread(bytes, 1, sizeof bytes, file)) > 0)
        code = decompressor_feed(framing, bytes, n, NULL);
    if (file != NULL)
        (void)fclose(file);
    decompressor_destroy(framing);
    return code != PV_OK;
}

static enum pv_code print_parts(
    int n, char *const parts[], struct log_reader *log, struct arena *arena, struct pv_error *err)
{
    enum pv_code code = PV_OK;
    for (int i = 0; i < n && code == PV_OK; i++)
        code = read_log(parts[i], 65536, log, err);
    struct run run;
    if (code == PV_OK)
        code = log_reader_finish(log, arena, &run, err);
    if (code != PV_OK)
        return code;
    char *text = run_text(&run);
    if (text == NULL)
        return PV_E_MEMORY;
    (void)fputs(text, stdout);
    free(text);
    return PV_OK;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--plain") == 0)
        return print_plain(argv[2]);
    struct arena arena;
    arena_init(&arena, 0);
    struct pv_error err;
    pv_error_clear(&err);
    struct log_reader *log = log_reader_create(&sparklog_kind, &wide_limits);
    enum pv_code code =
        log == NULL ? PV_E_MEMORY : print_parts(argc - 1, argv + 1, log, &arena, &err);
    if (code != PV_OK)
        fprintf(stderr, "%s: %s\n", pv_code_name(code), err.detail);
    log_reader_destroy(log);
    arena_fini(&arena);
    return code != PV_OK;
}
