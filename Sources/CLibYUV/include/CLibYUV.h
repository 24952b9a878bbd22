// libyuv's conversions and scalers.
#ifndef CLIBYUV_H
#define CLIBYUV_H
#include <libyuv/convert.h>
#include <libyuv/convert_argb.h>
#include <libyuv/convert_from.h>
#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
#include <libyuv/scale.h>
#include <libyuv/scale_argb.h>
#include <libyuv/scale_uv.h>

// The constants have no type that Swift knows. Planes, and then strides, of Y, U and V.
int clibyuv_to_argb(
    const uint8_t *const planes[3], const int strides[3], uint8_t *argb, int argb_stride, int width, int height,
    int is_bt709, int is_full_range);
#endif
