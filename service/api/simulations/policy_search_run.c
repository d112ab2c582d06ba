#include "api/simulations/policy_search_run.h"

/* Repetitions of a search are none of those that policies are compared by afterwards: what is best
 * by its draws would look too good by the same. */
static const size_t first_repetition = (size_t)1 << 32;

/* What the threads have in hand. */
struct batch_work {
    const struct search_run *search;
    size_t load;
    struct policy_search_batch batch;
    double *values;
};

static enum pv_code run_cell(void *context,
                             size_t index,
                             struct operation_part *part,
                             struct arena *scratch,
                             int64_t *done,
                             struct pv_error *err)
{
    struct batch_work *work = context;
    const struct search_run *search = work->search;
    const struct policy_search_cell *cell = &work->batch.cells[index];
    const struct policy_cell at = {work->load, cell->candidate,
                                   first_repetition + cell->repetition};
    double price = policy_search_price(&search->plan, cell->candidate, work->batch.jobs);
    const struct comparison_progress progress =
        comparison_progress(part, search->plan.tasks_by[work->batch.jobs], price);
    *done = (int64_t)price;
    return search->simulate(search->kind, &at, &progress, scratch, &work->values[index], err);
}

/* left: of the budget of all loads, which the total is reported by. */
static enum pv_code
run_batch(struct search_run *search, struct batch_work *work, double left, struct pv_error *err)
{
    const struct config *config = search->run->config;
    int64_t tasks = 0;
    for (size_t c = 0; c < work->batch.n; c++)
        tasks += (int64_t)policy_search_price(&search->plan, work->batch.cells[c].candidate,
                                              work->batch.jobs);
    int64_t most = left > (double)tasks ? (int64_t)left : tasks;
    const struct operation_parts parts = {.n = work->batch.n,
                                          .threads = (size_t)config->simulation_threads,
                                          .before = *search->done,
                                          .total = *search->done + most + search->after,
                                          .unit = "tasks",
                                          .scratch_bytes_max =
                                              (size_t)config->simulation_memory_bytes_max,
                                          .work = run_cell,
                                          .context = work};
    PV_TRY(operation_parts_run(search->run, &parts, err));
    *search->done += tasks;
    return PV_OK;
}

static enum pv_code run_load(struct search_run *search,
                             size_t load,
                             size_t loads,
                             struct arena *arena,
                             struct policy_search_found *found,
                             struct pv_error *err)
{
    struct batch_work work = {.search = search, .load = load};
    double later = search->plan.budget * (double)(loads - load - 1);
    double spent = 0;
    struct policy_search *core = policy_search_begin(&search->plan, arena);
    if (core == NULL)
        return pv_no_memory(err);
    while (policy_search_next(core, &work.batch)) {
        struct arena_mark mark = arena_mark(arena);
        int64_t before = *search->done;
        work.values = arena_array(arena, work.batch.n, sizeof *work.values);
        if (work.values == NULL)
            return pv_no_memory(err);
        PV_TRY(search->cut(search->kind, work.batch.jobs, arena, err));
        PV_TRY(run_batch(search, &work, search->plan.budget - spent + later, err));
        policy_search_give(core, work.values);
        spent += (double)(*search->done - before);
        arena_rewind(arena, mark);
    }
    return policy_search_conclude(core, search->run->arena, found) ? PV_OK : pv_no_memory(err);
}

enum pv_code search_run_all(struct search_run *search,
                            const struct policy_search_found **found,
                            struct pv_error *err)
{
    const struct codec_comparison *asked = search->asked;
    size_t loads = asked->n_loads > 0 ? asked->n_loads : 1;
    struct policy_search_found *made = arena_array(search->run->arena, loads, sizeof *made);
    enum pv_code code = PV_OK;
    *found = made;
    if (made == NULL)
        return pv_no_memory(err);
    search->plan.budget = (double)asked->search.task_runs / (double)loads;
    search->plan.error_chance = asked->search.error_chance;
    for (size_t l = 0; l < loads && code == PV_OK; l++) {
        struct arena arena;
        arena_init_beside(&arena, search->run->arena,
                          (size_t)search->run->config->simulation_memory_bytes_max);
        code = run_load(search, l, loads, &arena, &made[l], err);
        arena_fini(&arena);
        made[l].left_out += search->left_out;
    }
    return code;
}
