#include "core/scaling/laws/load_cells.h"

#include <math.h>

#include "base/order.h"

/* The rows from `first` that share its (N, m). */
static struct load_cell take_cell(const struct model_data *data, size_t first)
{
    const struct observation *row = &data->rows[first];
    struct load_cell cell = {row->problem_size, row->executors, 0, 0, first, 0};
    double weight = 0;
    for (size_t i = first; i < data->n && data->rows[i].executors == row->executors &&
                           data->rows[i].problem_size == row->problem_size;
         i++) {
        double square = data->factors[i] * data->factors[i];
        weight += square;
        cell.mean_s += square / weight * (data->rows[i].duration_s - cell.mean_s);
        cell.rows++;
    }
    cell.weight = sqrt(weight);
    return cell;
}

enum pv_code
load_cells_gather(const struct model_data *data, struct load_cells *cells, struct pv_error *err)
{
    *cells = (struct load_cells){.data = data, .sizes = data->n > 0};
    cells->at = arena_array(data->scratch, data->n, sizeof *cells->at);
    cells->counts = arena_array(data->scratch, data->n, sizeof *cells->counts);
    if (cells->at == NULL || cells->counts == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < data->n;) {
        struct load_cell cell = take_cell(data, i);
        i += cell.rows;
        cells->sizes += cells->n > 0 && cell.problem_size > cells->at[cells->n - 1].problem_size;
        cells->counts[cells->n] = cell.executors;
        cells->at[cells->n++] = cell;
    }
    cells->n_counts = sort_distinct(cells->counts, cells->n);
    return PV_OK;
}
