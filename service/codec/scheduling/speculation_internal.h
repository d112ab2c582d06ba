#ifndef CODEC_SCHEDULING_SPECULATION_INTERNAL_H
#define CODEC_SCHEDULING_SPECULATION_INTERNAL_H

#include "codec/scheduling/speculation.h"

/* Nodes as the core takes them, with types of tasks by number, and their levels where those are
 * given. Faults: ids twice, too many tasks or types. Nothing is made once there is a fault. */
void codec_speculation_take(const struct codec_node *top,
                            const struct codec_speculation_limits *limits,
                            bool levels_given,
                            struct codec_speculation *asked);

#endif
