#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

struct cjpeg_encoder {
    struct jpeg_compress_struct compress;
    struct jpeg_error_mgr errors;
    jmp_buf failure;
    int has_failed;
    char message[JMSG_LENGTH_MAX];
    unsigned char *bytes;
    unsigned long count;
};

static void leave(j_common_ptr common) {
    cjpeg_encoder *encoder = common->client_data;
    encoder->has_failed = 1;
    common->err->format_message(common, encoder->message);
    longjmp(encoder->failure, 1);
}

// By default, the library writes its warnings to standard error.
static void keep_quiet(j_common_ptr common) {
    (void) common;
}

cjpeg_encoder *cjpeg_start(uint32_t width, uint32_t height, int quality, const uint8_t *app1, size_t app1_count) {
    cjpeg_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL) return NULL;
    struct jpeg_compress_struct *compress = &encoder->compress;
    compress->err = jpeg_std_error(&encoder->errors);
    compress->client_data = encoder;
    encoder->errors.error_exit = leave;
    encoder->errors.output_message = keep_quiet;
    if (setjmp(encoder->failure)) return encoder;
    jpeg_create_compress(compress);
    jpeg_mem_dest(compress, &encoder->bytes, &encoder->count);
    compress->image_width = width;
    compress->image_height = height;
    compress->input_components = 4;
    compress->in_color_space = JCS_EXT_BGRX;
    jpeg_set_defaults(compress);
    jpeg_set_quality(compress, quality, TRUE);
    // Exif wants its segment in the place where JFIF wants its own.
    compress->write_JFIF_header = FALSE;
    jpeg_start_compress(compress, TRUE);
    if (app1_count > 0) jpeg_write_marker(compress, JPEG_APP0 + 1, app1, (unsigned int) app1_count);
    return encoder;
}

int cjpeg_write(cjpeg_encoder *encoder, const uint8_t *rows, size_t stride, uint32_t count) {
    if (encoder->has_failed || setjmp(encoder->failure)) return -1;
    for (uint32_t row = 0; row < count; row++) {
        JSAMPROW samples = (JSAMPROW) (rows + row * stride);
        jpeg_write_scanlines(&encoder->compress, &samples, 1);
    }
    return 0;
}

int cjpeg_finish(cjpeg_encoder *encoder, const uint8_t **bytes, size_t *count) {
    if (encoder->has_failed || setjmp(encoder->failure)) return -1;
    jpeg_finish_compress(&encoder->compress);
    *bytes = encoder->bytes;
    *count = encoder->count;
    return 0;
}

const char *cjpeg_error(const cjpeg_encoder *encoder) {
    return encoder->has_failed ? encoder->message : NULL;
}

void cjpeg_free(cjpeg_encoder *encoder) {
    jpeg_destroy_compress(&encoder->compress);
    free(encoder->bytes);
    free(encoder);
}
