#include "core/scaling/model/conflict_check.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"

/* What was seen of the rows of one (N, m) and context. */
struct seen {
    size_t rows;
    double least;
    double most;
};

struct worst {
    const struct observation *row;
    struct seen seen;
    size_t concerned;
};

static double conflict_check_value_of(const struct observation *row, enum model_form form)
{
    switch (form) {
    case MODEL_OF_DURATIONS:
        return row->duration_s;
    case MODEL_OF_SPEEDUPS:
        return row->speedup;
    case MODEL_OF_STAGES:
        return row->serial_s + row->max_task_s + row->induced_s;
    }
    return (double)NAN;
}

static void
conflict_check_judge(const struct observation *row, const struct seen *seen, struct worst *worst)
{
    if (seen->rows < 2 || !(seen->most > CONFLICT_FACTOR * seen->least))
        return;
    worst->concerned += seen->rows;
    if (worst->row == NULL || seen->most * worst->seen.least > worst->seen.most * seen->least) {
        worst->row = row;
        worst->seen = *seen;
    }
}

/* The rows [from, to) of one (N, m). */
static void
conflict_check_look(const struct model_data *data, size_t from, size_t to, struct worst *worst)
{
    struct seen by_context[MODEL_CONTEXTS_MAX + 1] = {{0, 0, 0}};
    size_t contexts = 1;
    for (size_t i = from; i < to; i++)
        if (data->rows[i].context >= contexts)
            contexts = data->rows[i].context + 1;
    if (contexts > MODEL_CONTEXTS_MAX + 1)
        return;
    for (size_t c = 0; c < contexts; c++)
        by_context[c] = (struct seen){0, (double)INFINITY, 0};
    for (size_t i = from; i < to; i++) {
        struct seen *seen = &by_context[data->rows[i].context];
        double value = conflict_check_value_of(&data->rows[i], data->form);
        seen->rows++;
        seen->least = fmin(seen->least, value);
        seen->most = fmax(seen->most, value);
    }
    for (size_t c = 0; c < contexts; c++)
        conflict_check_judge(&data->rows[from], &by_context[c], worst);
}

static bool is_same_point(const struct observation *a, const struct observation *b)
{
    bool apart = a->problem_size < b->problem_size || a->problem_size > b->problem_size ||
                 a->executors < b->executors || a->executors > b->executors;
    return !apart;
}

void conflict_check(const struct model_data *data, struct model_fit *fit)
{
    struct worst worst = {.row = NULL};
    for (size_t from = 0; from < data->n;) {
        size_t to = from + 1;
        while (to < data->n && is_same_point(&data->rows[from], &data->rows[to]))
            to++;
        if (to - from > 1)
            conflict_check_look(data, from, to, &worst);
        from = to;
    }
    if (worst.row != NULL)
        finding_count(
            finding_add(
                &fit->warnings, "contradicting_observations",
                "%zu observation%s contradict others of the same problem_size and executors: at "
                "%s on %s, %s was seen as well as %s",
                worst.concerned, PLURAL(worst.concerned),
                quantity_number(worst.row->problem_size).text,
                quantity_number(worst.row->executors).text, quantity_number(worst.seen.least).text,
                quantity_number(worst.seen.most).text),
            worst.concerned);
}
