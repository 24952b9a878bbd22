// SPDX-License-Identifier: GPL-2.0
/* The formats of the receiver's nodes: raw formats, packed and unpacked, and embedded data. */

#include <media/v4l2-event.h>
#include <media/v4l2-ioctl.h>

#include "camera.h"

/* The Raspberry Pi's kernel calls it V4L2_META_FMT_SENSOR_DATA. */
#define META_SENSOR_DATA v4l2_fourcc('S', 'E', 'N', 'S')

#define SIDE_MIN 16
#define SIDE_MAX 16376
#define LINE_ALIGNMENT 32

static const struct raw_format {
	u32 fourcc, code, depth;
} formats[] = {
	{ V4L2_PIX_FMT_SRGGB10P, MEDIA_BUS_FMT_SRGGB10_1X10, 10 },
	{ V4L2_PIX_FMT_SGRBG10P, MEDIA_BUS_FMT_SGRBG10_1X10, 10 },
	{ V4L2_PIX_FMT_SGBRG10P, MEDIA_BUS_FMT_SGBRG10_1X10, 10 },
	{ V4L2_PIX_FMT_SBGGR10P, MEDIA_BUS_FMT_SBGGR10_1X10, 10 },
	{ V4L2_PIX_FMT_SRGGB10, MEDIA_BUS_FMT_SRGGB10_1X10, 16 },
	{ V4L2_PIX_FMT_SGRBG10, MEDIA_BUS_FMT_SGRBG10_1X10, 16 },
	{ V4L2_PIX_FMT_SGBRG10, MEDIA_BUS_FMT_SGBRG10_1X10, 16 },
	{ V4L2_PIX_FMT_SBGGR10, MEDIA_BUS_FMT_SBGGR10_1X10, 16 },
};

static struct receiver_node *node_of(struct file *file)
{
	return container_of(video_devdata(file), struct receiver_node, video);
}

static const struct raw_format *find_format(u32 fourcc)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i].fourcc == fourcc)
			return &formats[i];
	return NULL;
}

static int querycap(struct file *file, void *private, struct v4l2_capability *capability)
{
	struct receiver_node *node = node_of(file);

	strscpy(capability->driver, UNICAM_NAME, sizeof(capability->driver));
	strscpy(capability->card, UNICAM_NAME, sizeof(capability->card));
	snprintf(capability->bus_info, sizeof(capability->bus_info), "platform:%s", dev_name(node->video.v4l2_dev->dev));
	return 0;
}

static int enum_image(struct file *file, void *private, struct v4l2_fmtdesc *description)
{
	u32 i, found = 0;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		if (description->mbus_code && description->mbus_code != formats[i].code)
			continue;
		if (found++ == description->index) {
			description->pixelformat = formats[i].fourcc;
			return 0;
		}
	}
	return -EINVAL;
}

static int get_image(struct file *file, void *private, struct v4l2_format *format)
{
	format->fmt.pix = node_of(file)->format;
	return 0;
}

static void fit(struct v4l2_pix_format *pix)
{
	const struct raw_format *format = find_format(pix->pixelformat) ?: &formats[0];
	u32 line;

	pix->pixelformat = format->fourcc;
	pix->width = clamp(pix->width, SIDE_MIN, SIDE_MAX);
	pix->height = clamp(pix->height, SIDE_MIN, SIDE_MAX);
	line = ALIGN(pix->width * format->depth / 8, LINE_ALIGNMENT);
	pix->bytesperline = clamp(ALIGN(pix->bytesperline, LINE_ALIGNMENT), line, (u32)SIDE_MAX * 2 / LINE_ALIGNMENT *
				  LINE_ALIGNMENT);
	pix->sizeimage = pix->bytesperline * pix->height;
	pix->field = V4L2_FIELD_NONE;
	pix->colorspace = V4L2_COLORSPACE_RAW;
	pix->ycbcr_enc = V4L2_YCBCR_ENC_601;
	pix->quantization = V4L2_QUANTIZATION_FULL_RANGE;
	pix->xfer_func = V4L2_XFER_FUNC_NONE;
	pix->flags = 0;
}

static int try_image(struct file *file, void *private, struct v4l2_format *format)
{
	fit(&format->fmt.pix);
	return 0;
}

static int set_image(struct file *file, void *private, struct v4l2_format *format)
{
	struct receiver_node *node = node_of(file);

	fit(&format->fmt.pix);
	if (vb2_is_busy(&node->queue))
		return -EBUSY;
	node->format = format->fmt.pix;
	return 0;
}

static int enum_sizes(struct file *file, void *private, struct v4l2_frmsizeenum *size)
{
	if (size->index || !find_format(size->pixel_format))
		return -EINVAL;
	size->type = V4L2_FRMSIZE_TYPE_STEPWISE;
	size->stepwise = (struct v4l2_frmsize_stepwise){ SIDE_MIN, SIDE_MAX, 1, SIDE_MIN, SIDE_MAX, 1 };
	return 0;
}

static int enum_embedded(struct file *file, void *private, struct v4l2_fmtdesc *description)
{
	if (description->index || (description->mbus_code && description->mbus_code != MBUS_SENSOR_DATA))
		return -EINVAL;
	description->pixelformat = META_SENSOR_DATA;
	/* This kernel has no name for it, and would complain. */
	strscpy(description->description, "Sensor Ancillary Metadata", sizeof(description->description));
	return 0;
}

static int get_embedded(struct file *file, void *private, struct v4l2_format *format)
{
	format->fmt.meta = (struct v4l2_meta_format){ .dataformat = META_SENSOR_DATA, .buffersize = EMBEDDED_BYTES };
	return 0;
}

static int set_embedded(struct file *file, void *private, struct v4l2_format *format)
{
	if (vb2_is_busy(&node_of(file)->queue))
		return -EBUSY;
	return get_embedded(file, private, format);
}

static int subscribe_event(struct v4l2_fh *fh, const struct v4l2_event_subscription *subscription)
{
	if (subscription->type == V4L2_EVENT_FRAME_SYNC)
		return v4l2_event_subscribe(fh, subscription, 2, NULL);
	return v4l2_ctrl_subscribe_event(fh, subscription);
}

const struct v4l2_ioctl_ops receiver_image_calls = {
	CAMERA_QUEUE_CALLS,
	.vidioc_enum_fmt_vid_cap = enum_image,
	.vidioc_g_fmt_vid_cap = get_image,
	.vidioc_try_fmt_vid_cap = try_image,
	.vidioc_s_fmt_vid_cap = set_image,
	.vidioc_enum_framesizes = enum_sizes,
	.vidioc_subscribe_event = subscribe_event,
};

const struct v4l2_ioctl_ops receiver_embedded_calls = {
	CAMERA_QUEUE_CALLS,
	.vidioc_enum_fmt_meta_cap = enum_embedded,
	.vidioc_g_fmt_meta_cap = get_embedded,
	.vidioc_try_fmt_meta_cap = get_embedded,
	.vidioc_s_fmt_meta_cap = set_embedded,
	.vidioc_subscribe_event = v4l2_ctrl_subscribe_event,
};

void receiver_choose_formats(struct receiver *receiver)
{
	struct v4l2_pix_format *pix = &receiver->image.format;

	*pix = (struct v4l2_pix_format){
		.width = receiver->sensor->mode->width,
		.height = receiver->sensor->mode->height,
		.pixelformat = formats[0].fourcc,
	};
	fit(pix);
}
