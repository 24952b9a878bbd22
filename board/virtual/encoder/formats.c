// SPDX-License-Identifier: GPL-2.0
/* Formats, crop and frame rate: the Pi's driver's choices, and the stricter ones of another maker. */

#include <linux/videodev2.h>

#include "encoder.h"

#define MIN_SIDE 32
#define MAX_SIDE 1920
#define MAX_SIDE_ISP 16384
#define SMALL_BUFFER (512 << 10)
#define LARGE_BUFFER (768 << 10)
#define JPEG_BUFFER (4096 << 10)

static const struct pixel_format *find(const struct format_list *list, u32 fourcc)
{
	u32 i;

	for (i = 0; i < list->count; i++)
		if (list->formats[i].fourcc == fourcc)
			return &list->formats[i];
	return NULL;
}

/* Another maker's encoder has only the planar formats and H.264. */
static u32 offered(const struct format_list *list)
{
	return other_maker ? min(list->count, list->formats[0].is_coded ? 1u : 4u) : list->count;
}

static const struct format_list *list_of(const struct context *ctx, u32 type)
{
	const struct role *role = ctx->encoder->role;

	return V4L2_TYPE_IS_OUTPUT(type) ? &role->in : &role->out;
}

static struct side *side_of(struct context *ctx, u32 type)
{
	return V4L2_TYPE_IS_OUTPUT(type) ? &ctx->in : &ctx->out;
}

static u32 size_of(const struct pixel_format *format, u32 width, u32 height, u32 stride)
{
	if (!format->is_coded)
		return stride * height * format->halves / 2;
	if (format->fourcc == V4L2_PIX_FMT_JPEG)
		return JPEG_BUFFER;
	return width * height > 1280 * 720 ? LARGE_BUFFER : SMALL_BUFFER;
}

void locate_samples(const struct side *side, const u8 *base, struct h264_frame *frame)
{
	const struct sample_layout *layout = &side->format->layout;
	u32 stride = side->stride, luma = stride * side->height;
	const u8 *second, *third;

	frame->luma = base + layout->luma_at;
	frame->luma_stride = stride;
	frame->luma_step = layout->luma_step;
	frame->chroma_step = layout->chroma_step;
	if (layout->luma_step > 1) {
		/* All in one plane; every other line's chroma. */
		frame->chroma_stride = 2 * stride;
		second = base + 1 - layout->luma_at;
		third = second + 2;
	} else {
		frame->chroma_stride = layout->chroma_step > 1 ? stride : stride / 2;
		second = base + luma;
		third = layout->chroma_step > 1 ? second + 1 : second + luma / 4;
	}
	frame->cb = layout->is_swapped ? third : second;
	frame->cr = layout->is_swapped ? second : third;
}

static int enumerate(const struct format_list *list, struct v4l2_fmtdesc *format)
{
	if (format->index >= offered(list))
		return -EINVAL;
	format->pixelformat = list->formats[format->index].fourcc;
	return 0;
}

static int enum_in(struct file *file, void *private, struct v4l2_fmtdesc *format)
{
	return enumerate(&context_of(file)->encoder->role->in, format);
}

static int enum_out(struct file *file, void *private, struct v4l2_fmtdesc *format)
{
	return enumerate(&context_of(file)->encoder->role->out, format);
}

/* A scaler with a lower limit than it claims reveals that only in the resulting format. */
static u32 max_side(const struct context *ctx, u32 type)
{
	if (ctx->encoder->role != &roles[SCALER_ROLE])
		return MAX_SIDE;
	return V4L2_TYPE_IS_CAPTURE(type) && faults.scaler_limit ? faults.scaler_limit : MAX_SIDE_ISP;
}

static int enum_framesizes(struct file *file, void *private, struct v4l2_frmsizeenum *sizes)
{
	struct context *ctx = context_of(file);
	const struct role *role = ctx->encoder->role;
	u32 most = max_side(ctx, V4L2_BUF_TYPE_VIDEO_OUTPUT);

	if (sizes->index || (!find(&role->in, sizes->pixel_format) && !find(&role->out, sizes->pixel_format)))
		return -EINVAL;
	sizes->type = V4L2_FRMSIZE_TYPE_STEPWISE;
	sizes->stepwise = (struct v4l2_frmsize_stepwise){ MIN_SIDE, most, 2, MIN_SIDE, most, 2 };
	return 0;
}

