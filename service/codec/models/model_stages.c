#include "codec/models/model_stages.h"

static const double COUNT_MAX = 1e12;
static const double SECONDS_MAX = 1e12;
static const double SECONDS_MIN = 1e-9;

/* A measure that some rows have and some do not cannot be a column. */
static double
decode_measure(const struct codec_node *row, const struct codec_node *first, const char *key)
{
    bool wanted = json_is_object(first->json) && codec_present(first, key);
    if (wanted && !codec_present(row, key))
        codec_fault_member(row, key, "required", "is required, as in the first observation");
    if (!wanted && codec_present(row, key))
        codec_fault_member(row, key, "conflict",
                           "must be left out: the first observation has none");
    return codec_number(row, key, CODEC_NULLABLE, SECONDS_MIN, SECONDS_MAX);
}

void codec_stage_row_decode(const struct codec_node *row,
                            const struct codec_node *first,
                            struct observation *out)
{
    static const char *const known[] = {"n",         "parallel_s", "serial_s",
                                        "induced_s", "max_task_s", NULL};
    *out = MODEL_OBSERVATION;
    if (!codec_expect_object(row))
        return;
    codec_refuse_unknown(row, known);
    out->executors = codec_number(row, "n", CODEC_REQUIRED, 1, COUNT_MAX);
    out->serial_s = codec_number(row, "serial_s", CODEC_REQUIRED, 0, SECONDS_MAX);
    out->induced_s = codec_number(row, "induced_s", CODEC_REQUIRED, 0, SECONDS_MAX);
    out->parallel_s = decode_measure(row, first, "parallel_s");
    out->max_task_s = decode_measure(row, first, "max_task_s");
    if (!codec_present(row, "parallel_s") && !codec_present(row, "max_task_s"))
        codec_fault_member(row, "max_task_s", "required",
                           "is required, or parallel_s in all observations");
}
