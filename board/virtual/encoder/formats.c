// SPDX-License-Identifier: GPL-2.0
/* Formats, crop and frame rate. */

#include <linux/videodev2.h>

#include "encoder.h"

#define MIN_SIDE 32
#define MAX_SIDE 1920
#define SMALL_BUFFER (512 << 10)
#define LARGE_BUFFER (768 << 10)

static const struct pixel_format raw_formats[] = {
	{ V4L2_PIX_FMT_YUV420, 64, false, false },
	{ V4L2_PIX_FMT_YVU420, 64, false, true },
	{ V4L2_PIX_FMT_NV12, 32, true, false },
	{ V4L2_PIX_FMT_NV21, 32, true, true },
};

static const struct pixel_format *format_of(u32 fourcc)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(raw_formats); i++)
		if (raw_formats[i].fourcc == fourcc)
			return &raw_formats[i];
	return NULL;
}

static int enum_raw(struct file *file, void *private, struct v4l2_fmtdesc *format)
{
	if (format->index >= ARRAY_SIZE(raw_formats))
		return -EINVAL;
	format->pixelformat = raw_formats[format->index].fourcc;
	return 0;
}

static int enum_coded(struct file *file, void *private, struct v4l2_fmtdesc *format)
{
	if (format->index)
		return -EINVAL;
	format->pixelformat = V4L2_PIX_FMT_H264;
	return 0;
}

static int enum_framesizes(struct file *file, void *private, struct v4l2_frmsizeenum *sizes)
{
	if (sizes->index || (!format_of(sizes->pixel_format) && sizes->pixel_format != V4L2_PIX_FMT_H264))
		return -EINVAL;
	sizes->type = V4L2_FRMSIZE_TYPE_STEPWISE;
	sizes->stepwise = (struct v4l2_frmsize_stepwise){ MIN_SIDE, MAX_SIDE, 2, MIN_SIDE, MAX_SIDE, 2 };
	return 0;
}

static void clamp_size(struct v4l2_pix_format_mplane *pixels)
{
	pixels->width = clamp(round_up(pixels->width, 2), MIN_SIDE, MAX_SIDE);
	pixels->height = clamp(round_up(pixels->height, 2), MIN_SIDE, MAX_SIDE);
	pixels->field = V4L2_FIELD_NONE;
	pixels->num_planes = 1;
	pixels->flags = 0;
}

static int g_fmt(struct file *file, void *private, struct v4l2_format *format)
{
	struct context *ctx = context_of(file);
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;
	bool input = V4L2_TYPE_IS_OUTPUT(format->type);

	pixels->width = input ? ctx->width : ctx->crop_width;
	pixels->height = input ? ctx->height : ctx->crop_height;
	pixels->field = V4L2_FIELD_NONE;
	pixels->num_planes = 1;
	pixels->pixelformat = input ? ctx->format->fourcc : V4L2_PIX_FMT_H264;
	pixels->plane_fmt[0].bytesperline = input ? ctx->stride : 0;
	pixels->plane_fmt[0].sizeimage = input ? raw_size(ctx) : ctx->output_size;
	pixels->colorspace = ctx->colorspace;
	pixels->xfer_func = ctx->xfer_func;
	pixels->ycbcr_enc = ctx->ycbcr_enc;
	pixels->quantization = ctx->quantization;
	return 0;
}

static int try_raw(struct file *file, void *private, struct v4l2_format *format)
{
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;
	const struct pixel_format *known = format_of(pixels->pixelformat);
	u32 stride;

	if (!known)
		known = &raw_formats[0];
	pixels->pixelformat = known->fourcc;
	clamp_size(pixels);
	if (other_maker) {
		pixels->width = round_up(pixels->width, 16);
		pixels->height = round_up(pixels->height, 16);
	}
	stride = max(pixels->width, min(pixels->plane_fmt[0].bytesperline, 2u * MAX_SIDE));
	stride = round_up(stride, known->alignment);
	pixels->plane_fmt[0].bytesperline = stride;
	pixels->plane_fmt[0].sizeimage = stride * pixels->height * 3 / 2;
	if (pixels->colorspace == V4L2_COLORSPACE_DEFAULT)
		pixels->colorspace = pixels->height >= 720 ? V4L2_COLORSPACE_REC709 : V4L2_COLORSPACE_SMPTE170M;
	return 0;
}

