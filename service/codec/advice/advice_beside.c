#include "codec/advice/advice_beside.h"

#include <math.h>

#include "codec/deadlines/launches.h"

/* standing: NULL where nothing was scheduled. */
static void write_job(struct writer *w,
                      const struct advice_running *job,
                      const struct joint_standing *standing,
                      bool memory)
{
    const bool advised = job->advice_id != NULL;
    writer_begin_object(w);
    writer_member_text(w, "application", job->application);
    writer_member_string(w, "advice_id", job->advice_id);
    writer_member_string(w, "admission_id", job->admission_id);
    writer_member_number(w, "release_s", job->release_s);
    writer_member_number(w, "deadline_s", job->deadline_s);
    writer_member_count(w, "cores", advised ? job->cores : RUN_UNKNOWN);
    writer_member_number(w, "predicted_duration_s", advised ? job->duration_s : (double)NAN);
    writer_member_number(w, "execution_s", standing == NULL ? (double)NAN : standing->execution_s);
    if (standing == NULL)
        writer_member_null(w, "met");
    else
        writer_member_boolean(w, "met", standing->met);
    if (memory) {
        writer_member_count(w, "memory_bytes", job->memory_bytes);
        writer_member_number(w, "launched_s",
                             standing == NULL ? (double)NAN : standing->launched_s);
    }
    writer_end_object(w);
}

void codec_advice_beside_encode(struct writer *w,
                                const struct advice_question *question,
                                const struct advice_answer *answer)
{
    const struct joint_outcome *joint = answer->has_joint ? &answer->joint : NULL;
    const bool memory = question->launches.bytes > 0;
    writer_member_object(w, "beside");
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < question->n_running; i++)
        write_job(w, &question->running[i], joint == NULL ? NULL : &joint->running[i], memory);
    writer_end_array(w);
    writer_member_boolean(w, "cut", question->advised_are_cut);
    if (memory) {
        writer_member_count(w, "memory_bytes", joint == NULL ? RUN_UNKNOWN : answer->joint_bytes);
        writer_member_number(w, "launched_s", joint == NULL ? (double)NAN : joint->launched_s);
        if (joint == NULL)
            writer_member_null(w, "memory");
        else
            codec_launches_encode(w, &question->launches, &joint->launches);
    }
    writer_end_object(w);
}
