// SPDX-License-Identifier: GPL-2.0
/* The formats of the image signal processor's nodes: raw frames, 4:2:0, statistics, and the crop. */

#include <media/v4l2-event.h>
#include <media/v4l2-ioctl.h>

#include "isp.h"

/* The Raspberry Pi's kernel calls it V4L2_META_FMT_BCM2835_ISP_STATS. */
#define META_STATISTICS v4l2_fourcc('B', 'S', 'T', 'A')

#define SIDE_MIN 64u
#define SIDE_MAX 16384u
#define SIDE_DEFAULT_WIDTH 640
#define SIDE_DEFAULT_HEIGHT 480
#define LINE_MAX (2 * SIDE_MAX)

#define RAW(code, bits) { .fourcc = V4L2_PIX_FMT_##code, .depth = bits, .alignment = 32, .halves = 2, .is_raw = true }
#define YUV(code, line, pairs, swap) { .fourcc = V4L2_PIX_FMT_##code, .depth = 8, .alignment = line, .halves = 3, \
	.is_semiplanar = pairs, .is_swapped = swap }

static const struct isp_format raw_formats[] = {
	RAW(SRGGB10P, 10), RAW(SBGGR10P, 10), RAW(SGRBG10P, 10), RAW(SGBRG10P, 10),
	RAW(SRGGB10, 16), RAW(SBGGR10, 16), RAW(SGRBG10, 16), RAW(SGBRG10, 16),
};
static const struct isp_format frame_formats[] = {
	YUV(YUV420, 64, false, false), YUV(YVU420, 64, false, true), YUV(NV12, 32, true, false), YUV(NV21, 32, true, true),
};

static struct isp_node *node_of(struct file *file)
{
	return container_of(video_devdata(file), struct isp_node, video);
}

static const struct isp_format *formats_of(const struct isp_node *node, u32 *count)
{
	*count = node->role == ISP_INPUT ? ARRAY_SIZE(raw_formats) : ARRAY_SIZE(frame_formats);
	return node->role == ISP_INPUT ? raw_formats : frame_formats;
}

static const struct isp_format *find_format(const struct isp_node *node, u32 fourcc)
{
	u32 count, i;
	const struct isp_format *formats = formats_of(node, &count);

	for (i = 0; i < count; i++)
		if (formats[i].fourcc == fourcc)
			return &formats[i];
	return NULL;
}

const struct isp_format *isp_node_format(const struct isp_node *node)
{
	return find_format(node, node->format.pixelformat);
}

u32 isp_node_size(const struct isp_node *node)
{
	return is_statistics(node) ? sizeof(struct statistics) : node->format.sizeimage;
}

static int querycap(struct file *file, void *private, struct v4l2_capability *capability)
{
	strscpy(capability->driver, ISP_NAME, sizeof(capability->driver));
	strscpy(capability->card, ISP_NAME, sizeof(capability->card));
	strscpy(capability->bus_info, "platform:" ISP_NAME, sizeof(capability->bus_info));
	return 0;
}

/* Formats. */

static int enum_fmt(struct file *file, void *private, struct v4l2_fmtdesc *description)
{
	u32 count;
	const struct isp_format *formats = formats_of(node_of(file), &count);

	if (description->index >= count)
		return -EINVAL;
	description->pixelformat = formats[description->index].fourcc;
	return 0;
}

static int enum_sizes(struct file *file, void *private, struct v4l2_frmsizeenum *size)
{
	if (size->index || !find_format(node_of(file), size->pixel_format))
		return -EINVAL;
	size->type = V4L2_FRMSIZE_TYPE_STEPWISE;
	size->stepwise = (struct v4l2_frmsize_stepwise){ SIDE_MIN, SIDE_MAX, 2, SIDE_MIN, SIDE_MAX, 2 };
	return 0;
}

static void choose_colors(const struct isp_format *format, struct v4l2_pix_format *pix)
{
	bool is_known = pix->colorspace == V4L2_COLORSPACE_SMPTE170M || pix->colorspace == V4L2_COLORSPACE_REC709 ||
			pix->colorspace == V4L2_COLORSPACE_JPEG;

	if (format->is_raw)
		pix->colorspace = V4L2_COLORSPACE_RAW;
	else if (!is_known)
		pix->colorspace = V4L2_COLORSPACE_JPEG;
	/* The rest follows from the color space: the driver accepts nothing else. */
	pix->ycbcr_enc = V4L2_MAP_YCBCR_ENC_DEFAULT(pix->colorspace);
	pix->xfer_func = V4L2_MAP_XFER_FUNC_DEFAULT(pix->colorspace);
	pix->quantization = V4L2_MAP_QUANTIZATION_DEFAULT(format->is_raw, pix->colorspace, pix->ycbcr_enc);
}

static void fit(const struct isp_node *node, struct v4l2_pix_format *pix)
{
	const struct isp_format *format = find_format(node, pix->pixelformat);
	u32 count, line;

	if (!format)
		format = formats_of(node, &count);
	pix->pixelformat = format->fourcc;
	pix->width = ALIGN(clamp(pix->width, SIDE_MIN, SIDE_MAX), 2);
	pix->height = ALIGN(clamp(pix->height, SIDE_MIN, SIDE_MAX), 2);
	line = ALIGN(pix->width * format->depth / 8, format->alignment);
	pix->bytesperline = clamp(ALIGN(min(pix->bytesperline, LINE_MAX), format->alignment), line, LINE_MAX);
	pix->sizeimage = pix->bytesperline * pix->height * format->halves / 2;
	pix->field = V4L2_FIELD_NONE;
	pix->flags = 0;
	choose_colors(format, pix);
}

