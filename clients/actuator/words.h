#ifndef ACTUATOR_WORDS_H
#define ACTUATOR_WORDS_H

#include <stdbool.h>

#include "base/code.h"

/* Lines on standard error, without what a terminal would obey in names from elsewhere. */
void words_be_quiet(void); /* from now on warnings alone */
void say(const char *format, ...) PV_PRINTF(1, 2);
void say_warning(const char *format, ...) PV_PRINTF(1, 2);

/* Is it the same but for numbers, such as how long something took? `before` may have been cut. */
bool words_are_same(const char *before, const char *now);

#endif