static int g_fmt(struct file *file, void *private, struct v4l2_format *format)
{
	struct context *ctx = context_of(file);
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;
	const struct side *side = side_of(ctx, format->type);

	pixels->width = side->width;
	pixels->height = side->height;
	if (other_maker && V4L2_TYPE_IS_CAPTURE(format->type)) {
		pixels->width = ctx->crop_width;
		pixels->height = ctx->crop_height;
	}
	pixels->field = V4L2_FIELD_NONE;
	pixels->num_planes = 1;
	pixels->pixelformat = side->format->fourcc;
	pixels->plane_fmt[0].bytesperline = side->stride;
	pixels->plane_fmt[0].sizeimage = side->size;
	pixels->colorspace = ctx->colorspace;
	pixels->xfer_func = ctx->xfer_func;
	pixels->ycbcr_enc = ctx->ycbcr_enc;
	pixels->quantization = ctx->quantization;
	return 0;
}

static u32 least_width(const struct context *ctx)
{
	return ctx->encoder->role == &roles[ENCODER_ROLE] ? max(faults.least_width, MIN_SIDE) : MIN_SIDE;
}

static u32 fit_side(u32 side, u32 most, u32 step)
{
	side = clamp(side, MIN_SIDE, most);
	return faults.rounds_down ? round_down(side, step) : round_up(side, step);
}

/* With another maker, sides are even, and inputs are whole macroblocks. The Pi's driver accepts any. */
static void fit_size(const struct context *ctx, u32 most, struct v4l2_pix_format_mplane *pixels,
		     const struct pixel_format *format)
{

	if (other_maker) {
		u32 step = format->is_coded ? 2 : 16;

		pixels->width = fit_side(pixels->width, most, step);
		pixels->height = fit_side(pixels->height, most, step);
		pixels->flags = 0;
		return;
	}
	pixels->width = min(pixels->width, most);
	pixels->height = min(pixels->height, most);
	if (format->is_coded)
		return;
	pixels->width = max(pixels->width, least_width(ctx));
	pixels->height = round_up(max(pixels->height, MIN_SIDE), ctx->encoder->role->lines);
}

static int try_fmt(struct file *file, void *private, struct v4l2_format *format)
{
	struct context *ctx = context_of(file);
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;
	const struct format_list *list = list_of(ctx, format->type);
	const struct pixel_format *known = find(list, pixels->pixelformat);
	u32 stride, size;

	if (!known || known >= list->formats + offered(list))
		known = &list->formats[0];
	pixels->pixelformat = known->fourcc;
	fit_size(ctx, max_side(ctx, format->type), pixels, known);
	pixels->field = V4L2_FIELD_NONE;
	pixels->num_planes = 1;
	stride = pixels->plane_fmt[0].bytesperline;
	if (other_maker)
		stride = min(stride, 2u * MAX_SIDE);
	stride = known->is_coded ? 0 : round_up(max(stride, pixels->width * known->depth / 8), known->alignment);
	size = size_of(known, pixels->width, pixels->height, stride);
	pixels->plane_fmt[0].bytesperline = stride;
	if (!known->is_coded || pixels->plane_fmt[0].sizeimage < size)
		pixels->plane_fmt[0].sizeimage = size;
	if (other_maker)
		pixels->plane_fmt[0].sizeimage = min(pixels->plane_fmt[0].sizeimage, 16u << 20);
	if (known->is_coded && faults.buffer_bytes)
		pixels->plane_fmt[0].sizeimage = max(faults.buffer_bytes, 512u);
	if (V4L2_TYPE_IS_OUTPUT(format->type) && pixels->colorspace == V4L2_COLORSPACE_DEFAULT)
		pixels->colorspace = ctx->colorspace;
	return 0;
}

static int s_fmt(struct file *file, void *private, struct v4l2_format *format)
{
	struct context *ctx = context_of(file);
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;
	struct side *side = side_of(ctx, format->type);
	u32 wanted_height = pixels->height;

	try_fmt(file, private, format);
	if (faults.busy_format || vb2_is_busy(v4l2_m2m_get_vq(ctx->fh.m2m_ctx, format->type)))
		return -EBUSY;
	side->format = find(list_of(ctx, format->type), pixels->pixelformat);
	side->width = pixels->width;
	side->height = pixels->height;
	side->stride = pixels->plane_fmt[0].bytesperline;
	side->size = pixels->plane_fmt[0].sizeimage;
	/* As on the Pi, there is one color description, even if the output format does not mention colors. */
	ctx->colorspace = pixels->colorspace;
	ctx->xfer_func = pixels->xfer_func;
	ctx->ycbcr_enc = pixels->ycbcr_enc;
	ctx->quantization = pixels->quantization;
	if (V4L2_TYPE_IS_OUTPUT(format->type)) {
		ctx->crop_width = pixels->width;
		/* The Pi's driver keeps the height of a crop, and reports an aligned crop as requested. */
		if (other_maker)
			ctx->crop_height = pixels->height;
		else if (!ctx->has_crop)
			ctx->crop_height = wanted_height;
	} else if (other_maker) {
		return g_fmt(file, private, format);
	}
	return component_answers(ctx) ? 0 : -EINVAL;
}

