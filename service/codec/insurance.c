#include "codec/insurance.h"

static const int64_t ROUNDS_MAX = 1000;

enum { PRINCIPLES = 4 };
static const char *const principles[] = {"eff-reli", "reli-eff", "eff-eff", "reli-reli", NULL};
static const enum insurance_aim aims[PRINCIPLES][2] = {
    {INSURANCE_EFFICIENCY, INSURANCE_RELIABILITY},
    {INSURANCE_RELIABILITY, INSURANCE_EFFICIENCY},
    {INSURANCE_EFFICIENCY, INSURANCE_EFFICIENCY},
    {INSURANCE_RELIABILITY, INSURANCE_RELIABILITY}};
static const char *const allocations[] = {"efa", "jga", NULL};

void codec_insurance_decode(const struct codec_node *object, struct insurance_terms *terms)
{
    int64_t rounds = codec_integer(object, "max_rounds", CODEC_OPTIONAL, 1, ROUNDS_MAX);
    if (rounds != RUN_UNKNOWN)
        terms->max_rounds = rounds;
    size_t principle = codec_choice(object, "principle", CODEC_OPTIONAL, principles, 0);
    terms->first = aims[principle][0];
    terms->second = aims[principle][1];
    terms->job_by_job = codec_choice(object, "allocation", CODEC_OPTIONAL, allocations, 0) == 1;
}

void codec_insurance_encode(struct writer *w, const struct insurance_terms *terms)
{
    size_t principle = 0;
    while (principle + 1 < PRINCIPLES &&
           (aims[principle][0] != terms->first || aims[principle][1] != terms->second))
        principle++;
    writer_member_integer(w, "max_rounds", terms->max_rounds);
    writer_member_string(w, "principle", principles[principle]);
    writer_member_string(w, "allocation", allocations[terms->job_by_job]);
}
