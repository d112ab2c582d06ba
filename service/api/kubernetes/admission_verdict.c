#include "api/kubernetes/admission_verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "codec/kubernetes/admission_question.h"

enum { CODE_FORBIDDEN = 403, CODE_INVALID = 422, CODE_UNAVAILABLE = 503 };

static const char NO_WORDS[] = "provisor: there is no memory for an explanation";

static void refuse(struct admission_answer *answer, unsigned code, const char *message)
{
    answer->allowed = false;
    answer->code = code;
    answer->message = message == NULL ? NO_WORDS : message;
}

static void warn(struct admission_answer *answer, const char *message)
{
    answer->allowed = true;
    if (answer->n_warnings < REVIEW_WARNINGS_MAX)
        answer->warnings[answer->n_warnings++] = message == NULL ? NO_WORDS : message;
}

static void settle(const struct admission_review *review,
                   bool denies,
                   unsigned code,
                   const char *message,
                   struct admission_answer *answer)
{
    if (denies && !review->question.only_warns)
        refuse(answer, code, message);
    else
        warn(answer, message);
}

/* What would help, as far as the advice knows. */
static const char *describe_remedy(const struct advice_made *made, struct arena *arena)
{
    const struct advise_remedies *remedies = &made->answer.advice.remedies;
    if (remedies->max_executors > 0 &&
        remedies->max_executors != made->answer.advice.recommendation.executors)
        return arena_printf(arena, "; %" PRId64 " executor%s would meet it",
                            remedies->max_executors, PLURAL(remedies->max_executors));
    if (!isnan(remedies->deadline_s))
        return arena_printf(arena,
                            "; no number of executors that is allowed would meet it, a deadline of "
                            "%.4g s would be met",
                            remedies->deadline_s);
    return "";
}

/* "nightly-etl: 131 s (118 to 146) with 4 executors of 2 cores, the deadline is 90 s: missed; ..." */
static const char *describe(const struct advice_made *made, struct arena *arena)
{
    const struct advise_choice *choice = &made->answer.advice.recommendation;
    const char *remedy = describe_remedy(made, arena);
    int64_t cores = made->answer.curve.cores_per_executor;
    if (remedy == NULL)
        return NULL;
    return arena_printf(
        arena,
        "provisor: %.80s is predicted to take %.4g s (%.4g to %.4g s with %.4g %% confidence) with "
        "%" PRId64 " executor%s of %" PRId64 " core%s, its deadline is %.6g s%s",
        made->question.application.at, choice->predicted_duration_s, choice->lower_s,
        choice->upper_s, 100 * made->question.goal.confidence, choice->executors,
        PLURAL(choice->executors), cores, PLURAL(cores), made->question.goal.deadline_s, remedy);
}

static const char *describe_unknown(const struct advice_made *made, struct arena *arena)
{
    const struct findings *reasons = &made->answer.advice.reasons;
    return arena_printf(arena, "provisor: there is no prediction for %.80s: %s",
                        made->question.application.at,
                        reasons->n == 0 ? "its history is too short" : reasons->items[0].message);
}

void admission_judge(const struct admission_rules *rules,
                     const struct admission_review *review,
                     const struct advice_made *made,
                     struct arena *arena,
                     struct admission_answer *answer)
{
    enum advise_verdict verdict = made->answer.advice.verdict;
    answer->verdict = advise_verdict_name(verdict);
    answer->allowed = true;
    if (verdict == ADVISE_MET)
        return;
    const char *message =
        verdict == ADVISE_UNKNOWN ? describe_unknown(made, arena) : describe(made, arena);
    settle(review, rules->denies[verdict], CODE_FORBIDDEN, message, answer);
}

static bool has_fault(const struct pv_error *err, const char *code)
{
    return err->n_faults > 0 && strcmp(err->faults[0].code, code) == 0;
}

/* More executors or cores than provisor answers for, or than the cluster has. */
static bool is_beyond_bounds(const struct pv_error *err)
{
    static const char *const bounds[] = {"/constraints/min_executors", "/constraints/max_executors",
                                         "/constraints/cores_per_executor"};
    for (size_t i = 0; err->n_faults > 0 && i < sizeof bounds / sizeof *bounds; i++)
        if (strcmp(err->faults[0].at, bounds[i]) == 0)
            return true;
    return false;
}

/* What the history lacks is no mistake of the author's. */
static bool is_unknown(enum pv_code code, const struct pv_error *err)
{
    return code == PV_E_TOO_FEW || code == PV_E_LIMIT || code == PV_E_DOMAIN ||
           code == PV_E_SINGULAR || has_fault(err, "unknown_application") || is_beyond_bounds(err);
}

bool admission_judge_fault(const struct admission_rules *rules,
                           const struct admission_review *review,
                           enum pv_code code,
                           const struct pv_error *err,
                           struct arena *arena,
                           struct admission_answer *answer)
{
    const struct pv_fault *fault = err->n_faults > 0 ? &err->faults[0] : NULL;
    if (is_unknown(code, err)) {
        answer->verdict = advise_verdict_name(ADVISE_UNKNOWN);
        settle(review, rules->denies[ADVISE_UNKNOWN], CODE_FORBIDDEN,
               arena_printf(arena, "provisor: there is no prediction for %.80s: %s%s%s",
                            review->question.application.at,
                            is_beyond_bounds(err) ? codec_admission_origin(fault->at) : "",
                            is_beyond_bounds(err) ? " " : "",
                            fault == NULL ? err->detail : fault->detail),
               answer);
        return true;
    }
    if (code != PV_E_INVALID || fault == NULL || fault->place != PV_PLACE_POINTER)
        return false;
    settle(
        review, rules->validates, CODE_INVALID,
        arena_printf(arena, "provisor: %s: %s", codec_admission_origin(fault->at), fault->detail),
        answer);
    return true;
}

void admission_pass(const struct admission_rules *rules,
                    const struct admission_review *review,
                    struct admission_answer *answer)
{
    answer->allowed = true;
    if (review->concern == REVIEW_FAULTY)
        settle(review, rules->validates, CODE_INVALID, review->why, answer);
    else if (review->concern == REVIEW_HALF)
        warn(answer, review->why);
}

void admission_fail(const struct admission_rules *rules, struct admission_answer *answer)
{
    *answer = (struct admission_answer){.allowed = true};
    if (rules->closed)
        refuse(answer, CODE_UNAVAILABLE, "provisor cannot answer just now: try again later");
    else
        warn(answer, "provisor cannot answer just now: the application is admitted as it is");
}

bool admission_applies(const struct admission_rules *rules,
                       const struct admission_review *review,
                       const struct advice_made *made)
{
    enum advise_verdict verdict = made->answer.advice.verdict;
    return !rules->validates && !review->question.only_warns && made->answer.has_spark &&
           (verdict == ADVISE_MET || verdict == ADVISE_AT_RISK);
}
