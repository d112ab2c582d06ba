#ifndef HTTP_VALIDATE_H
#define HTTP_VALIDATE_H

#include "http/exchange.h"

/*
 * What a header is looked at for, in this order, before a byte of the body is read. None of these
 * blocks. A failure is what the request is to be answered with.
 */

/* Copy the fields and check them. After a failure it is not certain where the request ends. */
enum pv_code validate_fields(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

/* Request id and trace, taken over or made. */
void validate_identity(struct exchange *x);

enum http_method_label validate_method(const char *method);

/* Target, resource and route. OPTIONS has its answer afterwards: x->failed is set. */
enum pv_code validate_route(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

/* The bearer token as sent. */
enum pv_code validate_token(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

/* May the principal make this call? */
enum pv_code validate_scope(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

/* Is a body like the one announced taken here? */
enum pv_code validate_body(struct exchange *x, struct pv_error *err) PV_MUSTCHECK;

#endif
