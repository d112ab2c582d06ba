#ifndef CORE_GEO_TIME_SLOT_H
#define CORE_GEO_TIME_SLOT_H

/*
 * Slots of time of different lengths. A cluster that is unreachable with `probability` in a slot of
 * `slot_s` seconds is so in one of `asked_s` seconds when it is in any of the asked_s/slot_s slots
 * (or the part of one) that it is made of: 1 - (1 - p)^(asked_s/slot_s). Both lengths are > 0.
 */
double geo_time_slot_unreachable(double probability, double slot_s, double asked_s);

#endif
