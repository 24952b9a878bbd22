// libpng's reader for files in memory. It reports errors by longjmp, which Swift cannot handle, so each call here catches it.
#ifndef CPNG_H
#define CPNG_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t width, height;
    // The library's message about the failure.
    char message[64];
} cpng_image;

// Reads only the header. Returns 0 for a PNG file.
int cpng_measure(const uint8_t *bytes, size_t count, cpng_image *image);

// Red, green, blue and alpha for each pixel, in 8-bit sRGB without premultiplied alpha, whatever the file contains. `rgba` must
// have room for as many pixels as cpng_measure reported. Returns 0 if the whole file is present and everything that affects the
// pixels is valid.
int cpng_decode(const uint8_t *bytes, size_t count, uint8_t *rgba, cpng_image *image);

#endif
