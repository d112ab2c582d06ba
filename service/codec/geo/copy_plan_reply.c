#include "codec/geo/copy_plan.h"

#include <math.h>

static void
encode_who(struct writer *w, const struct codec_copy_plan *request, size_t job, size_t task)
{
    writer_member_text(w, "job", request->jobs[job]);
    writer_member_text(w, "task", request->tasks[job][task]);
}

static void
encode_copies(struct writer *w, const struct codec_copy_plan *request, const struct geo_plan *plan)
{
    writer_member_array(w, "copies");
    for (size_t i = 0; i < plan->n_copies; i++) {
        const struct geo_plan_copy *copy = &plan->copies[i];
        writer_begin_object(w);
        encode_who(w, request, copy->job, copy->task);
        writer_member_text(w, "cluster", request->clusters[copy->cluster]);
        writer_member_integer(w, "round", copy->round);
        writer_member_number(w, "rate_bytes_per_s", copy->rate_bytes_per_s);
        writer_member_number(w, "expected_duration_s", copy->duration_s);
        writer_member_number(w, "saved_s", copy->saved_s);
        writer_member_number(w, "exemption_gain", copy->exemption_gain);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void
encode_tasks(struct writer *w, const struct codec_copy_plan *request, const struct geo_plan *plan)
{
    writer_member_array(w, "tasks");
    for (size_t i = 0; i < plan->n_tasks; i++) {
        const struct geo_plan_task *task = &plan->tasks[i];
        writer_begin_object(w);
        encode_who(w, request, task->job, task->task);
        writer_member_array(w, "clusters");
        for (size_t k = 0; k < task->n_clusters; k++)
            writer_text(w, request->clusters[task->clusters[k]]);
        writer_end_array(w);
        writer_member_number(w, "rate_bytes_per_s", task->rate_bytes_per_s);
        writer_member_number(w, "expected_duration_s", task->duration_s);
        writer_member_number(w, "exemption_probability", task->exemption_probability);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void
encode_waiting(struct writer *w, const struct codec_copy_plan *request, const struct geo_plan *plan)
{
    writer_member_array(w, "waiting");
    for (size_t i = 0; i < plan->n_waiting; i++) {
        const struct geo_plan_waiting *waiting = &plan->waiting[i];
        writer_begin_object(w);
        encode_who(w, request, waiting->job, waiting->task);
        writer_member_string(w, "reason", geo_reason_name(waiting->reason));
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_cancellations(struct writer *w,
                                 const struct codec_copy_plan *request,
                                 const struct geo_plan *plan)
{
    writer_member_array(w, "cancellations");
    for (size_t i = 0; i < plan->n_cancellations; i++) {
        const struct geo_plan_cancellation *stop = &plan->cancellations[i];
        writer_begin_object(w);
        encode_who(w, request, stop->job, stop->task);
        writer_member_text(w, "cluster", request->clusters[stop->cluster]);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void
encode_shares(struct writer *w, const struct codec_copy_plan *request, const struct geo_plan *plan)
{
    writer_member_array(w, "shares");
    for (size_t i = 0; i < plan->n_shares; i++) {
        writer_begin_object(w);
        writer_member_text(w, "job", request->jobs[plan->shares[i].job]);
        writer_member_integer(w, "slots", plan->shares[i].slots);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void
encode_use(struct writer *w, const struct codec_copy_plan *request, const struct geo_plan *plan)
{
    writer_member_array(w, "utilization");
    for (size_t m = 0; m < request->problem.n_clusters; m++) {
        writer_begin_object(w);
        writer_member_text(w, "cluster", request->clusters[m]);
        writer_member_integer(w, "slots_used", plan->use[m].slots);
        writer_member_number(w, "ingress_bytes_per_s", plan->use[m].ingress_bytes_per_s);
        writer_member_number(w, "egress_bytes_per_s", plan->use[m].egress_bytes_per_s);
        writer_end_object(w);
    }
    writer_end_array(w);
}

/* null where the planner has none; with the load where it was chosen by that. */
static void encode_epsilon(struct writer *w, const struct codec_copy_plan *request)
{
    const struct geo_system_load *load = &request->load;
    writer_member_number(w, "epsilon", geo_parameters_get(&request->parameters, "epsilon"));
    if (!writer_member_object_or_null(w, "epsilon_choice", request->epsilon_is_auto))
        return;
    writer_member_number(w, "load", load->load);
    writer_member_integer(w, "slots", load->slots);
    writer_member_integer(w, "busy_slots", load->busy_slots);
    writer_member_integer(w, "ready_tasks", load->ready_tasks);
    writer_end_object(w);
}

void codec_copy_plan_encode(struct writer *w,
                            const struct codec_copy_plan *request,
                            const struct geo_plan *plan)
{
    writer_begin_object(w);
    writer_member_string(w, "algorithm", request->parameters.planner->name);
    encode_epsilon(w, request);
    writer_member_number(w, "slot_s", request->problem.slot_s);
    encode_cancellations(w, request, plan);
    encode_copies(w, request, plan);
    encode_tasks(w, request, plan);
    encode_waiting(w, request, plan);
    encode_shares(w, request, plan);
    encode_use(w, request, plan);
    codec_copy_plan_encode_sources(w, request, plan);
    writer_end_object(w);
}
