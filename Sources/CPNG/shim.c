#include "CPNG.h"

#include <string.h>

#include <png.h>

enum { signature_length = 8, chunk_overhead = 12, most_packed_texts = 4 };

// libpng unpacks texts that come before the image, each to 8 MB at the most, and keeps them: a few kilobytes of file could fill the
// memory. Editors write one or two.
static int has_too_many_texts(const uint8_t *bytes, size_t count) {
    int texts = 0;
    for (size_t at = signature_length; count >= chunk_overhead && at <= count - chunk_overhead;) {
        const uint8_t *chunk = bytes + at;
        size_t length = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];
        if (!memcmp(chunk + 4, "IDAT", 4) || length > count - at - chunk_overhead) break;
        if (!memcmp(chunk + 4, "zTXt", 4) || !memcmp(chunk + 4, "iTXt", 4)) texts++;
        at += chunk_overhead + length;
    }
    return texts > most_packed_texts;
}

static int started(png_image *png, const uint8_t *bytes, size_t count) {
    memset(png, 0, sizeof *png);
    png->version = PNG_IMAGE_VERSION;
    if (has_too_many_texts(bytes, count)) {
        strcpy(png->message, "it holds too many texts");
        return 0;
    }
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
