#include "codec/geo/pingan.h"

#include <string.h>

static const int64_t ROUNDS_MAX = 1000;

enum { PRINCIPLES = 4 };
static const char *const principles[] = {"eff-reli", "reli-eff", "eff-eff", "reli-reli", NULL};
static const enum insurance_aim aims[PRINCIPLES][2] = {
    {INSURANCE_EFFICIENCY, INSURANCE_RELIABILITY},
    {INSURANCE_RELIABILITY, INSURANCE_EFFICIENCY},
    {INSURANCE_EFFICIENCY, INSURANCE_EFFICIENCY},
    {INSURANCE_RELIABILITY, INSURANCE_RELIABILITY}};
static const char *const allocations[] = {"efa", "jga", NULL};

/* True: "auto", drawn from the load once that is known. Absent: what there is stays. */
static bool decode_epsilon(const struct codec_node *object, struct insurance_terms *terms)
{
    struct codec_node epsilon = codec_member(object, "epsilon");
    const char *word = json_string_value(epsilon.json);
    if (epsilon.json == NULL)
        return false;
    if (word != NULL && strcmp(word, "auto") == 0)
        return true;
    if (word != NULL)
        codec_fault(&epsilon, "not_allowed", "must be \"auto\", or a number above 0 and at most 1");
    else
        terms->epsilon = codec_number(object, "epsilon", CODEC_ABOVE, 0, 1);
    return false;
}

bool codec_insurance_decode(const struct codec_node *object, struct insurance_terms *terms)
{
    bool is_auto = decode_epsilon(object, terms);
    int64_t rounds = codec_integer(object, "max_rounds", CODEC_OPTIONAL, 1, ROUNDS_MAX);
    if (rounds != RUN_UNKNOWN)
        terms->max_rounds = rounds;
    size_t principle = codec_choice(object, "principle", CODEC_OPTIONAL, principles, 0);
    terms->first = aims[principle][0];
    terms->second = aims[principle][1];
    terms->job_by_job = codec_choice(object, "allocation", CODEC_OPTIONAL, allocations, 0) == 1;
    return is_auto;
}

void codec_insurance_refuse(const struct codec_node *object, enum geo_algorithm algorithm)
{
    static const char *const own[] = {"epsilon", "max_rounds", "principle", "allocation", NULL};
    for (size_t i = 0; own[i] != NULL; i++) {
        struct codec_node member = codec_member(object, own[i]);
        if (json_is_null(member.json))
            codec_fault(&member, "wrong_type", "must not be null");
        else if (member.json != NULL)
            codec_fault(&member, "conflict", "%s has none: it is a term of pingan",
                        geo_algorithm_name(algorithm));
    }
}

void codec_insurance_encode(struct writer *w, const struct insurance_terms *terms, bool is_auto)
{
    size_t principle = 0;
    while (principle + 1 < PRINCIPLES &&
           (aims[principle][0] != terms->first || aims[principle][1] != terms->second))
        principle++;
    if (is_auto)
        writer_member_string(w, "epsilon", "auto");
    else
        writer_member_number(w, "epsilon", terms->epsilon);
    writer_member_integer(w, "max_rounds", terms->max_rounds);
    writer_member_string(w, "principle", principles[principle]);
    writer_member_string(w, "allocation", allocations[terms->job_by_job]);
}
