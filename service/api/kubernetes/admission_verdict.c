#include "api/kubernetes/admission_verdict.h"

#include "api/kubernetes/admission_words.h"
#include "codec/kubernetes/admission_question.h"
#include "codec/kubernetes/spark_patch.h"

enum { CODE_FORBIDDEN = 403, CODE_INVALID = 422, CODE_UNAVAILABLE = 503 };

static const char NO_WORDS[] = "provisor: there is no memory for an explanation";

static void refuse(struct admission_answer *answer, unsigned code, const char *message)
{
    answer->allowed = false;
    answer->code = code;
    answer->message = message == NULL ? NO_WORDS : message;
}

/* Whatever is decided. */
static void warn_besides(struct admission_answer *answer, const char *message)
{
    if (answer->n_warnings < REVIEW_WARNINGS_MAX)
        answer->warnings[answer->n_warnings++] = message == NULL ? NO_WORDS : message;
}

static void warn(struct admission_answer *answer, const char *message)
{
    answer->allowed = true;
    warn_besides(answer, message);
}

static bool denies(const struct admission_review *review, bool rule)
{
    return rule && !review->question.only_warns;
}

static void settle(const struct admission_review *review,
                   bool rule,
                   unsigned code,
                   const char *message,
                   struct admission_answer *answer)
{
    if (denies(review, rule))
        refuse(answer, code, message);
    else
        warn(answer, message);
}

static void warn_of_unknown(const struct admission_review *review, struct admission_answer *answer)
{
    for (size_t i = 0; i < review->n_unknown; i++)
        warn_besides(answer, review->unknown[i]);
}

/* --- the verdict --- */

/* NULL where one of them is: there is no memory. */
static const char *join(const char *a, const char *between, const char *b, struct arena *arena)
{
    return a == NULL || b == NULL ? NULL : arena_printf(arena, "%s%s%s", a, between, b);
}

/* A refusal is one text, whose sentences warnings have one by one. */
static void settle_sentences(const struct admission_review *review,
                             bool rule,
                             const char *subject,
                             const char *const sentences[],
                             size_t n,
                             struct arena *arena,
                             struct admission_answer *answer)
{
    const char *all = join(subject, "", sentences[0], arena);
    for (size_t i = 1; i < n; i++)
        all = join(all, " ", sentences[i], arena);
    if (denies(review, rule))
        refuse(answer, CODE_FORBIDDEN, all);
    for (size_t i = 0; i < n && !denies(review, rule); i++)
        warn(answer, join(subject, "", sentences[i], arena));
}

static void settle_late(const struct admission_rules *rules,
                        const struct admission_review *review,
                        const struct advice_made *made,
                        const char *subject,
                        struct arena *arena,
                        struct admission_answer *answer)
{
    enum advise_verdict verdict = made->answer.advice.verdict;
    const char *sentences[3] = {admission_describe_prediction(made, arena),
                                admission_describe_remedy(review, made, arena)};
    size_t n = 2;
    if (!rules->validates && verdict == ADVISE_MISSED)
        sentences[n++] = admission_describe_considered(review, made, arena);
    settle_sentences(review, rules->denies[verdict], subject, sentences, n, arena, answer);
}

/* provisor/action: warn */
static void warn_of_changes(const struct admission_review *review,
                            const struct advice_made *made,
                            struct arena *arena,
                            struct admission_answer *answer)
{
    enum { TEXTS = 3, PREFIX = sizeof "provisor: " - 1 };
    const char *texts[TEXTS];
    bool memory = false;
    size_t n =
        spark_patch_describe(&review->object, &made->answer.spark, review->question.preserve,
                             review->question.n_preserve, REVIEW_WARNING_BYTES_MAX + 1 - PREFIX,
                             arena, texts, TEXTS, &memory);
    for (size_t i = 0; i < n; i++)
        warn(answer, arena_printf(arena, "provisor: %s", texts[i]));
    if (n == 0)
        warn(answer, memory ? NULL : "provisor: would change nothing");
}

static bool is_put_into_effect(const struct admission_rules *rules, const struct advice_made *made)
{
    enum advise_verdict verdict = made->answer.advice.verdict;
    return !rules->validates && made->answer.has_spark && made->answer.spark.refused == NULL &&
           (verdict == ADVISE_MET || verdict == ADVISE_AT_RISK);
}

