#ifndef CORE_STRAGGLERS_NODE_SPEED_H
#define CORE_STRAGGLERS_NODE_SPEED_H

#include "core/stragglers/stage_times.h"

/*
 * How slow a node is, from the stages that it had tasks of. Every stage of every run is a study of
 * its own, since what makes tasks slow differs between stages; the studies of a node are combined by
 * a model of random effects.
 */
struct node_study {
    size_t node;     /* as the caller numbers nodes */
    size_t run;      /* as the caller numbers runs */
    size_t tasks;    /* of the stage on the node */
    double shift;    /* median of log_ratio on the node less that of an ordinary other node */
    double variance; /* of `shift` */
    double freedom;  /* degrees of freedom of `variance` */
};

struct node_speed {
    double factor; /* > 1: slower than others by that factor; NAN: no study */
    double low;    /* its confidence interval; 0 and INFINITY where nothing bounds it */
    double high;
    size_t tasks;
    size_t studies;
};

/*
 * The studies that a stage makes, one for each node with tasks of it, into `studies`, which has room
 * for n_nodes; none where it has tasks on one node only, or too few to see how tasks vary.
 *
 * The other node that one is compared with is the median of the others, each by the median of its
 * tasks, so that one slow node with many tasks is no yardstick. variance = (pi / 2) s^2 (1 / tasks
 * + 1 / tasks of others), s^2 pooled within nodes; where each node has one task only, s^2 is that of
 * the other nodes.
 *
 * node_of: the number of each node of the run, by which studies name it; SIZE_MAX: left out of the
 * studies, but one of the others. PV_E_MEMORY. O(tasks log tasks).
 */
enum pv_code node_speed_study(const struct run_stage *stage,
                              const struct stage_times *times,
                              const size_t node_of[],
                              size_t n_nodes,
                              struct arena *scratch,
                              struct node_study studies[],
                              size_t *n,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * What n studies of one node say together, with an interval at `level`: weights 1 / (variance +
 * tau^2) with tau^2 between stages by R. DerSimonian and N. Laird ("Meta-analysis in clinical
 * trials", Controlled Clinical Trials 7, 1986), Student's distribution with degrees of freedom after
 * F. E. Satterthwaite ("An approximate distribution of estimates of variance components", Biometrics
 * Bulletin 2, 1946). O(n).
 */
struct node_speed
node_speed_combine(const struct node_study *const studies[], size_t n, double level);

#endif
