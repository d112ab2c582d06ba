#include "codec/history/source_run.h"

void codec_source_runs_encode(struct writer *w, const struct run_source runs[], size_t n)
{
    writer_member_array(w, "source_runs");
    for (size_t i = 0; i < n; i++) {
        writer_begin_object(w);
        writer_member_string(w, "id", runs[i].id);
        writer_member_number(w, "problem_size", runs[i].problem_size);
        writer_member_count(w, "executors", runs[i].executors);
        writer_end_object(w);
    }
    writer_end_array(w);
}
