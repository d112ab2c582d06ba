#include "codec/geo/planner_parameters.h"

#include <math.h>

static const double SECONDS_MAX = 1e12;
static const double FACTOR_MAX = 1e6;
static const int64_t COPIES_MAX = 1000;
static const int64_t TASKS_MAX = 1000000000;

enum geo_algorithm
codec_geo_algorithm_decode(const struct codec_node *object, const char *key, unsigned flags)
{
    const char *names[GEO_ALGORITHMS + 1] = {NULL};
    for (enum geo_algorithm a = GEO_PINGAN; a < GEO_ALGORITHMS; a++)
        names[a] = geo_algorithm_name(a);
    return (enum geo_algorithm)codec_choice(object, key, flags, names, GEO_PINGAN);
}

static void take_number(const struct codec_node *object, const char *key, double most, double *into)
{
    double number = codec_number(object, key, CODEC_OPTIONAL, 0, most);
    if (!isnan(number))
        *into = number;
}

static void
take_integer(const struct codec_node *object, const char *key, int64_t most, int64_t *into)
{
    int64_t integer = codec_integer(object, key, CODEC_OPTIONAL, 1, most);
    if (integer != RUN_UNKNOWN)
        *into = integer;
}

static void decode_mantri(const struct codec_node *object, struct geo_terms *terms)
{
    static const char *const known[] = {"duplicate_probability", "copies_max", "period_s", "gain",
                                        NULL};
    struct mantri_terms *mantri = &terms->mantri;
    codec_refuse_unknown(object, known);
    take_number(object, "duplicate_probability", 1, &mantri->duplicate_probability);
    take_integer(object, "copies_max", COPIES_MAX, &mantri->copies_max);
    take_number(object, "period_s", SECONDS_MAX, &mantri->period_s);
    take_number(object, "gain", FACTOR_MAX, &mantri->gain);
}

static void decode_dolly(const struct codec_node *object, struct geo_terms *terms)
{
    static const char *const known[] = {"straggler_probability", "risk",      "budget",
                                        "utilization_max",       "tasks_max", NULL};
    struct dolly_terms *dolly = &terms->dolly;
    codec_refuse_unknown(object, known);
    take_number(object, "straggler_probability", 1, &dolly->straggler_probability);
    take_number(object, "risk", 1, &dolly->risk);
    take_number(object, "budget", 1, &dolly->budget);
    take_number(object, "utilization_max", 1, &dolly->utilization_max);
    take_integer(object, "tasks_max", TASKS_MAX, &dolly->tasks_max);
}

static void decode_spark(const struct codec_node *object, struct geo_terms *terms)
{
    static const char *const known[] = {"wait_s", "quantile", "multiplier", NULL};
    struct spark_terms *spark = &terms->spark;
    codec_refuse_unknown(object, known);
    take_number(object, "wait_s", SECONDS_MAX, &spark->wait_s);
    take_number(object, "quantile", 1, &spark->quantile);
    take_number(object, "multiplier", FACTOR_MAX, &spark->multiplier);
}

void codec_geo_terms_decode(const struct codec_node *object, struct geo_terms *terms)
{
    static const struct {
        enum geo_algorithm algorithm;
        void (*decode)(const struct codec_node *object, struct geo_terms *terms);
    } own[] = {{GEO_MANTRI, decode_mantri}, {GEO_DOLLY, decode_dolly}, {GEO_SPARK, decode_spark}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const char *name = geo_algorithm_name(own[i].algorithm);
        struct codec_node member = codec_object(object, name, CODEC_OPTIONAL);
        if (member.json == NULL)
            continue;
        if (own[i].algorithm != terms->algorithm)
            codec_fault(&member, "conflict", "these are not terms of %s",
                        geo_algorithm_name(terms->algorithm));
        else
            own[i].decode(&member, terms);
    }
}

static void encode_mantri(struct writer *w, const struct geo_terms *terms)
{
    const struct mantri_terms *mantri = &terms->mantri;
    writer_member_number(w, "duplicate_probability", mantri->duplicate_probability);
    writer_member_integer(w, "copies_max", mantri->copies_max);
    writer_member_number(w, "period_s", mantri->period_s);
    writer_member_number(w, "gain", mantri->gain);
}

static void encode_dolly(struct writer *w, const struct geo_terms *terms)
{
    const struct dolly_terms *dolly = &terms->dolly;
    writer_member_number(w, "straggler_probability", dolly->straggler_probability);
    writer_member_number(w, "risk", dolly->risk);
    writer_member_number(w, "budget", dolly->budget);
    writer_member_number(w, "utilization_max", dolly->utilization_max);
    writer_member_integer(w, "tasks_max", dolly->tasks_max);
}

static void encode_spark(struct writer *w, const struct geo_terms *terms)
{
    const struct spark_terms *spark = &terms->spark;
    writer_member_number(w, "wait_s", spark->wait_s);
    writer_member_number(w, "quantile", spark->quantile);
    writer_member_number(w, "multiplier", spark->multiplier);
}

void codec_geo_terms_encode(struct writer *w, const struct geo_terms *terms)
{
    static void (*const encode[GEO_ALGORITHMS])(struct writer * w,
                                                const struct geo_terms *terms) = {
        [GEO_MANTRI] = encode_mantri, [GEO_DOLLY] = encode_dolly, [GEO_SPARK] = encode_spark};
    if (encode[terms->algorithm] == NULL)
        return;
    writer_key(w, geo_algorithm_name(terms->algorithm));
    writer_begin_object(w);
    encode[terms->algorithm](w, terms);
    writer_end_object(w);
}
