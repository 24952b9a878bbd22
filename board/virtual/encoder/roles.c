// SPDX-License-Identifier: GPL-2.0
/* The nodes of the Pi's driver, and the formats that each of them lists. */

#include <linux/videodev2.h>

#include "encoder.h"

/* Bits of a sample in the first plane, the alignment of its lines, and the ratio of all planes to the first. */
#define PLANAR(code, line, swap) { .fourcc = V4L2_PIX_FMT_##code, .depth = 8, .alignment = line, .halves = 3, \
	.layout = { .luma_step = 1, .chroma_step = 1, .is_swapped = swap } }
#define SEMIPLANAR(code, swap) { .fourcc = V4L2_PIX_FMT_##code, .depth = 8, .alignment = 32, .halves = 3, \
	.layout = { .luma_step = 1, .chroma_step = 2, .is_swapped = swap } }
#define PACKED(code, at, swap) { .fourcc = V4L2_PIX_FMT_##code, .depth = 16, .alignment = 64, .halves = 2, \
	.layout = { .luma_step = 2, .luma_at = at, .chroma_step = 4, .is_swapped = swap } }
/* Formats that this encoder cannot code: it refuses them on start. */
#define OPAQUE(code, bits, line) { .fourcc = V4L2_PIX_FMT_##code, .depth = bits, .alignment = line, .halves = 2 }
#define CODED(code) { .fourcc = V4L2_PIX_FMT_##code, .is_coded = true, .alignment = 1 }

/* In the assumed order of the firmware's list; only the first entry is known. */
static const struct pixel_format raw_formats[] = {
	PLANAR(YUV420, 64, false), PLANAR(YVU420, 64, true), SEMIPLANAR(NV12, false), SEMIPLANAR(NV21, true),
	OPAQUE(RGB565, 16, 32), OPAQUE(RGB24, 24, 32), OPAQUE(BGR24, 24, 32), OPAQUE(BGR32, 32, 64),
	OPAQUE(RGBA32, 32, 64),
	PACKED(YUYV, 0, false), PACKED(YVYU, 0, true), PACKED(UYVY, 1, false), PACKED(VYUY, 1, true),
};
static const struct pixel_format bayer_formats[] = {
	PLANAR(YUV420, 64, false), PLANAR(YVU420, 64, true), SEMIPLANAR(NV12, false), SEMIPLANAR(NV21, true),
	OPAQUE(RGB565, 16, 32), OPAQUE(RGB24, 24, 32), OPAQUE(BGR24, 24, 32), PACKED(YUYV, 0, false),
	OPAQUE(SRGGB8, 8, 32), OPAQUE(SBGGR8, 8, 32), OPAQUE(SGRBG8, 8, 32), OPAQUE(SGBRG8, 8, 32),
	OPAQUE(SRGGB10P, 10, 32), OPAQUE(GREY, 8, 32),
};
static const struct pixel_format encoder_formats[] = { CODED(H264), CODED(MJPEG) };
static const struct pixel_format decoder_formats[] = { CODED(H264), CODED(MJPEG), CODED(H263), CODED(MPEG4) };
static const struct pixel_format image_formats[] = { CODED(JPEG) };

#define LIST(formats) { formats, ARRAY_SIZE(formats) }
const struct role roles[] = {
	{ "bcm2835-codec-decode", 10, MEDIA_ENT_F_PROC_VIDEO_DECODER, LIST(decoder_formats), LIST(raw_formats), 16 },
	{ "bcm2835-codec-encode", 11, MEDIA_ENT_F_PROC_VIDEO_ENCODER, LIST(raw_formats), LIST(encoder_formats), 1,
	  &coder },
	{ "bcm2835-codec-isp", 12, MEDIA_ENT_F_PROC_VIDEO_SCALER, LIST(bayer_formats), LIST(raw_formats), 1,
	  &scaler },
	{ "bcm2835-codec-image_fx", 18, MEDIA_ENT_F_PROC_VIDEO_PIXEL_FORMATTER, LIST(raw_formats), LIST(raw_formats), 1 },
	{ "bcm2835-codec-encode_image", 31, MEDIA_ENT_F_PROC_VIDEO_ENCODER, LIST(raw_formats), LIST(image_formats), 16 },
};
