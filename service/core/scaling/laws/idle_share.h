#ifndef CORE_SCALING_LAWS_IDLE_SHARE_H
#define CORE_SCALING_LAWS_IDLE_SHARE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The odds, before any run of an application was seen, that one of the machines counted as its
 * executors does no work.
 *
 * Of applications that count alike, a share s has such a machine. Beforehand s is Beta distributed:
 * its mean stands for odds of 2 to 1 where machines are counted, of which one is more often than
 * not the master, and of 1 to 9 where executors are, in an event log, which lists the driver apart;
 * either is worth IDLE_PRIOR_APPLICATIONS applications. Other applications of the team, of which
 * each has shown a likelihood ratio r_i of such a machine against none, have the likelihood
 * prod (s r_i + 1 - s), a polynomial: the posterior is a mixture of Beta distributions, and its
 * mean, which the odds are of, is exact (A. Gelman and others, "Bayesian Data Analysis", 2013,
 * chapter 5). With n others it stays between a / (a + b + n) and (a + n) / (a + b + n).
 */
enum { IDLE_PRIOR_APPLICATIONS = 6, IDLE_APPLICATIONS_MAX = 100 };

/*
 * ln of those odds.
 *
 * counted   executors, in an event log; else machines
 * evidence  ln r_i of n other applications that count alike, without any prior; beyond the first
 *           IDLE_APPLICATIONS_MAX none is looked at. None: the odds known beforehand.
 */
double idle_share_log_odds(bool counted, const double evidence[], size_t n);

#endif
