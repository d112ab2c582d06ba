#ifndef API_SCHEDULING_SLOT_DECISION_MAKE_H
#define API_SCHEDULING_SLOT_DECISION_MAKE_H

#include "codec/scheduling/slot_decision.h"

/* What a free slot serves; `fresh` or `omo` by the kind of the state. */
struct slot_decision_made {
    struct codec_slot_action action;
    struct codec_fresh_decision fresh;
    struct codec_omo_decision omo;
    struct findings warnings;
};

/* Texts and arrays are the state's and the arena's. PV_E_MEMORY. */
enum pv_code slot_decision_make(const struct codec_slot_decision *asked,
                                struct arena *arena,
                                struct slot_decision_made *made,
                                struct pv_error *err) PV_MUSTCHECK;

/* The whole reply, as one object. */
void slot_decision_encode(struct writer *w,
                          const struct codec_slot_decision *asked,
                          const struct slot_decision_made *made);

#endif
