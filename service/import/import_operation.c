#include "import/import_operation.h"

#include "api/operations/operation_document.h"
#include "base/json_writer.h"
#include "logfiles/report.h"
#include "threads/clock.h"

/* --- what is asked --- */

static void write_labels(struct writer *w, const struct bulk_options *options)
{
    writer_key(w, "labels");
    writer_begin_object(w);
    for (size_t i = 0; i < options->n_labels; i++) {
        writer_key_view(w, options->labels[i].key);
        writer_text(w, options->labels[i].value);
    }
    writer_end_object(w);
}

static struct strview write_request(struct arena *arena,
                                    const struct bulk_options *options,
                                    const char *const paths[],
                                    size_t n_paths,
                                    const struct find *find)
{
    struct writer w;
    struct strview text;
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_key(&w, "paths");
    writer_begin_array(&w);
    for (size_t i = 0; i < n_paths; i++)
        writer_text(&w, log_name_view(arena, paths[i]));
    writer_end_array(&w);
    writer_member_string(&w, "application", options->application);
    write_labels(&w, options);
    writer_member_integer(&w, "files", (int64_t)find->n);
    writer_member_integer(&w, "bytes", (int64_t)find->bytes);
    writer_end_object(&w);
    text.at = writer_finish(&w, &text.n);
    return text;
}

enum pv_code import_operation_begin(struct import_operation *import,
                                    const struct bulk_options *options,
                                    const char *const paths[],
                                    size_t n_paths,
                                    const struct find *find,
                                    struct pv_error *err)
{
    struct operation_request asked = {
        .kind = "import", .application_name = strview_of(options->application), .trace_id = ""};
    import->cancelled = false;
    import->begun_ns = clock_monotonic_ns();
    arena_init(&import->arena, 0);
    summary_init(&import->summary, find);
    asked.request = write_request(&import->arena, options, paths, n_paths, find);
    enum pv_code code =
        asked.request.at == NULL
            ? pv_no_memory(err)
            : local_operation_begin(&import->local, options->store, options->config, &options->who,
                                    options->request_id, &asked, err);
    if (code == PV_OK)
        return code;
    summary_fini(&import->summary);
    arena_fini(&import->arena);
    return code;
}

bool import_operation_report(struct import_operation *import, const struct log_progress *progress)
{
    int64_t total = (int64_t)import->summary.find->bytes;
    int64_t done = (int64_t)progress->bytes;
    if (!local_operation_report(&import->local, done < total ? done : total, total, "bytes"))
        import->cancelled = true;
    return !import->cancelled;
}

/* --- the end --- */

enum pv_code import_operation_end(struct import_operation *import,
                                  bool stopped,
                                  const struct pv_error *lost,
                                  struct pv_error *err)
{
    struct strview document;
    double seconds = (double)(clock_monotonic_ns() - import->begun_ns) / 1e9;
    enum operation_status status = lost != NULL ? OPERATION_FAILED
                                   : stopped    ? OPERATION_CANCELLED
                                                : OPERATION_SUCCEEDED;
    document.at = lost != NULL ? operation_describe_error(&import->arena, lost, &document.n)
                               : summary_write(&import->summary, stopped, seconds, &document.n);
    enum pv_code code = document.at == NULL
                            ? pv_no_memory(err)
                            : local_operation_end(&import->local, status, document, err);
    summary_fini(&import->summary);
    arena_fini(&import->arena);
    return code;
}
