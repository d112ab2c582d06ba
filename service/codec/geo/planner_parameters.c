#include "codec/geo/planner_parameters.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/quantity_text.h"

const struct geo_planner *
codec_geo_planner_decode(const struct codec_node *object, const char *key, unsigned flags)
{
    const char *names[32] = {NULL};
    assert(geo_planners_n < sizeof names / sizeof *names);
    for (size_t i = 0; i < geo_planners_n; i++)
        names[i] = geo_planners[i]->name;
    return geo_planners[codec_choice(object, key, flags, names, 0)];
}

/* --- reading --- */

/* A member that may be "auto": NAN, its value, or what there was where it is absent or at fault. */
static double decode_automatic(const struct codec_node *object,
                               const struct geo_parameter *parameter,
                               unsigned flags,
                               double value)
{
    struct codec_node member = codec_member(object, parameter->name);
    const char *word = json_value_text(member.json);
    if (word != NULL && strcmp(word, "auto") == 0)
        return (double)NAN;
    if (word != NULL) {
        codec_fault(&member, "not_allowed", "must be \"auto\", or a number %s %s and at most %s",
                    parameter->above_low ? "above" : "of at least",
                    quantity_digits(parameter->low, 15).text,
                    quantity_digits(parameter->high, 15).text);
        return value;
    }
    double number = codec_number(object, parameter->name, flags, parameter->low, parameter->high);
    return isnan(number) ? value : number;
}

static double
decode_value(const struct codec_node *object, const struct geo_parameter *parameter, double value)
{
    unsigned flags = CODEC_OPTIONAL | (parameter->above_low ? CODEC_ABOVE : 0);
    if (parameter->words != NULL)
        return (double)codec_choice(object, parameter->name, CODEC_OPTIONAL, parameter->words,
                                    (size_t)value);
    if (parameter->automatic != NULL)
        return decode_automatic(object, parameter, flags, value);
    if (parameter->integral) {
        int64_t integer = codec_integer(object, parameter->name, flags, (int64_t)parameter->low,
                                        (int64_t)parameter->high);
        return integer == RUN_UNKNOWN ? value : (double)integer;
    }
    double number = codec_number(object, parameter->name, flags, parameter->low, parameter->high);
    return isnan(number) ? value : number;
}

static void decode_values(const struct codec_node *object, struct geo_parameters *parameters)
{
    const struct geo_planner *planner = parameters->planner;
    for (size_t i = 0; i < planner->n_parameters; i++)
        parameters->value[i] = decode_value(object, &planner->parameters[i], parameters->value[i]);
}

static void decode_inline(const struct codec_node *object,
                          const struct geo_planner *planner,
                          struct geo_parameters *parameters)
{
    if (planner == parameters->planner) {
        decode_values(object, parameters);
        return;
    }
    for (size_t i = 0; i < planner->n_parameters; i++) {
        struct codec_node member = codec_member(object, planner->parameters[i].name);
        if (json_value_is_null(member.json))
            codec_fault(&member, "wrong_type", "must not be null");
        else if (member.json != NULL)
            codec_fault(&member, "conflict", "%s does not have it: it is a parameter of %s",
                        parameters->planner->name, planner->name);
    }
}

static void decode_object(const struct codec_node *object,
                          const struct geo_planner *planner,
                          struct geo_parameters *parameters)
{
    const char *known[GEO_PARAMETERS_MAX + 1] = {NULL};
    struct codec_node member = codec_object(object, planner->name, CODEC_OPTIONAL);
    if (member.json == NULL)
        return;
    if (planner != parameters->planner) {
        codec_fault(&member, "conflict", "these are not parameters of %s",
                    parameters->planner->name);
        return;
    }
    for (size_t i = 0; i < planner->n_parameters; i++)
        known[i] = planner->parameters[i].name;
    codec_refuse_unknown(&member, known);
    decode_values(&member, parameters);
}

void codec_geo_parameters_decode(const struct codec_node *object, struct geo_parameters *parameters)
{
    for (size_t i = 0; i < geo_planners_n; i++) {
        if (geo_planners[i]->n_parameters == 0)
            continue;
        if (geo_planners[i]->parameters_inline)
            decode_inline(object, geo_planners[i], parameters);
        else
            decode_object(object, geo_planners[i], parameters);
    }
}

void codec_geo_refuse_unknown(const struct codec_node *object, const char *const others[])
{
    const char *known[128] = {NULL};
    size_t n = 0;
    for (; others[n] != NULL; n++)
        known[n] = others[n];
    for (size_t i = 0; i < geo_planners_n; i++) {
        const struct geo_planner *planner = geo_planners[i];
        assert(n + GEO_PARAMETERS_MAX < sizeof known / sizeof *known);
        for (size_t k = 0; planner->parameters_inline && k < planner->n_parameters; k++)
            known[n++] = planner->parameters[k].name;
        if (!planner->parameters_inline && planner->n_parameters > 0)
            known[n++] = planner->name;
    }
    codec_refuse_unknown(object, known);
}

/* --- writing --- */

static void encode_value(struct writer *w, const struct geo_parameter *parameter, double value)
{
    if (isnan(value))
        writer_member_string(w, parameter->name, "auto");
    else if (parameter->words != NULL)
        writer_member_string(w, parameter->name, parameter->words[(size_t)value]);
    else if (parameter->integral)
        writer_member_integer(w, parameter->name, (int64_t)value);
    else
        writer_member_number(w, parameter->name, value);
}

void codec_geo_parameters_encode(struct writer *w, const struct geo_parameters *parameters)
{
    const struct geo_planner *planner = parameters->planner;
    bool nested = !planner->parameters_inline;
    if (planner->n_parameters == 0)
        return;
    if (nested) {
        writer_member_object(w, planner->name);
    }
    for (size_t i = 0; i < planner->n_parameters; i++)
        encode_value(w, &planner->parameters[i], parameters->value[i]);
    if (nested)
        writer_end_object(w);
}
