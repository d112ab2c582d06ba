#include "core/advice/answer.h"

#include "core/advice/label_group_explain.h"

/* Schedule the recommended configuration with the running jobs. */
static enum pv_code check_running(const struct advice_known *known,
                                  uint64_t task_budget,
                                  struct arena *arena,
                                  struct arena *scratch,
                                  struct advice_answer *answer,
                                  struct pv_error *err)
{
    const struct advice_question *asked = known->question;
    const struct curve *curve = &answer->curve;
    const struct advise_choice *choice = &answer->advice.recommendation;
    const struct joint_question question = {
        .runs = known->runs,
        .n_runs = known->n_runs,
        .target = {curve->problem_size, choice->executors, curve->cores_per_executor},
        .predicted_duration_s = choice->predicted_duration_s,
        .deadline_s = asked->goal.deadline_s,
        .running = known->running,
        .n_running = asked->n_running,
        .cores = asked->cluster_cores != RUN_UNKNOWN
                     ? (size_t)asked->cluster_cores
                     : (size_t)asked->goal.max_executors * (size_t)curve->cores_per_executor,
        .task_budget = task_budget};
    const char **names = arena_array(arena, asked->n_running, sizeof *names);
    if (names == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < asked->n_running; i++)
        names[i] = asked->running[i].application.at;
    PV_TRY(joint_feasibility_check(&question, arena, scratch, &answer->joint, err));
    answer->has_joint = true;
    return joint_feasibility_explain(&question, &answer->joint, names, arena, &answer->advice, err);
}

enum pv_code advice_answer(const struct advice_known *known,
                           const struct advice_limits *limits,
                           struct arena *arena,
                           struct arena *scratch,
                           struct advice_answer *answer,
                           struct pv_error *err)
{
    const struct advice_question *asked = known->question;
    const struct advise_goal *goal = &asked->goal;
    const struct pricing_terms *terms = &known->cluster->pricing;
    const struct history_prediction *prediction = known->prediction;
    const struct predictor *predictor = &prediction->predictor;
    struct advice *advice = &answer->advice;
    *answer = (struct advice_answer){.has_joint = false};
    PV_TRY(pricing_advise(&prediction->curve, goal, terms, arena, &answer->curve, advice,
                          &answer->pricing, err));
    PV_TRY(pricing_explain(terms, &answer->pricing, goal, advice, err));
    PV_TRY(advice_cluster_explain(known->cluster, asked, advice, err));
    if (predictor->has_replay || predictor->has_model)
        PV_TRY(predictor_explain(predictor, &prediction->curve, advice, err));
    PV_TRY(unrelated_runs_explain(&prediction->unrelated, advice, err));
    PV_TRY(label_group_explain(&prediction->group, asked, arena, advice, err));
    if (asked->n_running > 0)
        PV_TRY(check_running(known, limits->joint_task_budget, arena, scratch, answer, err));
    if ((asked->include & ADVICE_STAGES) != 0)
        PV_TRY(quotas_plan(&prediction->stages, goal, prediction->curve.cores_per_executor, arena,
                           advice, &answer->quotas, &answer->has_quotas, err));
    return PV_OK;
}
