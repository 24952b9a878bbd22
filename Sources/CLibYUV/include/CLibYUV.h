// libyuv's conversions and scalers.
#ifndef CLIBYUV_H
#define CLIBYUV_H
#include <libyuv/convert.h>
#include <libyuv/convert_from.h>
#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
#include <libyuv/scale.h>
#include <libyuv/scale_uv.h>
#endif
