#ifndef HTTP_REPLY_MEMBERS_H
#define HTTP_REPLY_MEMBERS_H

#include "http/message.h"

/*
 * The members that replies of a call can have, as the contract gives them (openapi/reply_members.py
 * writes the table when the program is built). ?fields= is checked against these.
 */
struct http_members;

struct http_member {
    const char *name;
    const struct http_members *of; /* of its value, or of the items of its list; NULL: none */
};

struct http_members {
    const struct http_member *members;
    size_t n;
    bool is_map;                       /* keys of any name */
    const struct http_members *values; /* of a map; NULL: they have no members */
};

struct http_reply_members {
    const char *template; /* NULL: the end of the table */
    enum http_method method;
    bool is_page; /* {"items": [...], ...}: the members are those of an item */
    const struct http_members *members;
};

#endif
