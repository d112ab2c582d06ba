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
 * for as many as the stage has tasks, or the run nodes; none where it has tasks on one node only, or
 * too few to see how tasks vary.
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
                              struct arena *scratch,
                              struct node_study studies[],
                              size_t *n,
                              struct pv_error *err) PV_MUSTCHECK;

/* How the shifts of a node differ from stage to stage, beyond what its tasks' variance explains. */
struct stage_spread {
    double variance; /* tau^2 */
    double freedom;  /* degrees of freedom of `variance`; 0: no node has two studies */
};

/*
 * The spread that nodes have in common: the median over nodes of
 *
 *     tau^2 = (Q / m - 1) (k - 1) / scale
 *
 * with the heterogeneity Q and its scale after R. DerSimonian and N. Laird ("Meta-analysis in clinical
 * trials", Controlled Clinical Trials 7, 1986), and m the median of chi^2 with k - 1 degrees of
 * freedom, so that nodes that have become slow, say, do not decide it. A median takes twice the
 * studies that a mean would. studies: sorted by node; room: for n numbers. O(n log n).
 */
struct stage_spread
node_speed_spread(const struct node_study *const studies[], size_t n, double room[]);

/*
 * What n studies of one node say together, with an interval at `level`: weights 1 / (variance +
 * tau^2), tau^2 the common spread or, where the node stands out (Q is above what the common one lets
 * expect by three standard deviations), its own by DerSimonian and Laird; Student's distribution with
 * degrees of freedom after F. E. Satterthwaite ("An approximate distribution of estimates of variance
 * components", Biometrics Bulletin 2, 1946). O(n).
 */
struct node_speed node_speed_combine(const struct node_study *const studies[],
                                     size_t n,
                                     const struct stage_spread *common,
                                     double level);

#endif
