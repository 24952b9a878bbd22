#include "CPNG.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

enum { signature_length = 8, chunk_overhead = 12, most_packed_texts = 4, most_excess = 64 << 10 };

// libpng unpacks each text chunk before the image, up to 8 MB each, and keeps it. A file of a few kilobytes could fill the
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

typedef struct {
    const uint8_t *next;
    size_t count;
    // How much may still be read.
    size_t allowance;
    // Receives the library's message.
    cpng_image *image;
} reading;

static void read_bytes(png_structp png, png_bytep to, size_t count) {
    reading *from = png_get_io_ptr(png);
    if (count > from->count) png_error(png, "it ends too early");
    if (count > from->allowance) png_error(png, "it holds more image data than its size says");
    memcpy(to, from->next, count);
    from->next += count;
    from->count -= count;
    from->allowance -= count;
}

static void leave(png_structp png, png_const_charp words) {
    reading *from = png_get_error_ptr(png);
    snprintf(from->image->message, sizeof from->image->message, "%s", words);
    png_longjmp(png, 1);
}

// Otherwise the library writes warnings to standard error.
static void ignore(png_structp png, png_const_charp words) {
    (void)png;
    (void)words;
}

// With the last row, libpng inflates all remaining image data before it reports that there is too much, so megabytes of file
// can become gigabytes. No row needs much more than its own length, however badly it is compressed.
static void read_last_row(png_structp png, png_infop info) {
    reading *from = png_get_io_ptr(png);
    from->allowance = png_get_rowbytes(png, info) + most_excess;
    png_read_row(png, NULL, NULL);
    from->allowance = from->count;
}

// Reads the whole file. Leaves by longjmp if something that affects the pixels is wrong; other errors are ignored.
static void read_to_the_end(png_structp png, png_infop info) {
    png_set_benign_errors(png, 0);
    png_set_check_for_invalid_index(png, 1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, info);
    int passes = png_set_interlace_handling(png);
    png_uint_32 height = png_get_image_height(png, info);
    for (int pass = 0; pass < passes; pass++) {
        // Interlaced images are read in whole passes, including the rows that a pass does not contain.
        png_uint_32 rows = pass < passes - 1 ? height : height - 1;
        for (png_uint_32 row = 0; row < rows; row++) png_read_row(png, NULL, NULL);
    }
    read_last_row(png, info);
    png_read_end(png, NULL);
}

// Checks for errors that png_image_finish_read ignores: a truncated file, and colors that the palette does not have.
static int check(const uint8_t *bytes, size_t count, cpng_image *image) {
    reading from = {bytes, count, count, image};
    // The default message, if the library has no memory for its own.
    strcpy(image->message, "there is no memory for it");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &from, leave, ignore);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        return -1;
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, NULL);
        return -1;
    }
    png_set_read_fn(png, &from, read_bytes);
    read_to_the_end(png, info);
    png_destroy_read_struct(&png, &info, NULL);
    return 0;
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
    if (check(bytes, count, image)) {
        png_image_free(&png);
        return -1;
    }
    // Treat 16-bit samples as sRGB like all others, not as linear light.
    png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    png.format = PNG_FORMAT_RGBA;
    if (!png_image_finish_read(&png, NULL, rgba, 0, NULL)) return failed(&png, image);
    png_image_free(&png);
    return 0;
}
