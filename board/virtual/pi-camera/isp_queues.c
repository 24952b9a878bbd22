// SPDX-License-Identifier: GPL-2.0
/* The image signal processor's queues, and a frame's path through it. */

#include <media/videobuf2-dma-contig.h>
#include <media/videobuf2-vmalloc.h>

#include "faults.h"
#include "isp.h"

/* The contiguous memory that the guest's kernel reserves. */
#define MEMORY_MAX (64 << 20)

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
	/* Data that is not from our sensors stays as it was in memory, as when a processor gets noise. */
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
	/* The input comes last: its memory belongs to the sensor again. */
	for (i = ISP_NODES; i-- > 0;)
		if (frame->buffers[i])
			vb2_buffer_done(&frame->buffers[i]->vb.vb2_buf, VB2_BUF_STATE_DONE);
}

void isp_work(struct work_struct *item)
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

	if (*planes && sizes[0] < size)
		return -EINVAL;
	if (!*planes)
		sizes[0] = size;
	*planes = 1;
	/* The kernel would answer a larger request with a trace. */
	return sizes[0] > MEMORY_MAX ? -ENOMEM : 0;
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
	/* A frame in progress is finished first. */
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

int isp_init_queue(struct isp_node *node, u32 type, struct device *device)
{
	bool is_image = node->role == ISP_OUTPUT || node->role == ISP_SMALL_OUTPUT;
	struct vb2_queue *queue = &node->queue;

	queue->type = type;
	queue->io_modes = VB2_MMAP | VB2_DMABUF;
	queue->drv_priv = node;
	queue->ops = &queue_ops;
	queue->buf_struct_size = sizeof(struct camera_buffer);
	/* Frames are contiguous, as an encoder needs them; raw frames and statistics stay in the camera. */
	queue->mem_ops = is_image ? &vb2_dma_contig_memops : &vb2_vmalloc_memops;
	queue->dev = device;
	queue->timestamp_flags = V4L2_BUF_FLAG_TIMESTAMP_COPY;
	queue->lock = &node->lock;
	return vb2_queue_init(queue);
}
