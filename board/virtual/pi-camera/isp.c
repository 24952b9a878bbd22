// SPDX-License-Identifier: GPL-2.0
/* The image signal processor: its driver, and its nodes. */

#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <media/v4l2-ioctl.h>
#include <media/videobuf2-dma-contig.h>

#include "isp.h"

MODULE_IMPORT_NS(DMA_BUF);

/* The first nodes of the two processors, as on a board. */
static const int first_numbers[ISP_COUNT] = { 13, 20 };

static const struct {
	const char *name;
	u32 type, capability;
	const struct v4l2_ioctl_ops *calls;
} roles[ISP_NODES] = {
	[ISP_INPUT] = { "bcm2835-isp0-output0", V4L2_BUF_TYPE_VIDEO_OUTPUT, V4L2_CAP_VIDEO_OUTPUT, &isp_input_calls },
	[ISP_OUTPUT] = { "bcm2835-isp0-capture1", V4L2_BUF_TYPE_VIDEO_CAPTURE, V4L2_CAP_VIDEO_CAPTURE, &isp_output_calls },
	[ISP_SMALL_OUTPUT] = { "bcm2835-isp0-capture2", V4L2_BUF_TYPE_VIDEO_CAPTURE, V4L2_CAP_VIDEO_CAPTURE,
			       &isp_output_calls },
	[ISP_STATISTICS] = { "bcm2835-isp0-capture3", V4L2_BUF_TYPE_META_CAPTURE, V4L2_CAP_META_CAPTURE,
			     &isp_statistics_calls },
};

/* Nodes. */

static const struct v4l2_file_operations file_ops = {
	.owner = THIS_MODULE,
	.open = v4l2_fh_open,
	.release = vb2_fop_release,
	.poll = vb2_fop_poll,
	.unlocked_ioctl = video_ioctl2,
	.mmap = vb2_fop_mmap,
};

static int link_node(struct isp_node *node)
{
	struct media_entity *processor = &node->isp->entity, *end = &node->video.entity;
	u32 flags = MEDIA_LNK_FL_ENABLED | MEDIA_LNK_FL_IMMUTABLE;

	if (node->role == ISP_INPUT)
		return media_create_pad_link(end, 0, processor, node->role, flags);
	return media_create_pad_link(processor, node->role, end, 0, flags);
}

static int add_node(struct isp *isp, enum isp_role role, struct device *device, int number)
{
	struct isp_node *node = &isp->nodes[role];
	struct video_device *video = &node->video;
	int result;

	node->isp = isp;
	node->role = role;
	mutex_init(&node->lock);
	INIT_LIST_HEAD(&node->buffers);
	if (!is_statistics(node))
		isp_choose_format(node);
	result = isp_init_queue(node, roles[role].type, device);
	if (result)
		return result;
	strscpy(video->name, roles[role].name, sizeof(video->name));
	video->v4l2_dev = &isp->v4l2;
	video->fops = &file_ops;
	video->ioctl_ops = roles[role].calls;
	video->vfl_dir = role == ISP_INPUT ? VFL_DIR_TX : VFL_DIR_RX;
	video->device_caps = roles[role].capability | V4L2_CAP_STREAMING;
	video->release = video_device_release_empty;
	video->lock = &node->lock;
	video->queue = &node->queue;
	if (role == ISP_INPUT)
		video->ctrl_handler = &isp->handler;
	node->pad.flags = role == ISP_INPUT ? MEDIA_PAD_FL_SOURCE : MEDIA_PAD_FL_SINK;
	result = media_entity_pads_init(&video->entity, 1, &node->pad);
	if (!result)
		result = video_register_device(video, VFL_TYPE_VIDEO, number);
	return result ?: link_node(node);
}

static void remove_nodes(struct isp *isp)
{
	u32 role;

	for (role = 0; role < ISP_NODES; role++)
		if (video_is_registered(&isp->nodes[role].video))
			vb2_video_unregister_device(&isp->nodes[role].video);
}