static int try_coded(struct file *file, void *private, struct v4l2_format *format)
{
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;
	u32 least;

	pixels->pixelformat = V4L2_PIX_FMT_H264;
	clamp_size(pixels);
	least = pixels->width * pixels->height > 1280 * 720 ? LARGE_BUFFER : SMALL_BUFFER;
	pixels->plane_fmt[0].bytesperline = 0;
	pixels->plane_fmt[0].sizeimage = clamp(pixels->plane_fmt[0].sizeimage, least, 16u << 20);
	if (faults.buffer_bytes)
		pixels->plane_fmt[0].sizeimage = max(faults.buffer_bytes, 512u);
	return 0;
}

static bool refuses_format(struct context *ctx, u32 type)
{
	return faults.busy_format || vb2_is_busy(v4l2_m2m_get_vq(ctx->fh.m2m_ctx, type));
}

static int s_fmt_raw(struct file *file, void *private, struct v4l2_format *format)
{
	struct context *ctx = context_of(file);
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;

	try_raw(file, private, format);
	if (refuses_format(ctx, format->type))
		return -EBUSY;
	ctx->format = format_of(pixels->pixelformat);
	ctx->width = pixels->width;
	ctx->height = pixels->height;
	ctx->stride = pixels->plane_fmt[0].bytesperline;
	ctx->crop_width = ctx->width;
	ctx->crop_height = ctx->height;
	ctx->colorspace = pixels->colorspace;
	ctx->xfer_func = pixels->xfer_func;
	ctx->ycbcr_enc = pixels->ycbcr_enc;
	ctx->quantization = pixels->quantization;
	return 0;
}

static int s_fmt_coded(struct file *file, void *private, struct v4l2_format *format)
{
	struct context *ctx = context_of(file);
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;

	try_coded(file, private, format);
	if (refuses_format(ctx, format->type))
		return -EBUSY;
	ctx->output_size = pixels->plane_fmt[0].sizeimage;
	/* As on the Pi, this format's colours count too, even when they say nothing. */
	ctx->colorspace = pixels->colorspace;
	ctx->xfer_func = pixels->xfer_func;
	ctx->ycbcr_enc = pixels->ycbcr_enc;
	ctx->quantization = pixels->quantization;
	return g_fmt(file, private, format);
}

static int g_selection(struct file *file, void *private, struct v4l2_selection *selection)
{
	struct context *ctx = context_of(file);

	if (selection->type != V4L2_BUF_TYPE_VIDEO_OUTPUT)
		return -EINVAL;
	selection->r = (struct v4l2_rect){ 0, 0, ctx->width, ctx->height };
	switch (selection->target) {
	case V4L2_SEL_TGT_CROP:
		selection->r.width = ctx->crop_width;
		selection->r.height = ctx->crop_height;
		return 0;
	case V4L2_SEL_TGT_CROP_DEFAULT:
	case V4L2_SEL_TGT_CROP_BOUNDS:
		return 0;
	default:
		return -EINVAL;
	}
}

static int s_selection(struct file *file, void *private, struct v4l2_selection *selection)
{
	struct context *ctx = context_of(file);

	if (selection->type != V4L2_BUF_TYPE_VIDEO_OUTPUT || selection->target != V4L2_SEL_TGT_CROP)
		return -EINVAL;
	selection->r.left = 0;
	selection->r.top = 0;
	selection->r.width = clamp(round_up(selection->r.width, 2), min(MIN_SIDE, ctx->width), ctx->width);
	selection->r.height = clamp(round_up(selection->r.height, 2), min(MIN_SIDE, ctx->height), ctx->height);
	ctx->crop_width = selection->r.width;
	ctx->crop_height = selection->r.height;
	return 0;
}

static int g_parm(struct file *file, void *private, struct v4l2_streamparm *parameters)
{
	if (!V4L2_TYPE_IS_OUTPUT(parameters->type))
		return -EINVAL;
	parameters->parm.output.capability = V4L2_CAP_TIMEPERFRAME;
	parameters->parm.output.timeperframe = context_of(file)->interval;
	return 0;
}

static int s_parm(struct file *file, void *private, struct v4l2_streamparm *parameters)
{
	struct context *ctx = context_of(file);
	struct v4l2_fract *interval = &parameters->parm.output.timeperframe;

	if (!V4L2_TYPE_IS_OUTPUT(parameters->type))
		return -EINVAL;
	if (!interval->numerator || !interval->denominator)
		*interval = (struct v4l2_fract){ 1, 30 };
	ctx->interval = *interval;
	ctx->coder.sequence.frames_per_second = frames_per_second(ctx);
	parameters->parm.output.capability = V4L2_CAP_TIMEPERFRAME;
	return 0;
}

