/*
 * USBA against its paper (golden/usba.json: tables 3.1 and 3.3 of the dissertation, lines 507-843).
 *
 * - The parameters of table 3.1(a) give the modelled speedups of table 3.3 within 0.3, at the ratio
 *   t0/T1 that suits each application best (papers/README.md, erratum 9: it is not printed there).
 * - Our fit to the measured speedups of table 3.3 has a mean error below the paper's own.
 */
#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scaling/model.h"

enum { SKIPPED = 77, ROWS_MAX = 32 };

static const struct {
    const char *name;
    double ratio;
} applications[] = {{"Bayes", 0.53}, {"RF", 0.77}, {"SVM", 2.12}, {"NWeight", 0.77}};

static const double rounding = 0.3;

static int faults;

static void expect(bool holds, const char *application, const char *what, double value)
{
    printf("%s %s: %s (%.3f)\n", holds ? "#" : "# not so:", application, what, value);
    faults += holds ? 0 : 1;
}

struct table {
    struct observation measured[ROWS_MAX];
    double modelled[ROWS_MAX]; /* by the paper */
    size_t n;
};

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void read_table(const json_t *golden, const char *application, struct table *table)
{
    size_t index;
    json_t *row;
    table->n = 0;
    json_array_foreach(json_object_get(golden, "speedups"), index, row)
    {
        const char *of = json_string_value(json_object_get(row, "application"));
        if (of == NULL || strcmp(of, application) != 0 || table->n == ROWS_MAX)
            continue;
        table->modelled[table->n] = number(row, "speedup_usba");
        table->measured[table->n++] =
            (struct observation){.problem_size = number(row, "problem_size"),
                                 .executors = number(row, "executors"),
                                 .duration_s = (double)NAN,
                                 .initialization_s = (double)NAN,
                                 .speedup = number(row, "speedup_measured")};
    }
}

/* The paper's estimates as a model of ours. */
static struct model read_model(const json_t *golden, const char *application, double ratio)
{
    const json_t *set =
        json_object_get(json_object_get(golden, "parameters_modelling"), application);
    struct model model = model_bare(model_find_kind("usba"));
    model.form = MODEL_OF_SPEEDUPS;
    for (size_t j = 0; j < model.kind->n_parameters; j++) {
        const json_t *value = json_object_get(set, model.kind->rules[j].name);
        if (value != NULL)
            model.parameters[j].estimate = json_number_value(value);
        else if (strcmp(model.kind->rules[j].name, "initialization_ratio") == 0)
            model.parameters[j].estimate = ratio;
    }
    return model;
}

/* Largest distance from the paper's speedups. */
static double worst_of(const struct model *model, const struct table *table)
{
    const struct model_spread none = MODEL_NO_SPREAD;
    double worst = 0;
    for (size_t i = 0; i < table->n; i++) {
        struct model_prediction there;
        model_predict(model, &none, table->measured[i].problem_size, table->measured[i].executors,
                      &there);
        worst = fmax(worst, fabs(there.speedup - table->modelled[i]));
    }
    return worst;
}

/* The erratum tells the ratio to two digits: the best one that rounds to it. */
static void
check_law(const json_t *golden, const char *name, double ratio, const struct table *table)
{
    double least = (double)INFINITY;
    for (int step = -5; step <= 5; step++) {
        struct model model = read_model(golden, name, ratio + step * 0.001);
        least = fmin(least, worst_of(&model, table));
    }
    expect(least <= rounding, name, "table 3.1(a) gives table 3.3 within 0.3", least);
}

static void check_fit(const char *name, const struct table *table)
{
    struct arena arena;
    struct model_fit fit;
    struct pv_error err = {0};
    double paper = 0;
    for (size_t i = 0; i < table->n; i++)
        paper += 100 / (double)table->n * fabs(table->modelled[i] / table->measured[i].speedup - 1);
    arena_init(&arena, 0);
    if (model_fit(model_find_kind("usba"), table->measured, table->n, MODEL_RELATIVE, &arena, &fit,
                  &err) != PV_OK) {
        faults++;
        printf("# not so: %s is fitted: %s\n", name, err.detail);
    } else {
        expect(fit.mape_percent < paper, name, "our mean error is below the paper's",
               fit.mape_percent - paper);
    }
    arena_fini(&arena);
}

int main(void)
{
    char path[1024];
    const char *root = getenv("PROVISOR_SHARED");
    (void)snprintf(path, sizeof path, "%s/golden/usba.json", root != NULL ? root : SHARED_DEFAULT);
    json_t *golden = json_load_file(path, 0, NULL);
    if (golden == NULL) {
        printf("# skipped: no %s (set PROVISOR_SHARED)\n", path);
        return SKIPPED;
    }
    (void)gsl_set_error_handler_off();
    for (size_t i = 0; i < sizeof applications / sizeof *applications; i++) {
        struct table table;
        read_table(golden, applications[i].name, &table);
        expect(table.n == 17, applications[i].name, "17 rows", (double)table.n);
        check_law(golden, applications[i].name, applications[i].ratio, &table);
        check_fit(applications[i].name, &table);
    }
    json_decref(golden);
    return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
