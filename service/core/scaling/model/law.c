#include "core/scaling/model/law.h"

#include <math.h>

struct model_law model_law(const struct model *model)
{
    struct model_law law = {.kind = model->kind,
                            .form = model->form,
                            .context = model->context,
                            .tables = model->tables};
    for (size_t j = 0; j < model->kind->n_parameters; j++)
        law.p[j] = model->parameters[j].estimate;
    return law;
}

struct model model_bare(const struct model_kind *kind)
{
    struct model model = {.kind = kind,
                          .form = MODEL_OF_DURATIONS,
                          .uncertainty.pooled_executors = {(double)NAN, (double)NAN}};
    for (size_t j = 0; j < MODEL_PARAMETERS_MAX; j++)
        model.parameters[j] =
            (struct model_parameter){(double)NAN, (double)NAN, (double)NAN, false};
    return model;
}

size_t model_count_parameters(const struct model *model)
{
    const struct model_tables *t = &model->tables;
    size_t n = t->n_knots;
    for (size_t j = 0; j < model->kind->n_parameters; j++)
        n += !isnan(model->parameters[j].estimate) && !model->parameters[j].dropped;
    for (size_t c = 0; c < t->n_components; c++) {
        const struct model_law *law = &t->components[c].law;
        n += 1 + law->tables.n_knots;
        for (size_t j = 0; j < law->kind->n_parameters; j++)
            n += isnan(law->p[j]) ? 0 : 1;
    }
    return n;
}
