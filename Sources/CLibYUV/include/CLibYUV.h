// libyuv's conversions and scalers, and the one matrix that it lacks.
#ifndef CLIBYUV_H
#define CLIBYUV_H
#include <stddef.h>
#include <libyuv/convert.h>
#include <libyuv/convert_argb.h>
#include <libyuv/convert_from.h>
#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
#include <libyuv/rotate_argb.h>
#include <libyuv/scale.h>
#include <libyuv/scale_argb.h>
#include <libyuv/scale_uv.h>

// The constants have no type that Swift knows. Planes, and then strides, of Y, U and V.
int clibyuv_to_argb(
    const uint8_t *const planes[3], const int strides[3], uint8_t *argb, int argb_stride, int width, int height,
    int is_bt709, int is_full_range);

// Changes rows of I420 in place, of limited range by BT.601, into those by BT.709. The first row is an even one of its frame.
void clibyuv_bt601_to_bt709(
    uint8_t *y, int y_stride, uint8_t *u, int u_stride, uint8_t *v, int v_stride, int width, int height);
#endif
