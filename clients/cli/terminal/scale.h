#ifndef CLI_TERMINAL_SCALE_H
#define CLI_TERMINAL_SCALE_H

#include <stddef.h>

/* The step of an axis so that `most` steps or fewer cover the range: 1, 2 or 5 times a power of ten;
 * no less than `least`. */
double scale_step(double range, size_t most, double least);

/* A number at a tick: as few digits as tell it from its neighbours a step away. */
void scale_label(double value, double step, char *out, size_t room);

#endif
