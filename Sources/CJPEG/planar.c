#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

// Luma rows in one row of 4:2:0 blocks.
enum { BLOCK_ROWS = 16 };

struct cjpeg_planar {
    struct jpeg_compress_struct compress;
    struct jpeg_error_mgr errors;
    jmp_buf failure;
    char message[JMSG_LENGTH_MAX];
    // The previous file's memory, and its known size.
    unsigned char *bytes;
    unsigned long room;
    // Where libjpeg put the current file. If the memory is too small, libjpeg allocates other memory and leaves the old alone.
    unsigned char *file;
    unsigned long count;
    // One row of blocks, in JPEG's range and padded to whole blocks.
    uint8_t *samples;
    JSAMPROW rows[2 * BLOCK_ROWS];
    uint8_t full_luma[256], full_chroma[256];
};

static void leave(j_common_ptr common) {
    cjpeg_planar *encoder = common->client_data;
    common->err->format_message(common, encoder->message);
    longjmp(encoder->failure, 1);
}

static void keep_quiet(j_common_ptr common) {
    (void) common;
}

static uint8_t clamped(int value) {
    return (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value);
}

// 16 to 235 and 16 to 240 become 0 to 255 (ITU-R BT.601, JFIF 1.02).
static void make_ranges(cjpeg_planar *encoder) {
    for (int value = 0; value < 256; value++) {
        encoder->full_luma[value] = clamped(((value - 16) * 255 + 109) / 219);
        int chroma = (value - 128) * 255;
        encoder->full_chroma[value] = clamped(128 + (chroma + (chroma < 0 ? -112 : 112)) / 224);
    }
}

static size_t padded_width(const cjpeg_planar *encoder) {
    return ((size_t) encoder->compress.image_width + BLOCK_ROWS - 1) / BLOCK_ROWS * BLOCK_ROWS;
}

cjpeg_planar *cjpeg_planar_make(uint32_t width, uint32_t height) {
    cjpeg_planar *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL) return NULL;
    make_ranges(encoder);
    struct jpeg_compress_struct *compress = &encoder->compress;
    compress->err = jpeg_std_error(&encoder->errors);
    compress->client_data = encoder;
    encoder->errors.error_exit = leave;
    encoder->errors.output_message = keep_quiet;
    if (setjmp(encoder->failure)) {
        cjpeg_planar_free(encoder);
        return NULL;
    }
    jpeg_create_compress(compress);
    compress->image_width = width;
    compress->image_height = height;
    compress->input_components = 3;
    compress->in_color_space = JCS_YCbCr;
    jpeg_set_defaults(compress);
    compress->raw_data_in = TRUE;
    size_t luma = padded_width(encoder);
    encoder->samples = malloc(luma * BLOCK_ROWS * 3 / 2);
    if (encoder->samples == NULL) {
        cjpeg_planar_free(encoder);
        return NULL;
    }
    uint8_t *place = encoder->samples;
    for (int row = 0; row < BLOCK_ROWS; row++, place += luma) encoder->rows[row] = place;
    for (int row = 0; row < BLOCK_ROWS; row++, place += luma / 2) encoder->rows[BLOCK_ROWS + row] = place;
    return encoder;
}

// One row of samples, with the last one repeated to fill whole blocks.
static void copy_row(uint8_t *to, const uint8_t *from, size_t width, size_t padded, const uint8_t *range) {
    if (range == NULL) {
        memcpy(to, from, width);
    } else {
        for (size_t x = 0; x < width; x++) to[x] = range[from[x]];
    }
    memset(to + width, to[width - 1], padded - width);
}

static void copy_blocks(
    cjpeg_planar *encoder, const uint8_t *const planes[3], const int strides[3], uint32_t top, int is_full_range
) {
    size_t width = encoder->compress.image_width, padded = padded_width(encoder);
    uint32_t height = encoder->compress.image_height;
    const uint8_t *luma = is_full_range ? NULL : encoder->full_luma;
    const uint8_t *chroma = is_full_range ? NULL : encoder->full_chroma;
    for (uint32_t row = 0; row < BLOCK_ROWS; row++) {
        uint32_t y = top + row < height ? top + row : height - 1;
        copy_row(encoder->rows[row], planes[0] + (size_t) y * (size_t) strides[0], width, padded, luma);
    }
    for (uint32_t row = 0; row < BLOCK_ROWS; row++) {
        uint32_t plane = 1 + row / (BLOCK_ROWS / 2), last = (height + 1) / 2 - 1;
        uint32_t y = top / 2 + row % (BLOCK_ROWS / 2);
        const uint8_t *from = planes[plane] + (size_t) (y < last ? y : last) * (size_t) strides[plane];
        copy_row(encoder->rows[BLOCK_ROWS + row], from, (width + 1) / 2, padded / 2, chroma);
    }
}

// Takes over the memory that libjpeg allocated, with room for slightly larger files.
static void keep_file(cjpeg_planar *encoder) {
    free(encoder->bytes);
    unsigned long room = encoder->count + encoder->count / 2 + 4096;
    unsigned char *larger = realloc(encoder->file, room);
    encoder->bytes = larger != NULL ? larger : encoder->file;
    encoder->room = larger != NULL ? room : encoder->count;
}

int cjpeg_planar_encode(
    cjpeg_planar *encoder, const uint8_t *const planes[3], const int strides[3], int is_full_range, int quality,
    const uint8_t **bytes, size_t *count
) {
    struct jpeg_compress_struct *compress = &encoder->compress;
    if (setjmp(encoder->failure)) {
        jpeg_abort_compress(compress);
        return -1;
    }
    encoder->file = encoder->bytes;
    encoder->count = encoder->room;
    jpeg_mem_dest(compress, &encoder->file, &encoder->count);
    jpeg_set_quality(compress, quality, TRUE);
    jpeg_start_compress(compress, TRUE);
    JSAMPARRAY blocks[3] = {
        encoder->rows, encoder->rows + BLOCK_ROWS, encoder->rows + BLOCK_ROWS + BLOCK_ROWS / 2};
    while (compress->next_scanline < compress->image_height) {
        copy_blocks(encoder, planes, strides, compress->next_scanline, is_full_range);
        jpeg_write_raw_data(compress, blocks, BLOCK_ROWS);
    }
    jpeg_finish_compress(compress);
    if (encoder->file != encoder->bytes) keep_file(encoder);
    *bytes = encoder->bytes;
    *count = encoder->count;
    return 0;
}

const char *cjpeg_planar_error(const cjpeg_planar *encoder) {
    return encoder->message;
}

void cjpeg_planar_free(cjpeg_planar *encoder) {
    jpeg_destroy_compress(&encoder->compress);
    free(encoder->bytes);
    free(encoder->samples);
    free(encoder);
}
