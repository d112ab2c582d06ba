#include "core/cluster/admission.h"

const char *const admission_status_words[] = {"held", "released", "expired", NULL};
