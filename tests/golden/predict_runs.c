/*
 * Predictions of every kind from histories on standard input, a line each:
 *
 *     H           a new history
 *     R N m T     a run of problem size N on m executors that took T seconds
 *     Q N m       a question
 *
 * For every question and every kind that could be fitted, and for "auto":
 *
 *     KIND T      in seconds, or nan
 *
 * and "." at the end of the question.
 */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>

#include "core/scaling/model/predict.h"
#include "core/scaling/selection/selection.h"

enum { RUNS_MAX = 8192 };

static struct observation rows[RUNS_MAX];
static size_t n_rows;

static double predict(const struct model *model, double size, double m)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model_prediction there;
    model_predict(model, &none, size, m, &there);
    return there.duration_s;
}

static void answer(const struct model_selection *selection, double size, double m)
{
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing != MODEL_NOT_FITTED)
            printf("%s %.12g\n", candidate->kind->name, predict(&candidate->fit.model, size, m));
    }
    if (selection->selected != NULL)
        printf("auto %.12g\n", predict(&selection->selected->fit.model, size, m));
    printf(".\n");
}

int main(void)
{
    struct model_selection selection = {.n = 0};
    struct pv_error err = {0};
    struct arena arena;
    char line[256];
    bool fitted = false;
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    while (fgets(line, sizeof line, stdin) != NULL) {
        double number[3] = {0};
        int n = sscanf(line + 1, "%lf %lf %lf", &number[0], &number[1], &number[2]);
        if (line[0] == 'H') {
            n_rows = 0;
            fitted = false;
            arena_fini(&arena);
            arena_init(&arena, 0);
        } else if (line[0] == 'R' && n == 3 && n_rows < RUNS_MAX) {
            rows[n_rows++] = model_seen(number[0], number[1], number[2], (double)NAN);
        } else if (line[0] == 'Q' && n == 2) {
            if (!fitted && model_select(rows, n_rows, &arena, &selection, &err) != PV_OK) {
                fprintf(stderr, "%s\n", err.detail);
                return 1;
            }
            fitted = true;
            answer(&selection, number[0], number[1]);
        }
    }
    arena_fini(&arena);
    return 0;
}
