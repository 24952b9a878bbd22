// libjpeg-turbo's encoder and decoder. They report errors by longjmp, which Swift cannot handle, so each call here catches it.
#ifndef CJPEG_H
#define CJPEG_H
#include <stddef.h>
#include <stdint.h>

typedef struct cjpeg_encoder cjpeg_encoder;

// 4:2:0, in memory. `app1` follows the file's first marker. NULL for lack of memory; other failures are reported by
// cjpeg_error.
cjpeg_encoder *cjpeg_start(uint32_t width, uint32_t height, int quality, const uint8_t *app1, size_t app1_count);

// The next rows from the top. Each pixel is blue, green, red and an ignored byte. Returns 0 on success.
int cjpeg_write(cjpeg_encoder *encoder, const uint8_t *rows, size_t stride, uint32_t count);

// Call it after the last row. Returns 0 if the file is complete; it stays valid until cjpeg_free.
int cjpeg_finish(cjpeg_encoder *encoder, const uint8_t **bytes, size_t *count);

// The library's message about the failure; NULL if there was none.
const char *cjpeg_error(const cjpeg_encoder *encoder);

void cjpeg_free(cjpeg_encoder *encoder);

// Encodes frames of one size that are already 4:2:0, without a detour through RGB.
typedef struct cjpeg_planar cjpeg_planar;

// NULL for lack of memory.
cjpeg_planar *cjpeg_planar_make(uint32_t width, uint32_t height);

// Planes, then strides, of Y, U and V. Limited range is expanded to JPEG's full range. Returns 0 for a complete file, which
// stays valid until the next call.
int cjpeg_planar_encode(
    cjpeg_planar *encoder, const uint8_t *const planes[3], const int strides[3], int is_full_range, int quality,
    const uint8_t **bytes, size_t *count);

// The library's message about the latest failure.
const char *cjpeg_planar_error(const cjpeg_planar *encoder);

void cjpeg_planar_free(cjpeg_planar *encoder);

typedef struct {
    uint32_t width, height;
    // The library's message about the failure.
    char message[200];
} cjpeg_image;

// Reads only the header. Returns 0 for a JPEG file.
int cjpeg_measure(const uint8_t *bytes, size_t count, cjpeg_image *image);

// Red, green, blue and 255 for each pixel. `rgba` must have room for as many pixels as cjpeg_measure reported. Returns 0 if the
// whole image is intact; the library's warnings count as errors.
int cjpeg_decode(const uint8_t *bytes, size_t count, uint8_t *rgba, cjpeg_image *image);

#endif