/* Called when the last program has closed it. */
static void release(struct v4l2_device *v4l2)
{
	struct isp *isp = container_of(v4l2, struct isp, v4l2);

	v4l2_ctrl_handler_free(&isp->handler);
	media_entity_cleanup(&isp->entity);
	media_device_cleanup(&isp->media);
	rows_release(isp->rows);
	kfree(isp);
}

static int add_processor(struct isp *isp)
{
	u32 pad;

	isp->entity.name = "bcm2835_isp0";
	isp->entity.obj_type = MEDIA_ENTITY_TYPE_BASE;
	isp->entity.function = MEDIA_ENT_F_PROC_VIDEO_SCALER;
	for (pad = 0; pad < ISP_NODES; pad++)
		isp->pads[pad].flags = pad == ISP_INPUT ? MEDIA_PAD_FL_SINK : MEDIA_PAD_FL_SOURCE;
	return media_entity_pads_init(&isp->entity, ISP_NODES, isp->pads) ?:
	       media_device_register_entity(&isp->media, &isp->entity);
}

static int add_parts(struct isp *isp, struct platform_device *device)
{
	u32 role;
	int result = isp_init_controls(isp) ?: add_processor(isp);

	for (role = 0; role < ISP_NODES && !result; role++)
		result = add_node(isp, role, &device->dev, first_numbers[device->id] + role);
	return result ?: media_device_register(&isp->media);
}

static int probe(struct platform_device *device)
{
	struct isp *isp = kzalloc(sizeof(*isp), GFP_KERNEL);
	int result;

	if (!isp)
		return -ENOMEM;
	isp->rows = rows_create();
	result = isp->rows ? dma_set_mask_and_coherent(&device->dev, DMA_BIT_MASK(32)) : -ENOMEM;
	if (result)
		goto free;
	vb2_dma_contig_set_max_seg_size(&device->dev, DMA_BIT_MASK(32));
	spin_lock_init(&isp->lock);
	INIT_WORK(&isp->work, isp_work);
	isp->media.dev = &device->dev;
	strscpy(isp->media.model, ISP_NAME, sizeof(isp->media.model));
	strscpy(isp->media.bus_info, "platform:" ISP_NAME, sizeof(isp->media.bus_info));
	media_device_init(&isp->media);
	isp->v4l2.mdev = &isp->media;
	isp->v4l2.release = release;
	result = v4l2_device_register(&device->dev, &isp->v4l2);
	if (result) {
		media_device_cleanup(&isp->media);
		goto free;
	}
	platform_set_drvdata(device, isp);
	result = add_parts(isp, device);
	if (!result)
		return 0;
	remove_nodes(isp);
	v4l2_device_unregister(&isp->v4l2);
	v4l2_device_put(&isp->v4l2);
	return result;
free:
	rows_release(isp->rows);
	kfree(isp);
	return result;
}

static void remove(struct platform_device *device)
{
	struct isp *isp = platform_get_drvdata(device);

	remove_nodes(isp);
	cancel_work_sync(&isp->work);
	media_device_unregister(&isp->media);
	v4l2_device_unregister(&isp->v4l2);
	v4l2_device_put(&isp->v4l2);
}

static struct platform_driver driver = {
	.probe = probe,
	.remove = remove,
	.driver = { .name = ISP_NAME },
};
static struct platform_device *devices[ISP_COUNT];

void isp_drivers_unregister(void)
{
	u32 i;

	for (i = 0; i < ISP_COUNT; i++)
		if (!IS_ERR_OR_NULL(devices[i]))
			platform_device_unregister(devices[i]);
	platform_driver_unregister(&driver);
}

int isp_drivers_register(void)
{
	int result = platform_driver_register(&driver);
	u32 i;

	if (result)
		return result;
	for (i = 0; i < ISP_COUNT && !result; i++) {
		devices[i] = platform_device_register_simple(ISP_NAME, i, NULL, 0);
		result = PTR_ERR_OR_ZERO(devices[i]);
	}
	if (result)
		isp_drivers_unregister();
	return result;
}
