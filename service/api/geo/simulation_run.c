#include "api/geo/simulation_run.h"

#include "api/geo/geo_simulation.h"

static const struct simulation_kind kinds[] = {
    {"geo", geo_simulation_read, geo_simulation_run},
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

enum pv_code simulation_run(void *context,
                            struct operation_run *run,
                            struct strview *result,
                            struct pv_error *err)
{
    const struct codec_bounds bounds = {.depth = WRITER_DEPTH_MAX, .values = run->request.n};
    struct codec_reader reader = {run->arena, err};
    json_t *json = NULL;
    (void)context;
    enum pv_code code = codec_parse(run->request.at, run->request.n, &bounds, &json, err);
    if (code != PV_OK)
        return code;
    struct codec_node top = codec_top(&reader, json);
    const struct simulation_kind *kind = simulation_kind_decode(&top);
    code = kind != NULL ? kind->run(run, &top, result, err) : codec_result(&reader);
    json_decref(json);
    return code;
}