/* The single-planar form of the same calls. */

static void widen(const struct v4l2_format *single, struct v4l2_format *multi)
{
	const struct v4l2_pix_format *from = &single->fmt.pix;
	struct v4l2_pix_format_mplane *to = &multi->fmt.pix_mp;

	memset(multi, 0, sizeof(*multi));
	multi->type = single->type;
	to->width = from->width;
	to->height = from->height;
	to->pixelformat = from->pixelformat;
	to->field = from->field;
	to->colorspace = from->colorspace;
	to->xfer_func = from->xfer_func;
	to->ycbcr_enc = from->ycbcr_enc;
	to->quantization = from->quantization;
	to->plane_fmt[0].bytesperline = from->bytesperline;
	to->plane_fmt[0].sizeimage = from->sizeimage;
}

static void narrow(const struct v4l2_format *multi, struct v4l2_format *single)
{
	const struct v4l2_pix_format_mplane *from = &multi->fmt.pix_mp;
	struct v4l2_pix_format *to = &single->fmt.pix;

	to->width = from->width;
	to->height = from->height;
	to->pixelformat = from->pixelformat;
	to->field = from->field;
	to->colorspace = from->colorspace;
	to->xfer_func = from->xfer_func;
	to->ycbcr_enc = from->ycbcr_enc;
	to->quantization = from->quantization;
	to->flags = 0;
	to->bytesperline = from->plane_fmt[0].bytesperline;
	to->sizeimage = from->plane_fmt[0].sizeimage;
}

#define SINGLE_PLANAR(name)                                                                       \
	static int name##_single(struct file *file, void *private, struct v4l2_format *format)    \
	{                                                                                         \
		struct v4l2_format multi;                                                         \
		int result;                                                                       \
												  \
		widen(format, &multi);                                                            \
		result = name(file, private, &multi);                                             \
		narrow(&multi, format);                                                           \
		return result;                                                                    \
	}
SINGLE_PLANAR(g_fmt)
SINGLE_PLANAR(try_raw)
SINGLE_PLANAR(try_coded)
SINGLE_PLANAR(s_fmt_raw)
SINGLE_PLANAR(s_fmt_coded)

void choose_format_calls(struct v4l2_ioctl_ops *calls)
{
	calls->vidioc_enum_fmt_vid_out = enum_raw;
	calls->vidioc_enum_fmt_vid_cap = enum_coded;
	calls->vidioc_enum_framesizes = enum_framesizes;
	calls->vidioc_g_selection = g_selection;
	calls->vidioc_s_selection = s_selection;
	calls->vidioc_g_parm = g_parm;
	calls->vidioc_s_parm = s_parm;
	if (other_maker) {
		calls->vidioc_g_fmt_vid_out = g_fmt_single;
		calls->vidioc_g_fmt_vid_cap = g_fmt_single;
		calls->vidioc_try_fmt_vid_out = try_raw_single;
		calls->vidioc_try_fmt_vid_cap = try_coded_single;
		calls->vidioc_s_fmt_vid_out = s_fmt_raw_single;
		calls->vidioc_s_fmt_vid_cap = s_fmt_coded_single;
		return;
	}
	calls->vidioc_g_fmt_vid_out_mplane = g_fmt;
	calls->vidioc_g_fmt_vid_cap_mplane = g_fmt;
	calls->vidioc_try_fmt_vid_out_mplane = try_raw;
	calls->vidioc_try_fmt_vid_cap_mplane = try_coded;
	calls->vidioc_s_fmt_vid_out_mplane = s_fmt_raw;
	calls->vidioc_s_fmt_vid_cap_mplane = s_fmt_coded;
}

u32 raw_size(const struct context *ctx)
{
	return ctx->stride * ctx->height * 3 / 2;
}

void init_formats(struct context *ctx)
{
	ctx->format = &raw_formats[0];
	ctx->width = 640;
	ctx->height = 480;
	ctx->stride = 640;
	ctx->crop_width = 640;
	ctx->crop_height = 480;
	ctx->output_size = SMALL_BUFFER;
	ctx->colorspace = V4L2_COLORSPACE_SMPTE170M;
	ctx->interval = (struct v4l2_fract){ 1, 30 };
}
