#ifndef API_SCHEDULING_SPECULATION_MAKE_H
#define API_SCHEDULING_SPECULATION_MAKE_H

#include "codec/scheduling/speculation.h"

/* Which task gets a copy; by the kind of the request, `esplash` on `levels`, or `late`. */
struct speculation_made {
    struct node_levels levels;
    struct esplash_decision esplash;
    struct late_decision late;
    struct findings warnings;
};

/* Texts are the request's, arrays the arena's. PV_E_MEMORY. */
enum pv_code speculation_make(const struct codec_speculation *asked,
                              struct arena *arena,
                              struct speculation_made *made,
                              struct pv_error *err) PV_MUSTCHECK;

/* The whole reply, as one object. */
void speculation_encode(struct writer *w,
                        const struct codec_speculation *asked,
                        const struct speculation_made *made);

/* The member `action` alone. */
void speculation_encode_action(struct writer *w,
                               const struct codec_speculation *asked,
                               const struct speculation_made *made);

#endif
