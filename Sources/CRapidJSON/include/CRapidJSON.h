#ifndef CRAPIDJSON_H
#define CRAPIDJSON_H
#endif
