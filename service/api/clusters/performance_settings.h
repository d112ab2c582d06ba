#ifndef API_CLUSTERS_PERFORMANCE_SETTINGS_H
#define API_CLUSTERS_PERFORMANCE_SETTINGS_H

#include "api/api.h"
#include "core/geo/performance_book.h"

/* How speeds are remembered and unreachability is judged, as configured. */
struct performance_terms performance_settings_terms(const struct config *config);

/* An ask of these settings and this instant, for no places and operations yet. */
struct performance_ask performance_settings_ask(const struct config *config);

#endif
