#include "omo_sets.h"

#include <math.h>

const double omo_shuffle_gb[OMO_BENCHMARKS] = {20, 17.5, 3.9, 3.45, 22e-6, 0.006};

const double omo_starts[OMO_STARTS] = {0.5, 0.6, 0.7, 0.8, 0.9, 1};
const double omo_published_s[OMO_CURVES][OMO_STARTS] = {{287, 277, 278, 299, 306, 316},
                                                        {255, 234, 262, 310, 335, 358}};

static const double MAP_S = 110;
static const double SHUFFLE_S_A_GB = 29.3;
static const double REDUCE_S = 5;
static const double REDUCE_S_A_GB = 14.5;

const struct omo_set omo_sets[OMO_SETS] = {
    [OMO_8_TERASORT] = {"8 Terasort", 20, {{8, 1, OMO_TERASORT, 1}}},
    [OMO_8_SEQCOUNT] = {"8 SeqCount", 20, {{8, 1, OMO_SEQCOUNT, 1}}},
    [OMO_8_WORDCOUNT] = {"8 WordCount", 20, {{8, 1, OMO_WORDCOUNT, 1}}},
    [OMO_A] = {"A",
               20,
               {{6, OMO_BENCHMARKS, OMO_TERASORT, 1}, {6, OMO_BENCHMARKS, OMO_TERASORT, 0.5}}},
    [OMO_B] = {"B", 20, {{8, 2, OMO_TERASORT, 1}, {8, 2, OMO_TERASORT, 0.5}}},
    [OMO_C] = {"C", 20, {{12, OMO_BENCHMARKS, OMO_TERASORT, 1}}},
    [OMO_D] = {"D", 20, {{12, OMO_BENCHMARKS, OMO_TERASORT, 1.5}}},
    [OMO_E] = {"E", 20, {{12, OMO_BENCHMARKS, OMO_TERASORT, 2}}},
    [OMO_F] = {"F", 20, {{18, OMO_BENCHMARKS, OMO_TERASORT, 1}}},
    [OMO_G] = {"G", 20, {{24, OMO_BENCHMARKS, OMO_TERASORT, 1}}},
    [OMO_H] = {"H",
               40,
               {{12, OMO_BENCHMARKS, OMO_TERASORT, 1}, {12, OMO_BENCHMARKS, OMO_TERASORT, 0.5}}},
};

static struct mapreduce_job job_of(enum omo_benchmark benchmark, double size, double slower)
{
    double reduces = OMO_REDUCES * size;
    double gb = omo_shuffle_gb[benchmark] * size / reduces;
    return (struct mapreduce_job){(size_t)lround(OMO_MAPS * size), (size_t)lround(reduces),
                                  MAP_S * slower, REDUCE_S + REDUCE_S_A_GB * gb,
                                  SHUFFLE_S_A_GB * gb};
}

size_t omo_set_jobs(const struct omo_set *set, double slower, struct mapreduce_job jobs[])
{
    size_t n = 0;
    for (size_t p = 0; p < 2; p++) {
        const struct omo_part *part = &set->parts[p];
        for (size_t i = 0; i < part->n; i++)
            jobs[n++] = job_of(part->first + (enum omo_benchmark)(i % part->benchmarks),
                               part->times_20_gb, slower);
    }
    return n;
}
