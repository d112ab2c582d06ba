#include "core/geosim/draws.h"

#include "core/sim/variates.h"

enum purpose { PURPOSE_POWER = 1, PURPOSE_TRANSFER, PURPOSE_OUTAGE };

static struct rng
stream_of(uint64_t seed, enum purpose purpose, const struct draw_key *of, uint64_t visit)
{
    const uint64_t keys[] = {(uint64_t)purpose, of->workflow, of->task, of->cluster, visit};
    return variate_stream(seed, keys, sizeof keys / sizeof *keys);
}

double draw_power(uint64_t seed, const struct draw_key *of, const struct geosim_normal *power)
{
    struct rng rng = stream_of(seed, PURPOSE_POWER, of, of->visit);
    return geosim_normal_draw(power, &rng);
}

double draw_transfer(uint64_t seed,
                     const struct draw_key *of,
                     uint64_t from,
                     const struct geosim_normal *wan)
{
    struct rng rng = stream_of(seed, PURPOSE_TRANSFER, of, variate_subkey(of->visit, from));
    return geosim_normal_draw(wan, &rng);
}

double draw_slots_until_outage(uint64_t seed, uint64_t cluster, uint64_t n, double probability)
{
    struct rng rng =
        stream_of(seed, PURPOSE_OUTAGE, &(struct draw_key){.task = n, .cluster = cluster}, 0);
    return variate_geometric(&rng, probability);
}
