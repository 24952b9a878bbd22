// libjpeg-turbo's encoder and decoder. Their errors leave by longjmp, which Swift cannot take: each call here comes back with them.
#ifndef CJPEG_H
#define CJPEG_H
#include <stddef.h>
#include <stdint.h>

typedef struct cjpeg_encoder cjpeg_encoder;

// 4:2:0, in memory. `app1` follows the file's first marker. NULL without memory; else cjpeg_error tells of failures.
cjpeg_encoder *cjpeg_start(uint32_t width, uint32_t height, int quality, const uint8_t *app1, size_t app1_count);

// The next rows from the top: blue, green, red and a byte that is not read for every pixel. 0 when they were taken.
int cjpeg_write(cjpeg_encoder *encoder, const uint8_t *rows, size_t stride, uint32_t count);

// To be called behind the last row. 0 when the file is whole; it is valid until cjpeg_free.
int cjpeg_finish(cjpeg_encoder *encoder, const uint8_t **bytes, size_t *count);

// The library's words for what has failed; NULL when nothing has.
const char *cjpeg_error(const cjpeg_encoder *encoder);

void cjpeg_free(cjpeg_encoder *encoder);

// Frame after frame of one size, 4:2:0 as they are: no way over red, green and blue.
typedef struct cjpeg_planar cjpeg_planar;

// NULL without memory.
cjpeg_planar *cjpeg_planar_make(uint32_t width, uint32_t height);

// Planes, and then strides, of Y, U and V; those of limited range are widened to JPEG's. 0 for a whole file, which is valid until
// the next call.
int cjpeg_planar_encode(
    cjpeg_planar *encoder, const uint8_t *const planes[3], const int strides[3], int is_full_range, int quality,
    const uint8_t **bytes, size_t *count);

// The library's words for what has failed last.
const char *cjpeg_planar_error(const cjpeg_planar *encoder);

void cjpeg_planar_free(cjpeg_planar *encoder);

typedef struct {
    uint32_t width, height;
    // The library's words for what has failed.
    char message[200];
} cjpeg_image;

// Reads no more than the header. 0 for a JPEG file.
int cjpeg_measure(const uint8_t *bytes, size_t count, cjpeg_image *image);

// Red, green, blue and 255 of every pixel. `rgba` has room for as many pixels as cjpeg_measure said. 0 when all of the image is there
// and whole: what the library would only warn of is an error.
int cjpeg_decode(const uint8_t *bytes, size_t count, uint8_t *rgba, cjpeg_image *image);

#endif
