// The files of the page, in gzip's format: scripts/pack-page makes them from Sources/CPage/page.
#ifndef CPAGE_H
#define CPAGE_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name;
    const uint8_t *bytes;
    size_t count;
} cpage_file;

// Returns NULL after the last file.
const cpage_file *cpage_file_at(size_t index);

#endif