static int g_fmt(struct file *file, void *private, struct v4l2_format *format)
{
	format->fmt.pix = node_of(file)->format;
	return 0;
}

static int try_fmt(struct file *file, void *private, struct v4l2_format *format)
{
	fit(node_of(file), &format->fmt.pix);
	return 0;
}

static void choose(struct isp_node *node, const struct v4l2_pix_format *format)
{
	struct isp *isp = node->isp;

	spin_lock(&isp->lock);
	node->format = *format;
	if (node->role == ISP_INPUT)
		isp->settings.crop = (struct v4l2_rect){ 0, 0, format->width, format->height };
	spin_unlock(&isp->lock);
}

static int s_fmt(struct file *file, void *private, struct v4l2_format *format)
{
	struct isp_node *node = node_of(file);

	if (vb2_is_busy(&node->queue))
		return -EBUSY;
	fit(node, &format->fmt.pix);
	choose(node, &format->fmt.pix);
	return 0;
}

void isp_choose_format(struct isp_node *node)
{
	struct v4l2_pix_format format = { .width = SIDE_DEFAULT_WIDTH, .height = SIDE_DEFAULT_HEIGHT };

	fit(node, &format);
	choose(node, &format);
}

static int enum_statistics(struct file *file, void *private, struct v4l2_fmtdesc *description)
{
	if (description->index)
		return -EINVAL;
	description->pixelformat = META_STATISTICS;
	/* This kernel has no name for it, and would complain. */
	strscpy(description->description, "BCM2835 ISP Image Statistics", sizeof(description->description));
	return 0;
}

static int get_statistics(struct file *file, void *private, struct v4l2_format *format)
{
	format->fmt.meta = (struct v4l2_meta_format){
		.dataformat = META_STATISTICS,
		.buffersize = sizeof(struct statistics),
	};
	return 0;
}

static int set_statistics(struct file *file, void *private, struct v4l2_format *format)
{
	if (vb2_is_busy(&node_of(file)->queue))
		return -EBUSY;
	return get_statistics(file, private, format);
}

/* The crop, which only the input has. */

static int g_selection(struct file *file, void *private, struct v4l2_selection *selection)
{
	struct isp_node *node = node_of(file);
	int result = 0;

	if (selection->type != V4L2_BUF_TYPE_VIDEO_OUTPUT)
		return -EINVAL;
	spin_lock(&node->isp->lock);
	switch (selection->target) {
	case V4L2_SEL_TGT_CROP:
		selection->r = node->isp->settings.crop;
		break;
	case V4L2_SEL_TGT_CROP_DEFAULT:
	case V4L2_SEL_TGT_CROP_BOUNDS:
		selection->r = (struct v4l2_rect){ 0, 0, node->format.width, node->format.height };
		break;
	default:
		result = -EINVAL;
	}
	spin_unlock(&node->isp->lock);
	return result;
}

static int s_selection(struct file *file, void *private, struct v4l2_selection *selection)
{
	struct isp_node *node = node_of(file);
	struct v4l2_rect *r = &selection->r;

	if (selection->type != V4L2_BUF_TYPE_VIDEO_OUTPUT || selection->target != V4L2_SEL_TGT_CROP)
		return -EINVAL;
	if (!r->width || !r->height)
		return -EINVAL;
	r->left = clamp(r->left, 0, (s32)(node->format.width - SIDE_MIN));
	r->top = clamp(r->top, 0, (s32)(node->format.height - SIDE_MIN));
	r->width = clamp(r->width, SIDE_MIN, node->format.width - r->left);
	r->height = clamp(r->height, SIDE_MIN, node->format.height - r->top);
	spin_lock(&node->isp->lock);
	node->isp->settings.crop = *r;
	spin_unlock(&node->isp->lock);
	return 0;
}

const struct v4l2_ioctl_ops isp_input_calls = {
	CAMERA_QUEUE_CALLS,
	.vidioc_subscribe_event = v4l2_ctrl_subscribe_event,
	.vidioc_enum_fmt_vid_out = enum_fmt,
	.vidioc_g_fmt_vid_out = g_fmt,
	.vidioc_try_fmt_vid_out = try_fmt,
	.vidioc_s_fmt_vid_out = s_fmt,
	.vidioc_enum_framesizes = enum_sizes,
	.vidioc_g_selection = g_selection,
	.vidioc_s_selection = s_selection,
};

const struct v4l2_ioctl_ops isp_output_calls = {
	CAMERA_QUEUE_CALLS,
	.vidioc_subscribe_event = v4l2_ctrl_subscribe_event,
	.vidioc_enum_fmt_vid_cap = enum_fmt,
	.vidioc_g_fmt_vid_cap = g_fmt,
	.vidioc_try_fmt_vid_cap = try_fmt,
	.vidioc_s_fmt_vid_cap = s_fmt,
	.vidioc_enum_framesizes = enum_sizes,
};

const struct v4l2_ioctl_ops isp_statistics_calls = {
	CAMERA_QUEUE_CALLS,
	.vidioc_subscribe_event = v4l2_ctrl_subscribe_event,
	.vidioc_enum_fmt_meta_cap = enum_statistics,
	.vidioc_g_fmt_meta_cap = get_statistics,
	.vidioc_try_fmt_meta_cap = get_statistics,
	.vidioc_s_fmt_meta_cap = set_statistics,
};
