#ifndef HTTP_EXAMINE_H
#define HTTP_EXAMINE_H

#include "http/exchange.h"

/*
 * What a header is looked at for, in this order, before a byte of the body is read. None of these
 * blocks. A failure is what the request is to be answered with.
 */

/* Copy the fields and check them. After a failure it is not certain where the request ends. */
enum pv_code examine_fields(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

/* Request id and trace, taken over or made. */
void examine_identity(struct exchange *x);

enum http_method_label examine_method(const char *method);

/* Target, resource and route. OPTIONS has its answer afterwards: x->failed is set. */
enum pv_code examine_route(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

/* The bearer token as sent. */
enum pv_code examine_token(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

/* May the principal make this call? */
enum pv_code examine_scope(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

/* Is a body like the one announced taken here? */
enum pv_code examine_body(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

#endif
