// SPDX-License-Identifier: GPL-2.0
/* The image signal processor: its nodes, their queues, and a frame's way through it. */

#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <media/v4l2-ioctl.h>
#include <media/videobuf2-dma-contig.h>
#include <media/videobuf2-vmalloc.h>

#include "faults.h"
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

/* Frames. */

/* The buffers of one frame, for each node that streams. */
struct frame {
	struct camera_buffer *buffers[ISP_NODES];
	struct isp_settings settings;
};

static bool is_withheld(const struct isp_node *node)
{
	return is_statistics(node) && faults.no_statistics;
}

static bool take_frame(struct isp *isp, struct frame *frame)
{
	bool is_ready = !list_empty(&isp->nodes[ISP_INPUT].buffers);
	u32 i;

	lockdep_assert_held(&isp->lock);
	for (i = 0; i < ISP_NODES; i++) {
		struct isp_node *node = &isp->nodes[i];

		if (vb2_start_streaming_called(&node->queue) && !is_withheld(node) && list_empty(&node->buffers))
			is_ready = false;
	}
	if (!is_ready)
		return false;
	frame->settings = isp->settings;
	for (i = 0; i < ISP_NODES; i++) {
		struct isp_node *node = &isp->nodes[i];

		frame->buffers[i] = is_withheld(node) ? NULL :
			list_first_entry_or_null(&node->buffers, struct camera_buffer, list);
		if (frame->buffers[i])
			list_del(&frame->buffers[i]->list);
	}
	return true;
}

static bool read_record(struct camera_buffer *input, struct frame_record *record)
{
	const void *memory = vb2_plane_vaddr(&input->vb.vb2_buf, 0);

	if (!memory)
		return false;
	memcpy(record, memory, sizeof(*record));
	return record->magic == FRAME_MAGIC;
}

static void fill(struct isp *isp, struct isp_node *node, const struct frame_record *record,
		 const struct isp_settings *settings, struct camera_buffer *buffer)
{
	void *memory = vb2_plane_vaddr(&buffer->vb.vb2_buf, 0);

	if (!memory)
		return;
	if (is_statistics(node))
		statistics_fill(record, memory);
	else
		draw(isp->rows, record, settings, node, memory);
}

static void process(struct isp *isp, struct frame *frame)
{
	struct camera_buffer *input = frame->buffers[ISP_INPUT];
	struct frame_record record;
	/* What no sensor of ours has sent comes out as it was in memory, as from a processor that is given noise. */
	bool is_known = read_record(input, &record);
	u32 i;

	for (i = 0; i < ISP_NODES; i++) {
		struct isp_node *node = &isp->nodes[i];
		struct camera_buffer *buffer = frame->buffers[i];

		if (!buffer)
			continue;
		if (i != ISP_INPUT) {
			if (is_known)
				fill(isp, node, &record, &frame->settings, buffer);
			vb2_set_plane_payload(&buffer->vb.vb2_buf, 0, isp_node_size(node));
			buffer->vb.vb2_buf.timestamp = input->vb.vb2_buf.timestamp;
		}
		buffer->vb.sequence = node->sequence++;
		buffer->vb.field = V4L2_FIELD_NONE;
	}
	/* The input last: its memory is the sensor's again. */
	for (i = ISP_NODES; i-- > 0;)
		if (frame->buffers[i])
			vb2_buffer_done(&frame->buffers[i]->vb.vb2_buf, VB2_BUF_STATE_DONE);
}

static void work(struct work_struct *item)
{
	struct isp *isp = container_of(item, struct isp, work);
	struct frame frame;
	bool is_ready;

	for (;;) {
		spin_lock(&isp->lock);
		is_ready = take_frame(isp, &frame);
		spin_unlock(&isp->lock);
		if (!is_ready)
			return;
		process(isp, &frame);
	}
}

/* Queues. */

static struct isp_node *node_of(struct vb2_queue *queue)
{
	return vb2_get_drv_priv(queue);
}

static int queue_setup(struct vb2_queue *queue, unsigned int *buffers, unsigned int *planes, unsigned int sizes[],
		       struct device *devices[])
{
	u32 size = isp_node_size(node_of(queue));

	if (*planes)
		return sizes[0] < size ? -EINVAL : 0;
	*planes = 1;
	sizes[0] = size;
	return 0;
}

static int buf_out_validate(struct vb2_buffer *buffer)
{
	to_vb2_v4l2_buffer(buffer)->field = V4L2_FIELD_NONE;
	return 0;
}

static int buf_prepare(struct vb2_buffer *buffer)
{
	u32 size = isp_node_size(node_of(buffer->vb2_queue));

	if (vb2_plane_size(buffer, 0) < size)
		return -EINVAL;
	vb2_set_plane_payload(buffer, 0, size);
	return 0;
}

static void buf_queue(struct vb2_buffer *buffer)
{
	struct isp_node *node = node_of(buffer->vb2_queue);

	spin_lock(&node->isp->lock);
	list_add_tail(&camera_buffer_of(buffer)->list, &node->buffers);
	spin_unlock(&node->isp->lock);
	schedule_work(&node->isp->work);
}

static int start_streaming(struct vb2_queue *queue, unsigned int count)
{
	node_of(queue)->sequence = 0;
	return 0;
}

static void stop_streaming(struct vb2_queue *queue)
{
	struct isp_node *node = node_of(queue);
	struct camera_buffer *buffer, *next;
	LIST_HEAD(left);

	spin_lock(&node->isp->lock);
	list_splice_init(&node->buffers, &left);
	spin_unlock(&node->isp->lock);
	/* A frame that is under way ends first. */
	flush_work(&node->isp->work);
	list_for_each_entry_safe(buffer, next, &left, list)
		vb2_buffer_done(&buffer->vb.vb2_buf, VB2_BUF_STATE_ERROR);
}

static const struct vb2_ops queue_ops = {
	.queue_setup = queue_setup,
	.buf_out_validate = buf_out_validate,
	.buf_prepare = buf_prepare,
	.buf_queue = buf_queue,
	.start_streaming = start_streaming,
	.stop_streaming = stop_streaming,
	.wait_prepare = vb2_ops_wait_prepare,
	.wait_finish = vb2_ops_wait_finish,
};

static int init_queue(struct isp_node *node, struct device *device)
{
	bool is_picture = node->role == ISP_OUTPUT || node->role == ISP_SMALL_OUTPUT;
	struct vb2_queue *queue = &node->queue;

	queue->type = roles[node->role].type;
	queue->io_modes = VB2_MMAP | VB2_DMABUF;
	queue->drv_priv = node;
	queue->ops = &queue_ops;
	queue->buf_struct_size = sizeof(struct camera_buffer);
	/* Pictures are contiguous, as an encoder needs them; raw frames and statistics stay in the camera. */
	queue->mem_ops = is_picture ? &vb2_dma_contig_memops : &vb2_vmalloc_memops;
	queue->dev = device;
	queue->timestamp_flags = V4L2_BUF_FLAG_TIMESTAMP_COPY;
	queue->lock = &node->lock;
	return vb2_queue_init(queue);
}

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
	result = init_queue(node, device);
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

/* When the last program that had it open has gone. */
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
	INIT_WORK(&isp->work, work);
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
