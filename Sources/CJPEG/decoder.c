#include "CJPEG.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

// A progressive file may have any number of scans, each over the whole image. Encoders make about ten.
enum { MOST_SCANS = 100 };

typedef struct {
    struct jpeg_decompress_struct decompress;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failure;
    cjpeg_image *image;
} decoder;

static void leave(j_common_ptr common) {
    decoder *decoder = common->client_data;
    char message[JMSG_LENGTH_MAX];
    _Static_assert(sizeof message <= sizeof decoder->image->message, "any message has room");
    common->err->format_message(common, message);
    memcpy(decoder->image->message, message, sizeof message);
    longjmp(decoder->failure, 1);
}

// -1 is a warning about broken or missing data; other levels are traces.
static void refuse_warnings(j_common_ptr common, int level) {
    if (level < 0) leave(common);
}

static void refuse(decoder *decoder, const char *reason) {
    strcpy(decoder->image->message, reason);
    longjmp(decoder->failure, 1);
}

static void limit_scans(j_common_ptr common) {
    decoder *decoder = common->client_data;
    if (decoder->decompress.input_scan_number > MOST_SCANS) refuse(decoder, "too many scans");
}

static void start(decoder *decoder, const uint8_t *bytes, size_t count) {
    struct jpeg_decompress_struct *decompress = &decoder->decompress;
    jpeg_create_decompress(decompress);
    jpeg_mem_src(decompress, bytes, count);
    jpeg_read_header(decompress, TRUE);
    decompress->progress = &decoder->progress;
    decoder->progress.progress_monitor = limit_scans;
}

static void read_rows(decoder *decoder, uint8_t *rgba) {
    struct jpeg_decompress_struct *decompress = &decoder->decompress;
    if (decompress->image_width != decoder->image->width || decompress->image_height != decoder->image->height) {
        refuse(decoder, "the room is for another size");
    }
    decompress->out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(decompress);
    while (decompress->output_scanline < decompress->output_height) {
        JSAMPROW row = rgba + 4 * (size_t)decompress->output_width * decompress->output_scanline;
        jpeg_read_scanlines(decompress, &row, 1);
    }
    jpeg_finish_decompress(decompress);
}

// - rgba: NULL for the header alone.
static int read(const uint8_t *bytes, size_t count, uint8_t *rgba, cjpeg_image *image) {
    decoder decoder = {.image = image};
    decoder.decompress.err = jpeg_std_error(&decoder.errors);
    decoder.decompress.client_data = &decoder;
    decoder.errors.error_exit = leave;
    decoder.errors.emit_message = refuse_warnings;
    int status = 0;
    if (setjmp(decoder.failure)) {
        status = -1;
    } else {
        start(&decoder, bytes, count);
        if (rgba != NULL) {
            read_rows(&decoder, rgba);
        } else {
            image->width = decoder.decompress.image_width;
            image->height = decoder.decompress.image_height;
        }
    }
    jpeg_destroy_decompress(&decoder.decompress);
    return status;
}

int cjpeg_measure(const uint8_t *bytes, size_t count, cjpeg_image *image) {
    return read(bytes, count, NULL, image);
}

int cjpeg_decode(const uint8_t *bytes, size_t count, uint8_t *rgba, cjpeg_image *image) {
    return read(bytes, count, rgba, image);
}
