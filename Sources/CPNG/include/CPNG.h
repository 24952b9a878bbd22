// libpng's reader for files in memory. Its errors leave by longjmp, which Swift cannot take: each call here comes back with them.
#ifndef CPNG_H
#define CPNG_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t width, height;
    // The library's words for what has failed.
    char message[64];
} cpng_image;

// Reads no more than the header. 0 for a PNG file.
int cpng_measure(const uint8_t *bytes, size_t count, cpng_image *image);

// Red, green, blue and alpha of every pixel, 8 bits of sRGB each, not multiplied by alpha, whatever the file has. `rgba` has room
// for as many pixels as cpng_measure said. 0 when all of the file is there, and nothing is wrong but what has no part in the pixels.
int cpng_decode(const uint8_t *bytes, size_t count, uint8_t *rgba, cpng_image *image);

#endif
