// OpenH264's C interface: the encoder is a pointer to a table of functions.
#ifndef COPENH264_H
#define COPENH264_H
#include <wels/codec_api.h>
#include <wels/codec_app_def.h>
#include <wels/codec_ver.h>
#endif
