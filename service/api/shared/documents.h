#ifndef API_SHARED_DOCUMENTS_H
#define API_SHARED_DOCUMENTS_H

#include <stddef.h>

/* Built into the program: the contract, and the page rendered from it (docs/render.py). */
extern const char document_openapi[];
extern const size_t document_openapi_n;
extern const char document_reference[];
extern const size_t document_reference_n;

#endif
