#include "CLibYUV.h"

int clibyuv_to_argb(
    const uint8_t *const planes[3], const int strides[3], uint8_t *argb, int argb_stride, int width, int height,
    int is_bt709, int is_full_range) {
    const struct YuvConstants *constants = is_bt709 ? (is_full_range ? &kYuvF709Constants : &kYuvH709Constants)
                                                    : (is_full_range ? &kYuvJPEGConstants : &kYuvI601Constants);
    return I420ToARGBMatrix(
        planes[0], strides[0], planes[1], strides[1], planes[2], strides[2], argb, argb_stride, constants, width,
        height);
}