void admission_judge(const struct admission_rules *rules,
                     const struct admission_review *review,
                     const struct advice_made *made,
                     struct arena *arena,
                     struct admission_answer *answer)
{
    enum advise_verdict verdict = made->answer.advice.verdict;
    const char *subject = admission_subject(made, arena);
    bool differs = false;
    answer->verdict = advise_verdict_name(verdict);
    answer->allowed = true;
    if (verdict == ADVISE_UNKNOWN)
        settle(review, rules->denies[verdict], CODE_FORBIDDEN,
               join(subject, "", admission_describe_unknown(made, arena), arena), answer);
    else if (verdict != ADVISE_MET)
        settle_late(rules, review, made, subject, arena, answer);
    if (review->question.only_warns && is_put_into_effect(rules, made))
        warn_of_changes(review, made, arena, answer);
    const char *memory =
        verdict == ADVISE_UNKNOWN ? NULL : admission_describe_memory(review, made, arena, &differs);
    if (differs)
        warn_besides(answer, join(subject, "", memory, arena));
    if (is_put_into_effect(rules, made)) {
        const char *proposal = admission_describe_memory_proposal(made, arena, &differs);
        if (differs)
            warn_besides(answer, join(subject, "", proposal, arena));
    }
    if (admission_applies(rules, review, made)) {
        const char *change = admission_describe_memory_change(review, made, arena, &differs);
        if (differs)
            warn_besides(answer, join(subject, "", change, arena));
    }
    if (made->answer.has_spark && made->answer.spark.refused != NULL)
        warn_besides(answer, arena_printf(arena, "%s%sSpark would not start: %s.",
                                          subject == NULL ? "" : subject,
                                          rules->validates ? "" : "left as it is, because ",
                                          made->answer.spark.refused));
    warn_of_unknown(review, answer);
}

/* --- without a verdict --- */

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

static const char *describe_lack(const struct admission_rules *rules,
                                 const struct admission_review *review,
                                 const struct pv_error *err,
                                 struct arena *arena)
{
    const struct pv_fault *fault = err->n_faults > 0 ? &err->faults[0] : NULL;
    const char *origin =
        is_beyond_bounds(err) ? codec_admission_origin(fault->at, !rules->validates) : "";
    char name[64];
    strview_shorten(review->question.application, name, sizeof name);
    return arena_printf(arena, "provisor: there is no prediction for %s: %s%s%s", name, origin,
                        origin[0] == '\0' ? "" : " ", fault == NULL ? err->detail : fault->detail);
}

/* False: it is the service that fails. */
static bool settle_fault(const struct admission_rules *rules,
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
               describe_lack(rules, review, err, arena), answer);
        return true;
    }
    if (has_fault(err, "key_reused")) {
        settle(review, rules->closed, CODE_INVALID,
               "provisor: a review with this uid was answered for another object or other "
               "parameters; send a new uid",
               answer);
        return true;
    }
    if (code != PV_E_INVALID || fault == NULL || fault->place != PV_PLACE_POINTER)
        return false;
    settle(review, rules->validates, CODE_INVALID,
           arena_printf(arena, "provisor: %s: %s",
                        codec_admission_origin(fault->at, !rules->validates), fault->detail),
           answer);
    return true;
}

bool admission_judge_fault(const struct admission_rules *rules,
                           const struct admission_review *review,
                           enum pv_code code,
                           const struct pv_error *err,
                           struct arena *arena,
                           struct admission_answer *answer)
{
    bool settled = settle_fault(rules, review, code, err, arena, answer);
    if (settled)
        warn_of_unknown(review, answer);
    return settled;
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
    warn_of_unknown(review, answer);
}

void admission_fail(const struct admission_rules *rules, struct admission_answer *answer)
{
    *answer = (struct admission_answer){.allowed = true};
    if (rules->closed)
        refuse(answer, CODE_UNAVAILABLE,
               "provisor: the service cannot answer now; try again later");
    else
        warn(answer,
             "provisor: the service cannot answer now; the application is admitted as it is");
}

bool admission_applies(const struct admission_rules *rules,
                       const struct admission_review *review,
                       const struct advice_made *made)
{
    return !review->question.only_warns && is_put_into_effect(rules, made);
}
