// libyuv's conversions and scalers, and one matrix that it lacks.
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

// Swift cannot import the constants' type. Planes, then strides, of Y, U and V.
int clibyuv_to_argb(
    const uint8_t *const planes[3], const int strides[3], uint8_t *argb, int argb_stride, int width, int height,
    int is_bt709, int is_full_range);

// Converts I420 rows in place from BT.601 limited range to BT.709. The first row must be an even row of its frame.
void clibyuv_bt601_to_bt709(
    uint8_t *y, int y_stride, uint8_t *u, int u_stride, uint8_t *v, int v_stride, int width, int height);
#endif
