#include "codec/deadlines/launches.h"

void codec_launches_encode(struct writer *w,
                           const struct edf_memory *memory,
                           const struct launches *launches)
{
    writer_member_object(w, "memory");
    writer_member_integer(w, "memory_bytes", memory->bytes);
    writer_member_string(w, "launch_order", edf_launch_order_words[memory->order]);
    writer_member_integer(w, "fits_at_once", (int64_t)launches->fits_at_once);
    writer_member_integer(w, "waited", (int64_t)launches->waited);
    writer_end_object(w);
}
