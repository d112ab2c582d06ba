#include "api/simulations/simulation_run.h"

#include "api/simulations/geo_simulation.h"
#include "api/simulations/slots_simulation.h"
#include "api/simulations/tasks_simulation.h"

static const struct simulation_kind kinds[] = {
    {"geo", false, geo_simulation_read, geo_simulation_run},
    {"slots", true, slots_simulation_read, slots_simulation_run},
    {"tasks", true, tasks_simulation_read, tasks_simulation_run},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

const struct simulation_kind *simulation_kind_decode(const struct codec_node *top)
{
    const char *names[KINDS + 1] = {NULL};
    for (size_t i = 0; i < KINDS; i++)
        names[i] = kinds[i].name;
    size_t found = codec_choice(top, "kind", CODEC_REQUIRED, names, KINDS);
    return found < KINDS ? &kinds[found] : NULL;
}

enum pv_code simulation_open(struct strview text,
                             struct arena *arena,
                             struct codec_document *document,
                             struct pv_error *err)
{
    const struct codec_bounds bounds = {.depth = WRITER_DEPTH_MAX, .values = text.n};
    return codec_open(document, text.at, text.n, &bounds, arena, err);
}

enum pv_code simulation_run(void *context,
                            struct operation_run *run,
                            struct strview *result,
                            struct pv_error *err)
{
    struct codec_document document;
    (void)context;
    PV_TRY(simulation_open(run->request, run->arena, &document, err));
    const struct simulation_kind *kind = simulation_kind_decode(&document.top);
    enum pv_code code = kind != NULL ? kind->run(run, &document.top, result, err) : PV_OK;
    enum pv_code read = codec_close(&document);
    return code != PV_OK ? code : read;
}
