#include "core/scaling/history/law_errors.h"

#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/grouped_cv.h"

static const double std_max = 0.3;

double law_errors_std(const double at[], size_t n)
{
    double squares = LAW_ERROR_APPLICATIONS * LAW_ERROR_STD * LAW_ERROR_STD;
    size_t read = n < LAW_ERRORS_MAX ? n : LAW_ERRORS_MAX;
    for (size_t i = 0; i < read; i++)
        squares += fmin(at[i], std_max * std_max);
    return sqrt(squares / (double)(LAW_ERROR_APPLICATIONS + read));
}

void law_errors_learn(struct run_observations *seen)
{
    double std = law_errors_std(seen->law_errors.at, seen->law_errors.n);
    for (size_t i = 0; i < seen->n; i++)
        seen->rows[i].law_error = std;
}

double law_errors_shown(const struct model_selection *selection)
{
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->kind == &combined_kind && candidate->standing != MODEL_NOT_FITTED &&
            candidate->fit.scale_outs_judged > 1)
            return candidate->fit.scale_out_squares / (double)candidate->fit.scale_outs_judged;
    }
    return (double)NAN;
}
