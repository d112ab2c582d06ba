#ifndef API_ACCESS_AUTHENTICATE_H
#define API_ACCESS_AUTHENTICATE_H

#include "api/api.h"

/*
 * Who holds this bearer token (http_server_options.authenticate; context is the struct api). Asks
 * PostgreSQL every time: the server keeps answers for token_cache_ms. Every reason to refuse gives
 * the same PV_E_UNAUTHENTICATED; PV_E_UNAVAILABLE when nobody can be asked.
 */
enum pv_code api_authenticate(void *context,
                              const char *token,
                              struct principal *who,
                              struct pv_error *err) PV_MUSTCHECK;

/* By its form and checksum, can this be a token? Asks nobody (http_server_options.recognize). */
bool api_recognize_token(const char *token);

/*
 * Whether the token of a request that has been answered for a while is still good. Asks the
 * database: on io workers. PV_E_UNAUTHENTICATED: it was revoked or has expired.
 */
enum pv_code
api_check_token(struct api *api, const struct principal *who, struct pv_error *err) PV_MUSTCHECK;

#endif
