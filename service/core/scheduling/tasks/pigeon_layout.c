#include "core/scheduling/tasks/pigeon_layout.h"

#include <assert.h>
#include <string.h>

#include "core/scheduling/tasks/pigeon_plan.h"

double pigeon_layout_capacity(const struct pigeon_group groups[], uint32_t n)
{
    double capacity = 0;
    for (uint32_t g = 0; g < n; g++)
        capacity += groups[g].workers * groups[g].power;
    return capacity;
}

uint32_t pigeon_layout_groups(const struct tasks_terms *terms)
{
    return terms->layout->groups != NULL ? terms->layout->n_groups : terms->groups;
}

struct pigeon_group pigeon_layout_group(const struct tasks_model *model,
                                        const struct tasks_terms *terms,
                                        uint32_t group)
{
    if (terms->layout->groups != NULL)
        return terms->layout->groups[group];
    uint32_t more = group < model->workers % terms->groups ? 1 : 0;
    return (struct pigeon_group){model->workers / terms->groups + more, 1};
}

uint32_t pigeon_layout_first(const struct tasks_model *model,
                             const struct tasks_terms *terms,
                             uint32_t group)
{
    uint32_t first = 0;
    if (terms->layout->groups == NULL) {
        uint32_t more = model->workers % terms->groups;
        return group * (model->workers / terms->groups) + (group < more ? group : more);
    }
    for (uint32_t g = 0; g < group; g++)
        first += terms->layout->groups[g].workers;
    return first;
}

uint32_t pigeon_layout_classes(const struct tasks_terms *terms,
                               struct pigeon_class classes[PIGEON_CLASSES_MAX])
{
    const struct pigeon_layout *layout = terms->layout;
    if (layout->classes == NULL) {
        classes[0] = (struct pigeon_class){terms->reserved_share, terms->weight};
        classes[1] = (struct pigeon_class){0, 1};
        return 2;
    }
    assert(layout->n_classes >= 1 && layout->n_classes <= PIGEON_CLASSES_MAX);
    memcpy(classes, layout->classes, layout->n_classes * sizeof *classes);
    return layout->n_classes;
}

void pigeon_layout_levels(const struct pigeon_class classes[],
                          uint32_t n_classes,
                          uint32_t n,
                          uint32_t workers[])
{
    uint32_t left = n;
    for (uint32_t c = 0; c + 1 < n_classes; c++) {
        uint32_t reserved = (uint32_t)pigeon_reserved_workers(n, classes[c].reserved_share);
        workers[c] = reserved < left ? reserved : left - 1;
        left -= workers[c];
    }
    workers[n_classes - 1] = left;
}