static int g_selection(struct file *file, void *private, struct v4l2_selection *selection)
{
	struct context *ctx = context_of(file);

	if (selection->type != V4L2_BUF_TYPE_VIDEO_OUTPUT)
		return -EINVAL;
	/* The Pi's driver reports the buffer's width. */
	selection->r = (struct v4l2_rect){ 0, 0, other_maker ? ctx->in.width : ctx->in.stride, ctx->in.height };
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
	struct v4l2_rect *crop = &selection->r;

	if (selection->type != V4L2_BUF_TYPE_VIDEO_OUTPUT || selection->target != V4L2_SEL_TGT_CROP)
		return -EINVAL;
	crop->left = 0;
	crop->top = 0;
	if (other_maker) {
		crop->width = clamp(round_up(crop->width, 2), min(MIN_SIDE, ctx->in.width), ctx->in.width);
		crop->height = clamp(round_up(crop->height, 2), min(MIN_SIDE, ctx->in.height), ctx->in.height);
	} else {
		/* Its width is then the format's, and never grows. */
		crop->width = min(max(crop->width, faults.least_width), ctx->in.width);
		crop->height = min(crop->height, ctx->in.height);
		ctx->in.width = crop->width;
		ctx->has_crop = true;
	}
	ctx->crop_width = crop->width;
	ctx->crop_height = crop->height;
	return component_answers(ctx) ? 0 : -EINVAL;
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
	if (!interval->numerator || !interval->denominator) {
		if (!other_maker)
			return -EINVAL;
		*interval = (struct v4l2_fract){ 1, 30 };
	}
	ctx->interval = *interval;
	ctx->coder.sequence.frames_per_second = frames_per_second(ctx);
	parameters->parm.output.capability = V4L2_CAP_TIMEPERFRAME;
	if (component_answers(ctx))
		return 0;
	return ctx->output_runs ? -ETIME : -EINVAL;
}

static void init_side(struct side *side, const struct format_list *list, u32 width, u32 height)
{
	const struct pixel_format *format = &list->formats[0];

	side->format = format;
	side->width = width;
	side->height = height;
	side->stride = format->is_coded ? 0 : round_up(width * format->depth / 8, format->alignment);
	side->size = size_of(format, width, height, side->stride);
}

void init_formats(struct context *ctx)
{
	const struct role *role = ctx->encoder->role;
	u32 width = other_maker ? 640 : MIN_SIDE, height = other_maker ? 480 : MIN_SIDE;

	init_side(&ctx->in, &role->in, width, height);
	init_side(&ctx->out, &role->out, width, height);
	ctx->crop_width = width;
	ctx->crop_height = height;
	ctx->colorspace = V4L2_COLORSPACE_REC709;
	ctx->interval = (struct v4l2_fract){ 1, 30 };
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
SINGLE_PLANAR(try_fmt)
SINGLE_PLANAR(s_fmt)

void choose_format_calls(struct v4l2_ioctl_ops *calls)
{
	calls->vidioc_enum_fmt_vid_out = enum_in;
	calls->vidioc_enum_fmt_vid_cap = enum_out;
	calls->vidioc_enum_framesizes = enum_framesizes;
	calls->vidioc_g_selection = g_selection;
	calls->vidioc_s_selection = s_selection;
	calls->vidioc_g_parm = g_parm;
	calls->vidioc_s_parm = s_parm;
	if (other_maker) {
		calls->vidioc_g_fmt_vid_out = g_fmt_single;
		calls->vidioc_g_fmt_vid_cap = g_fmt_single;
		calls->vidioc_try_fmt_vid_out = try_fmt_single;
		calls->vidioc_try_fmt_vid_cap = try_fmt_single;
		calls->vidioc_s_fmt_vid_out = s_fmt_single;
		calls->vidioc_s_fmt_vid_cap = s_fmt_single;
		return;
	}
	calls->vidioc_g_fmt_vid_out_mplane = g_fmt;
	calls->vidioc_g_fmt_vid_cap_mplane = g_fmt;
	calls->vidioc_try_fmt_vid_out_mplane = try_fmt;
	calls->vidioc_try_fmt_vid_cap_mplane = try_fmt;
	calls->vidioc_s_fmt_vid_out_mplane = s_fmt;
	calls->vidioc_s_fmt_vid_cap_mplane = s_fmt;
}
