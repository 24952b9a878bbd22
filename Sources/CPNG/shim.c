#include "CPNG.h"

#include <string.h>

#include <png.h>

static int started(png_image *png, const uint8_t *bytes, size_t count) {
    memset(png, 0, sizeof *png);
    png->version = PNG_IMAGE_VERSION;
    return png_image_begin_read_from_memory(png, bytes, count);
}

static int failed(png_image *png, cpng_image *image) {
    _Static_assert(sizeof image->message == sizeof png->message, "the messages have one length");
    memcpy(image->message, png->message, sizeof png->message);
    image->message[sizeof image->message - 1] = 0;
    png_image_free(png);
    return -1;
}

int cpng_measure(const uint8_t *bytes, size_t count, cpng_image *image) {
    png_image png;
    if (!started(&png, bytes, count)) return failed(&png, image);
    image->width = png.width;
    image->height = png.height;
    png_image_free(&png);
    return 0;
}

int cpng_decode(const uint8_t *bytes, size_t count, uint8_t *rgba, cpng_image *image) {
    png_image png;
    if (!started(&png, bytes, count)) return failed(&png, image);
    if (png.width != image->width || png.height != image->height) return failed(&png, image);
    // Samples of 16 bits are sRGB like all others, not linear light.
    png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    png.format = PNG_FORMAT_RGBA;
    if (!png_image_finish_read(&png, NULL, rgba, 0, NULL)) return failed(&png, image);
    png_image_free(&png);
    return 0;
}
