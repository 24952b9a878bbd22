// SPDX-License-Identifier: GPL-2.0
/* The queues of buffers. Every queued buffer goes to the firmware at once, as on a Pi. */

#include <linux/dma-buf.h>
#include <linux/module.h>
#include <media/videobuf2-dma-contig.h>
#include <media/videobuf2-vmalloc.h>

#include "encoder.h"

MODULE_IMPORT_NS(DMA_BUF);

static struct encoder_buffer *own_of(struct vb2_buffer *buffer)
{
	return container_of(to_vb2_v4l2_buffer(buffer), struct encoder_buffer, m2m.vb);
}

/* Memory of a queue's buffers: the encoder's own count, excluding those that a camera leases. */
static u32 used_kb(struct vb2_queue *queue, unsigned int buffers, u32 size)
{
	return queue->memory == VB2_MEMORY_MMAP ? DIV_ROUND_UP(size, 1024) * buffers : 0;
}

static bool fits(struct context *ctx, struct vb2_queue *queue, unsigned int buffers, u32 size)
{
	bool input = V4L2_TYPE_IS_OUTPUT(queue->type);
	/* Only the direction matters here. */
	struct vb2_queue *other = v4l2_m2m_get_vq(ctx->fh.m2m_ctx, input ? V4L2_BUF_TYPE_VIDEO_CAPTURE :
								   V4L2_BUF_TYPE_VIDEO_OUTPUT);

	if (!faults.memory_kb || faults.memory_errno != ENOMEM)
		return true;
	return used_kb(queue, buffers, size) + used_kb(other, vb2_get_num_buffers(other),
		input ? ctx->out.size : ctx->in.size) <= faults.memory_kb;
}

static int queue_setup(struct vb2_queue *queue, unsigned int *buffers, unsigned int *planes, unsigned int sizes[],
		       struct device *devices[])
{
	struct context *ctx = vb2_get_drv_priv(queue);
	u32 size = V4L2_TYPE_IS_OUTPUT(queue->type) ? ctx->in.size : ctx->out.size;
	int result = component_create(ctx);

	if (result)
		return result;
	if (*planes)
		return (other_maker && *planes != 1) || sizes[0] < size ? -EINVAL : 0;
	if (!fits(ctx, queue, *buffers, size))
		return -ENOMEM;
	*planes = 1;
	sizes[0] = size;
	return 0;
}

static int buf_out_validate(struct vb2_buffer *buffer)
{
	struct vb2_v4l2_buffer *v4l2 = to_vb2_v4l2_buffer(buffer);

	if (v4l2->field == V4L2_FIELD_ANY)
		v4l2->field = V4L2_FIELD_NONE;
	return v4l2->field == V4L2_FIELD_NONE ? 0 : -EINVAL;
}

/* Besides vb2, two parts of the Pi's driver hold imported memory: the codec, and the one that shares it with the VideoCore. */
static void release_imported(struct encoder_buffer *own)
{
	if (!own->imported)
		return;
	dma_buf_put(own->imported);
	dma_buf_put(own->imported);
	own->imported = NULL;
}

static int hold_imported(struct vb2_buffer *buffer)
{
	struct encoder_buffer *own = own_of(buffer);
	struct dma_buf *imported;

	if (buffer->memory != VB2_MEMORY_DMABUF || other_maker)
		return 0;
	imported = dma_buf_get(buffer->planes[0].m.fd);
	if (IS_ERR(imported))
		return PTR_ERR(imported);
	get_dma_buf(imported);
	release_imported(own);
	own->imported = imported;
	return 0;
}

static int buf_prepare(struct vb2_buffer *buffer)
{
	struct context *ctx = vb2_get_drv_priv(buffer->vb2_queue);
	bool input = V4L2_TYPE_IS_OUTPUT(buffer->vb2_queue->type);
	u32 size = input ? ctx->in.size : ctx->out.size;

	if (vb2_plane_size(buffer, 0) < size)
		return -EINVAL;
	if (input && vb2_get_plane_payload(buffer, 0) - buffer->planes[0].data_offset < size)
		vb2_set_plane_payload(buffer, 0, size + buffer->planes[0].data_offset);
	return hold_imported(buffer);
}

static void buf_cleanup(struct vb2_buffer *buffer)
{
	release_imported(own_of(buffer));
}

static void buf_queue(struct vb2_buffer *buffer)
{
	firmware_take(vb2_get_drv_priv(buffer->vb2_queue), to_vb2_v4l2_buffer(buffer),
		      V4L2_TYPE_IS_OUTPUT(buffer->vb2_queue->type));
}

static int start_streaming(struct vb2_queue *queue, unsigned int count)
{
	struct context *ctx = vb2_get_drv_priv(queue);
	bool is_input = V4L2_TYPE_IS_OUTPUT(queue->type);
	int result = component_start(ctx, is_input);

	if (result)
		firmware_return_all(ctx, is_input, VB2_BUF_STATE_QUEUED);
	return result;
}

static void stop_streaming(struct vb2_queue *queue)
{
	component_stop(vb2_get_drv_priv(queue), V4L2_TYPE_IS_OUTPUT(queue->type));
}

static const struct vb2_ops queue_ops = {
	.queue_setup = queue_setup,
	.buf_out_validate = buf_out_validate,
	.buf_prepare = buf_prepare,
	.buf_queue = buf_queue,
	.buf_cleanup = buf_cleanup,
	.start_streaming = start_streaming,
	.stop_streaming = stop_streaming,
	.wait_prepare = vb2_ops_wait_prepare,
	.wait_finish = vb2_ops_wait_finish,
};

int init_queues(void *private, struct vb2_queue *input, struct vb2_queue *output)
{
	struct context *ctx = private;
	struct vb2_queue *queues[] = { input, output };
	int i, result;

	input->type = other_maker ? V4L2_BUF_TYPE_VIDEO_OUTPUT : V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
	output->type = other_maker ? V4L2_BUF_TYPE_VIDEO_CAPTURE : V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
	for (i = 0; i < 2; i++) {
		struct vb2_queue *queue = queues[i];

		queue->io_modes = VB2_MMAP | VB2_DMABUF;
		queue->drv_priv = ctx;
		queue->buf_struct_size = sizeof(struct encoder_buffer);
		queue->ops = &queue_ops;
		/* Another maker's encoder has its own IOMMU, or copies. */
		queue->mem_ops = any_memory || other_maker ? &vb2_vmalloc_memops : &vb2_dma_contig_memops;
		queue->dev = ctx->encoder->v4l2.dev;
		queue->timestamp_flags = V4L2_BUF_FLAG_TIMESTAMP_COPY;
		queue->lock = &ctx->encoder->lock;
		result = vb2_queue_init(queue);
		if (result)
			return result;
	}
	return 0;
}

int request_buffers(struct file *file, void *private, struct v4l2_requestbuffers *request)
{
	if (request->count)
		hang_while(&faults.hang_buffers);
	if (faults.fail_buffers && request->count)
		return -ENOMEM;
	if (request->count && encodes(context_of(file)))
		atomic_inc(&openings);
	return v4l2_m2m_ioctl_reqbufs(file, private, request);
}
