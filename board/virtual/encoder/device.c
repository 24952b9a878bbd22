// SPDX-License-Identifier: GPL-2.0
/*
 * A V4L2 stateful H.264 encoder with the interface of the Raspberry Pi's
 * (bcm2835-codec), and with the Pi's faults as module parameters.
 */

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/sched/signal.h>
#include <linux/videodev2.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <media/v4l2-ctrls.h>
#include <media/v4l2-device.h>
#include <media/v4l2-event.h>
#include <media/v4l2-ioctl.h>
#include <media/v4l2-mem2mem.h>
#include <media/videobuf2-vmalloc.h>

#include "bitstream.h"

#define DRIVER_NAME "bcm2835-codec"
#define NODE_NAME "bcm2835-codec-encode"
#define NODE_NUMBER 11
#define OTHER_NAME "other-h264-encoder"

#define MIN_SIDE 32
#define MAX_SIDE 1920
#define SMALL_BUFFER (512 << 10)
#define LARGE_BUFFER (768 << 10)

/* Faults. Each counts pictures since the encoder was opened, and can be changed at any time. */
#define FAULT(name, text)                       \
	static uint name;                       \
	module_param(name, uint, 0644);         \
	MODULE_PARM_DESC(name, text)

FAULT(skip_every, "skip every n-th picture: its input comes back, no output, no word");
FAULT(skip_pattern, "bits, lowest first, over skip_period pictures: those that are skipped");
FAULT(skip_period, "how many bits of skip_pattern count, up to 32");
FAULT(error_every, "every n-th output is marked as an error and holds nothing");
FAULT(headers_every, "every n-th picture is replaced by SPS and PPS alone");
FAULT(buffer_bytes, "the size of output buffers; a picture that is larger comes in several");
FAULT(stall_after, "take inputs and give nothing, not even them, from the n-th picture on");
FAULT(swallow_after, "give inputs back and nothing else, from the n-th picture on");
FAULT(stall_until_key, "a stall ends when a key frame is asked for");
FAULT(stop_ms, "how long stopping either queue takes after a stall");
FAULT(endless_drain, "a drain never ends");
FAULT(busy_format, "setting a format fails with EBUSY");
FAULT(fail_buffers, "asking for buffers fails with ENOMEM");
FAULT(memory_kb, "what buffers of one use may take in all; more fails with ENOMEM");
FAULT(hang_open, "opening the node does not return while this is set");
FAULT(hang_buffers, "asking for buffers does not return while this is set");
FAULT(hang_release, "closing the node does not return while this is set");
FAULT(slow_bitrate, "a change of bit rate while streaming takes 3 s and fails with ETIMEDOUT");
FAULT(lossless, "copy the samples (I_PCM)");

/* As a firmware that does not answer: nothing but the end of the process, or the fault's, brings the caller back. */
static void hang_while(const uint *fault)
{
	while (READ_ONCE(*fault) && !fatal_signal_pending(current))
		msleep(50);
}

static int stall_opens = -1;
module_param(stall_opens, int, 0644);
MODULE_PARM_DESC(stall_opens, "in how many uses of the encoder stall_after and swallow_after take effect; -1: each");

/* Another maker's encoder, as far from the Pi's as the interface for such encoders allows: told at loading. */
static bool other_maker;
module_param(other_maker, bool, 0444);
MODULE_PARM_DESC(other_maker, "single-planar, whole macroblocks with a crop, SPS and PPS in a buffer of their own at "
		 "every key frame, few controls, another name and number");

/* What tests ask about buffers: those that user space has given and not got back. */
static atomic_t opened = ATOMIC_INIT(0);
static int get_opened(char *buffer, const struct kernel_param *parameter)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&opened));
}
static const struct kernel_param_ops opened_ops = { .get = get_opened };
module_param_cb(opened, &opened_ops, NULL, 0444);
MODULE_PARM_DESC(opened, "how many times buffers were asked for since the module was loaded");

struct pixel_format {
	u32 fourcc;
	u32 alignment;
	bool interleaved;
	bool swapped;
};

static const struct pixel_format raw_formats[] = {
	{ V4L2_PIX_FMT_YUV420, 64, false, false },
	{ V4L2_PIX_FMT_YVU420, 64, false, true },
	{ V4L2_PIX_FMT_NV12, 32, true, false },
	{ V4L2_PIX_FMT_NV21, 32, true, true },
};

struct encoder {
	struct v4l2_device v4l2;
	struct video_device node;
	struct v4l2_m2m_dev *m2m;
	struct mutex lock;
};

struct use {
	struct v4l2_fh fh;
	struct encoder *encoder;
	struct v4l2_ctrl_handler controls;
	struct work_struct work;
	/* Inputs that a stalled encoder holds, until streaming stops. */
	struct list_head held;
	spinlock_t held_lock;

	const struct pixel_format *format;
	u32 width, height, stride;
	u32 crop_width, crop_height;
	u32 output_size;
	u32 colorspace, xfer_func, ycbcr_enc, quantization;
	struct v4l2_fract interval;

	struct h264_coder coder;
	u8 *assembly;
	size_t assembly_size;
	u32 input_sequence, output_sequence;
	u32 pictures, since_key;
	bool headers_due, key_wanted, stalled, has_stalled;
};

static const struct v4l2_event end_of_stream = { .type = V4L2_EVENT_EOS };

static struct use *use_of(struct file *file)
{
	return container_of(file->private_data, struct use, fh);
}

static s32 control(struct use *use, u32 id)
{
	return v4l2_ctrl_g_ctrl(v4l2_ctrl_find(&use->controls, id));
}

static bool is_due(uint every, u32 number)
{
	return every && number % every == 0;
}

static u32 frames_per_second(const struct use *use)
{
	return max(1u, use->interval.denominator / max(1u, use->interval.numerator));
}

/* The encoder itself: one picture at a time, on a work queue. */

static void picture_of(const struct use *use, const u8 *base, struct h264_picture *picture)
{
	u32 luma = use->stride * use->height;
	const u8 *second = base + luma;
	const u8 *third;

	picture->luma = base;
	picture->luma_stride = use->stride;
	picture->chroma_step = use->format->interleaved ? 2 : 1;
	picture->chroma_stride = use->format->interleaved ? use->stride : use->stride / 2;
	third = use->format->interleaved ? second + 1 : second + luma / 4;
	picture->cb = use->format->swapped ? third : second;
	picture->cr = use->format->swapped ? second : third;
}

static bool is_skipped(u32 number)
{
	uint period = min(skip_period, 32u);

	return is_due(skip_every, number) || (period && skip_pattern >> (number - 1) % period & 1);
}

/* A stall counts for this use once: what follows is a matter of stall_opens. */
static bool begins_stall(struct use *use, uint after)
{
	if (!after || use->pictures < after || use->has_stalled)
		return false;
	use->has_stalled = true;
	if (!stall_opens)
		return false;
	if (stall_opens > 0)
		stall_opens--;
	return true;
}

static void return_input(struct use *use)
{
	struct vb2_v4l2_buffer *input = v4l2_m2m_src_buf_remove(use->fh.m2m_ctx);

	input->sequence = use->input_sequence++;
	v4l2_m2m_buf_done(input, VB2_BUF_STATE_DONE);
}

static void hold_input(struct use *use)
{
	struct vb2_v4l2_buffer *input = v4l2_m2m_src_buf_remove(use->fh.m2m_ctx);
	struct v4l2_m2m_buffer *entry = container_of(input, struct v4l2_m2m_buffer, vb);

	spin_lock(&use->held_lock);
	list_add_tail(&entry->list, &use->held);
	spin_unlock(&use->held_lock);
}

static bool takes_key(struct use *use)
{
	u32 period = control(use, other_maker ? V4L2_CID_MPEG_VIDEO_GOP_SIZE : V4L2_CID_MPEG_VIDEO_H264_I_PERIOD);

	if (!use->key_wanted && !lossless && use->since_key && (!period || use->since_key < period))
		return false;
	use->key_wanted = false;
	use->since_key = 0;
	return true;
}

/* Returns the number of bytes, or an error; the first header_bytes of them are SPS and PPS. */
static int encode(struct use *use, struct vb2_v4l2_buffer *input, u8 *out, size_t size, int *header_bytes)
{
	const u8 *base = vb2_plane_vaddr(&input->vb2_buf, 0);
	struct h264_picture picture;
	bool key = takes_key(use);
	size_t used = 0;
	int count;

	picture_of(use, base + input->vb2_buf.planes[0].data_offset, &picture);
	if (use->headers_due || (key && (other_maker || control(use, V4L2_CID_MPEG_VIDEO_REPEAT_SEQ_HEADER)))) {
		count = h264_write_headers(&use->coder, out, size);
		if (count < 0)
			return count;
		used += count;
		*header_bytes = count;
		use->headers_due = false;
	}
	count = h264_write_picture(&use->coder, &picture, key, lossless, out + used, size - used);
	if (count < 0)
		return count;
	used += count;
	use->since_key++;
	if (!lossless)
		used += h264_fill(&use->coder, control(use, V4L2_CID_MPEG_VIDEO_BITRATE), used, out + used, size - used);
	return used;
}

static void finish_output(struct use *use, struct vb2_v4l2_buffer *input, struct vb2_v4l2_buffer *output,
			  int count, bool key)
{
	output->sequence = use->output_sequence++;
	output->field = V4L2_FIELD_NONE;
	v4l2_m2m_buf_copy_metadata(input, output, false);
	output->flags &= ~(V4L2_BUF_FLAG_LAST | V4L2_BUF_FLAG_KEYFRAME | V4L2_BUF_FLAG_PFRAME);
	output->flags |= key ? V4L2_BUF_FLAG_KEYFRAME : V4L2_BUF_FLAG_PFRAME;
	vb2_set_plane_payload(&output->vb2_buf, 0, max(count, 0));
}

/* Gives a picture away, in as many buffers as it needs. All but the last one are full. */
static void deliver(struct use *use, struct vb2_v4l2_buffer *input, struct vb2_v4l2_buffer *output, int count,
		    bool key, enum vb2_buffer_state state, bool last)
{
	struct v4l2_m2m_ctx *m2m = use->fh.m2m_ctx;
	int at = 0, size = vb2_plane_size(&output->vb2_buf, 0);

	if (count > size * (int)(1 + v4l2_m2m_num_dst_bufs_ready(m2m))) {
		state = VB2_BUF_STATE_ERROR;
		count = 0;
	}
	while (count - at > size) {
		memcpy(vb2_plane_vaddr(&output->vb2_buf, 0), use->assembly + at, size);
		finish_output(use, input, output, size, key);
		v4l2_m2m_buf_done(output, state);
		at += size;
		output = v4l2_m2m_dst_buf_remove(m2m);
	}
	memcpy(vb2_plane_vaddr(&output->vb2_buf, 0), use->assembly + at, count - at);
	finish_output(use, input, output, count - at, key);
	if (last) {
		output->flags |= V4L2_BUF_FLAG_LAST;
		v4l2_m2m_mark_stopped(m2m);
		v4l2_event_queue_fh(&use->fh, &end_of_stream);
	}
	v4l2_m2m_buf_done(output, state);
}

/* Gives the headers at the begin of a picture away. Returns the buffer for the picture itself. */
static struct vb2_v4l2_buffer *deliver_headers(struct use *use, struct vb2_v4l2_buffer *input,
					       struct vb2_v4l2_buffer *output, int bytes, int *count)
{
	memcpy(vb2_plane_vaddr(&output->vb2_buf, 0), use->assembly, bytes);
	finish_output(use, input, output, bytes, false);
	v4l2_m2m_buf_done(output, VB2_BUF_STATE_DONE);
	*count -= bytes;
	memmove(use->assembly, use->assembly + bytes, *count);
	return v4l2_m2m_dst_buf_remove(use->fh.m2m_ctx);
}

static void encode_next(struct use *use)
{
	struct v4l2_m2m_ctx *m2m = use->fh.m2m_ctx;
	struct vb2_v4l2_buffer *input = v4l2_m2m_next_src_buf(m2m), *output;
	bool last = v4l2_m2m_is_last_draining_src_buf(m2m, input) && !endless_drain;
	enum vb2_buffer_state state = VB2_BUF_STATE_DONE;
	int count, header_bytes = 0;
	bool key;

	use->pictures++;
	if (begins_stall(use, stall_after) || begins_stall(use, swallow_after))
		use->stalled = true;
	if (use->stalled && stall_after) {
		hold_input(use);
		return;
	}
	if ((use->stalled || is_skipped(use->pictures)) && !last) {
		return_input(use);
		return;
	}
	output = v4l2_m2m_dst_buf_remove(m2m);
	if (use->stalled || is_skipped(use->pictures)) {
		count = 0;
		key = false;
	} else if (is_due(headers_every, use->pictures)) {
		count = h264_write_headers(&use->coder, use->assembly, use->assembly_size);
		key = false;
	} else {
		count = encode(use, input, use->assembly, use->assembly_size, &header_bytes);
		key = use->since_key == 1;
	}
	if (count < 0 || is_due(error_every, use->pictures)) {
		state = VB2_BUF_STATE_ERROR;
		count = 0;
	}
	if (other_maker && header_bytes && count > header_bytes && v4l2_m2m_num_dst_bufs_ready(m2m))
		output = deliver_headers(use, input, output, header_bytes, &count);
	deliver(use, input, output, count, key, state, last);
	return_input(use);
}

static void work(struct work_struct *item)
{
	struct use *use = container_of(item, struct use, work);

	encode_next(use);
	v4l2_m2m_job_finish(use->encoder->m2m, use->fh.m2m_ctx);
}

static void device_run(void *context)
{
	struct use *use = context;

	schedule_work(&use->work);
}

static const struct v4l2_m2m_ops m2m_ops = { .device_run = device_run };

/* Buffers. */

static u32 raw_size(const struct use *use)
{
	return use->stride * use->height * 3 / 2;
}

/* Memory that a queue's buffers take: the encoder's own count, not those that a camera lends. */
static u32 used_kb(struct vb2_queue *queue, unsigned int buffers, u32 size)
{
	return queue->memory == VB2_MEMORY_MMAP ? DIV_ROUND_UP(size, 1024) * buffers : 0;
}

static bool fits(struct use *use, struct vb2_queue *queue, unsigned int buffers, u32 size)
{
	bool input = V4L2_TYPE_IS_OUTPUT(queue->type);
	/* Only the direction counts here. */
	struct vb2_queue *other = v4l2_m2m_get_vq(use->fh.m2m_ctx, input ? V4L2_BUF_TYPE_VIDEO_CAPTURE :
								   V4L2_BUF_TYPE_VIDEO_OUTPUT);

	return !memory_kb || used_kb(queue, buffers, size) + used_kb(other, vb2_get_num_buffers(other),
		input ? use->output_size : raw_size(use)) <= memory_kb;
}

static int queue_setup(struct vb2_queue *queue, unsigned int *buffers, unsigned int *planes, unsigned int sizes[],
		       struct device *devices[])
{
	struct use *use = vb2_get_drv_priv(queue);
	u32 size = V4L2_TYPE_IS_OUTPUT(queue->type) ? raw_size(use) : use->output_size;

	if (*planes)
		return *planes != 1 || sizes[0] < size ? -EINVAL : 0;
	if (!fits(use, queue, *buffers, size))
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

static int buf_prepare(struct vb2_buffer *buffer)
{
	struct use *use = vb2_get_drv_priv(buffer->vb2_queue);
	bool input = V4L2_TYPE_IS_OUTPUT(buffer->vb2_queue->type);

	if (vb2_plane_size(buffer, 0) < (input ? raw_size(use) : use->output_size))
		return -EINVAL;
	if (input && vb2_get_plane_payload(buffer, 0) - buffer->planes[0].data_offset < raw_size(use))
		vb2_set_plane_payload(buffer, 0, raw_size(use) + buffer->planes[0].data_offset);
	return 0;
}

static void buf_queue(struct vb2_buffer *buffer)
{
	struct vb2_v4l2_buffer *v4l2 = to_vb2_v4l2_buffer(buffer);
	struct use *use = vb2_get_drv_priv(buffer->vb2_queue);

	if (V4L2_TYPE_IS_CAPTURE(buffer->vb2_queue->type) && vb2_is_streaming(buffer->vb2_queue) &&
	    v4l2_m2m_dst_buf_is_last(use->fh.m2m_ctx)) {
		vb2_set_plane_payload(buffer, 0, 0);
		v4l2->field = V4L2_FIELD_NONE;
		v4l2->sequence = use->output_sequence++;
		v4l2_m2m_last_buffer_done(use->fh.m2m_ctx, v4l2);
		v4l2_event_queue_fh(&use->fh, &end_of_stream);
		return;
	}
	v4l2_m2m_buf_queue(use->fh.m2m_ctx, v4l2);
}

static void return_all(struct use *use, struct vb2_queue *queue, enum vb2_buffer_state state)
{
	bool input = V4L2_TYPE_IS_OUTPUT(queue->type);
	struct v4l2_m2m_buffer *entry, *next;
	struct vb2_v4l2_buffer *buffer;

	while ((buffer = input ? v4l2_m2m_src_buf_remove(use->fh.m2m_ctx) : v4l2_m2m_dst_buf_remove(use->fh.m2m_ctx)))
		v4l2_m2m_buf_done(buffer, state);
	if (!input)
		return;
	list_for_each_entry_safe(entry, next, &use->held, list) {
		list_del(&entry->list);
		v4l2_m2m_buf_done(&entry->vb, state);
	}
}

static const struct {
	u8 idc;
	u32 macroblocks, rate;
} levels[] = {
	[V4L2_MPEG_VIDEO_H264_LEVEL_1_0] = { 10, 99, 1485 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_1B] = { 11, 99, 1485 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_1_1] = { 11, 396, 3000 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_1_2] = { 12, 396, 6000 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_1_3] = { 13, 396, 11880 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_2_0] = { 20, 396, 11880 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_2_1] = { 21, 792, 19800 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_2_2] = { 22, 1620, 20250 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_3_0] = { 30, 1620, 40500 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_3_1] = { 31, 3600, 108000 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_3_2] = { 32, 5120, 216000 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_4_0] = { 40, 8192, 245760 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_4_1] = { 41, 8192, 245760 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_4_2] = { 42, 8704, 522240 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_5_0] = { 50, 22080, 589824 },
	[V4L2_MPEG_VIDEO_H264_LEVEL_5_1] = { 51, 36864, 983040 },
};

static int start_coder(struct use *use)
{
	u32 level = control(use, V4L2_CID_MPEG_VIDEO_H264_LEVEL);
	u32 profile = control(use, V4L2_CID_MPEG_VIDEO_H264_PROFILE);
	u32 macroblocks = DIV_ROUND_UP(use->crop_width, 16) * DIV_ROUND_UP(use->crop_height, 16);
	struct h264_sequence sequence = {
		.width = use->crop_width,
		.height = use->crop_height,
		.constrained = profile == V4L2_MPEG_VIDEO_H264_PROFILE_CONSTRAINED_BASELINE,
		.level = levels[level].idc,
		.frames_per_second = frames_per_second(use),
	};

	/* The Pi's encoder does not start either when the level is too low for the picture. */
	if (macroblocks > levels[level].macroblocks ||
	    macroblocks * sequence.frames_per_second > levels[level].rate)
		return -EINVAL;
	switch (profile) {
	case V4L2_MPEG_VIDEO_H264_PROFILE_MAIN:
		sequence.profile = 77;
		break;
	case V4L2_MPEG_VIDEO_H264_PROFILE_HIGH:
		sequence.profile = 100;
		break;
	default:
		sequence.profile = 66;
	}
	use->pictures = 0;
	use->since_key = 0;
	use->output_sequence = 0;
	use->headers_due = true;
	use->stalled = false;
	use->has_stalled = false;
	/* A copied macroblock has 384 bytes; emulation prevention adds half at the most. */
	use->assembly_size = macroblocks * 600 + 4096;
	use->assembly = vmalloc(use->assembly_size);
	if (!use->assembly)
		return -ENOMEM;
	return h264_coder_init(&use->coder, &sequence);
}

static int start_streaming(struct vb2_queue *queue, unsigned int count)
{
	struct use *use = vb2_get_drv_priv(queue);
	int result = 0;

	if (V4L2_TYPE_IS_OUTPUT(queue->type))
		use->input_sequence = 0;
	else
		result = start_coder(use);
	if (result) {
		vfree(use->assembly);
		use->assembly = NULL;
		return_all(use, queue, VB2_BUF_STATE_QUEUED);
		return result;
	}
	v4l2_m2m_update_start_streaming_state(use->fh.m2m_ctx, queue);
	return 0;
}

static void stop_streaming(struct vb2_queue *queue)
{
	struct use *use = vb2_get_drv_priv(queue);

	/* The Pi's driver waits for what its firmware has, with the lock held. */
	if (use->stalled && stop_ms)
		msleep(stop_ms);
	v4l2_m2m_update_stop_streaming_state(use->fh.m2m_ctx, queue);
	if (V4L2_TYPE_IS_OUTPUT(queue->type) && v4l2_m2m_has_stopped(use->fh.m2m_ctx))
		v4l2_event_queue_fh(&use->fh, &end_of_stream);
	return_all(use, queue, VB2_BUF_STATE_ERROR);
	if (V4L2_TYPE_IS_CAPTURE(queue->type)) {
		h264_coder_release(&use->coder);
		vfree(use->assembly);
		use->assembly = NULL;
	}
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

static int queue_init(void *context, struct vb2_queue *input, struct vb2_queue *output)
{
	struct use *use = context;
	struct vb2_queue *queues[] = { input, output };
	int i, result;

	input->type = other_maker ? V4L2_BUF_TYPE_VIDEO_OUTPUT : V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE;
	output->type = other_maker ? V4L2_BUF_TYPE_VIDEO_CAPTURE : V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
	for (i = 0; i < 2; i++) {
		struct vb2_queue *queue = queues[i];

		queue->io_modes = VB2_MMAP | VB2_DMABUF;
		queue->drv_priv = use;
		queue->buf_struct_size = sizeof(struct v4l2_m2m_buffer);
		queue->ops = &queue_ops;
		queue->mem_ops = &vb2_vmalloc_memops;
		queue->timestamp_flags = V4L2_BUF_FLAG_TIMESTAMP_COPY;
		queue->lock = &use->encoder->lock;
		result = vb2_queue_init(queue);
		if (result)
			return result;
	}
	return 0;
}

/* Formats. */

static const struct pixel_format *format_of(u32 fourcc)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(raw_formats); i++)
		if (raw_formats[i].fourcc == fourcc)
			return &raw_formats[i];
	return NULL;
}

static int querycap(struct file *file, void *context, struct v4l2_capability *capability)
{
	strscpy(capability->driver, DRIVER_NAME, sizeof(capability->driver));
	strscpy(capability->card, other_maker ? OTHER_NAME : NODE_NAME, sizeof(capability->card));
	strscpy(capability->bus_info, "platform:" DRIVER_NAME, sizeof(capability->bus_info));
	return 0;
}

static int enum_raw(struct file *file, void *context, struct v4l2_fmtdesc *format)
{
	if (format->index >= ARRAY_SIZE(raw_formats))
		return -EINVAL;
	format->pixelformat = raw_formats[format->index].fourcc;
	return 0;
}

static int enum_coded(struct file *file, void *context, struct v4l2_fmtdesc *format)
{
	if (format->index)
		return -EINVAL;
	format->pixelformat = V4L2_PIX_FMT_H264;
	return 0;
}

static int enum_framesizes(struct file *file, void *context, struct v4l2_frmsizeenum *sizes)
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

static int g_fmt(struct file *file, void *context, struct v4l2_format *format)
{
	struct use *use = use_of(file);
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;
	bool input = V4L2_TYPE_IS_OUTPUT(format->type);

	pixels->width = input ? use->width : use->crop_width;
	pixels->height = input ? use->height : use->crop_height;
	pixels->field = V4L2_FIELD_NONE;
	pixels->num_planes = 1;
	pixels->pixelformat = input ? use->format->fourcc : V4L2_PIX_FMT_H264;
	pixels->plane_fmt[0].bytesperline = input ? use->stride : 0;
	pixels->plane_fmt[0].sizeimage = input ? raw_size(use) : use->output_size;
	pixels->colorspace = use->colorspace;
	pixels->xfer_func = use->xfer_func;
	pixels->ycbcr_enc = use->ycbcr_enc;
	pixels->quantization = use->quantization;
	return 0;
}

static int try_raw(struct file *file, void *context, struct v4l2_format *format)
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

static int try_coded(struct file *file, void *context, struct v4l2_format *format)
{
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;
	u32 least;

	pixels->pixelformat = V4L2_PIX_FMT_H264;
	clamp_size(pixels);
	least = pixels->width * pixels->height > 1280 * 720 ? LARGE_BUFFER : SMALL_BUFFER;
	pixels->plane_fmt[0].bytesperline = 0;
	pixels->plane_fmt[0].sizeimage = clamp(pixels->plane_fmt[0].sizeimage, least, 16u << 20);
	if (buffer_bytes)
		pixels->plane_fmt[0].sizeimage = max(buffer_bytes, 512u);
	return 0;
}

static bool refuses_format(struct use *use, u32 type)
{
	return busy_format || vb2_is_busy(v4l2_m2m_get_vq(use->fh.m2m_ctx, type));
}

static int s_fmt_raw(struct file *file, void *context, struct v4l2_format *format)
{
	struct use *use = use_of(file);
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;

	try_raw(file, context, format);
	if (refuses_format(use, format->type))
		return -EBUSY;
	use->format = format_of(pixels->pixelformat);
	use->width = pixels->width;
	use->height = pixels->height;
	use->stride = pixels->plane_fmt[0].bytesperline;
	use->crop_width = use->width;
	use->crop_height = use->height;
	use->colorspace = pixels->colorspace;
	use->xfer_func = pixels->xfer_func;
	use->ycbcr_enc = pixels->ycbcr_enc;
	use->quantization = pixels->quantization;
	return 0;
}

static int s_fmt_coded(struct file *file, void *context, struct v4l2_format *format)
{
	struct use *use = use_of(file);
	struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;

	try_coded(file, context, format);
	if (refuses_format(use, format->type))
		return -EBUSY;
	use->output_size = pixels->plane_fmt[0].sizeimage;
	/* As on the Pi, this format's colours count too, even when they say nothing. */
	use->colorspace = pixels->colorspace;
	use->xfer_func = pixels->xfer_func;
	use->ycbcr_enc = pixels->ycbcr_enc;
	use->quantization = pixels->quantization;
	return g_fmt(file, context, format);
}

static int g_selection(struct file *file, void *context, struct v4l2_selection *selection)
{
	struct use *use = use_of(file);

	if (selection->type != V4L2_BUF_TYPE_VIDEO_OUTPUT)
		return -EINVAL;
	selection->r = (struct v4l2_rect){ 0, 0, use->width, use->height };
	switch (selection->target) {
	case V4L2_SEL_TGT_CROP:
		selection->r.width = use->crop_width;
		selection->r.height = use->crop_height;
		return 0;
	case V4L2_SEL_TGT_CROP_DEFAULT:
	case V4L2_SEL_TGT_CROP_BOUNDS:
		return 0;
	default:
		return -EINVAL;
	}
}

static int s_selection(struct file *file, void *context, struct v4l2_selection *selection)
{
	struct use *use = use_of(file);

	if (selection->type != V4L2_BUF_TYPE_VIDEO_OUTPUT || selection->target != V4L2_SEL_TGT_CROP)
		return -EINVAL;
	selection->r.left = 0;
	selection->r.top = 0;
	selection->r.width = clamp(round_up(selection->r.width, 2), min(MIN_SIDE, use->width), use->width);
	selection->r.height = clamp(round_up(selection->r.height, 2), min(MIN_SIDE, use->height), use->height);
	use->crop_width = selection->r.width;
	use->crop_height = selection->r.height;
	return 0;
}

static int g_parm(struct file *file, void *context, struct v4l2_streamparm *parameters)
{
	if (!V4L2_TYPE_IS_OUTPUT(parameters->type))
		return -EINVAL;
	parameters->parm.output.capability = V4L2_CAP_TIMEPERFRAME;
	parameters->parm.output.timeperframe = use_of(file)->interval;
	return 0;
}

static int s_parm(struct file *file, void *context, struct v4l2_streamparm *parameters)
{
	struct use *use = use_of(file);
	struct v4l2_fract *interval = &parameters->parm.output.timeperframe;

	if (!V4L2_TYPE_IS_OUTPUT(parameters->type))
		return -EINVAL;
	if (!interval->numerator || !interval->denominator)
		*interval = (struct v4l2_fract){ 1, 30 };
	use->interval = *interval;
	use->coder.sequence.frames_per_second = frames_per_second(use);
	parameters->parm.output.capability = V4L2_CAP_TIMEPERFRAME;
	return 0;
}

static int reqbufs(struct file *file, void *context, struct v4l2_requestbuffers *request)
{
	if (request->count)
		hang_while(&hang_buffers);
	if (fail_buffers && request->count)
		return -ENOMEM;
	if (request->count)
		atomic_inc(&opened);
	return v4l2_m2m_ioctl_reqbufs(file, context, request);
}

static int encoder_cmd(struct file *file, void *context, struct v4l2_encoder_cmd *command)
{
	struct use *use = use_of(file);
	int result = v4l2_m2m_ioctl_try_encoder_cmd(file, context, command);

	if (result || !vb2_is_streaming(&use->fh.m2m_ctx->out_q_ctx.q))
		return result;
	if (endless_drain && command->cmd == V4L2_ENC_CMD_STOP)
		return 0;
	result = v4l2_m2m_ioctl_encoder_cmd(file, context, command);
	if (result)
		return result;
	if (command->cmd == V4L2_ENC_CMD_STOP && v4l2_m2m_has_stopped(use->fh.m2m_ctx))
		v4l2_event_queue_fh(&use->fh, &end_of_stream);
	if (command->cmd == V4L2_ENC_CMD_START && v4l2_m2m_has_stopped(use->fh.m2m_ctx))
		vb2_clear_last_buffer_dequeued(&use->fh.m2m_ctx->cap_q_ctx.q);
	return 0;
}

static int subscribe_event(struct v4l2_fh *fh, const struct v4l2_event_subscription *subscription)
{
	if (subscription->type == V4L2_EVENT_EOS)
		return v4l2_event_subscribe(fh, subscription, 0, NULL);
	return v4l2_ctrl_subscribe_event(fh, subscription);
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
	static int name##_single(struct file *file, void *context, struct v4l2_format *format)    \
	{                                                                                         \
		struct v4l2_format multi;                                                         \
		int result;                                                                       \
												  \
		widen(format, &multi);                                                            \
		result = name(file, context, &multi);                                             \
		narrow(&multi, format);                                                           \
		return result;                                                                    \
	}
SINGLE_PLANAR(g_fmt)
SINGLE_PLANAR(try_raw)
SINGLE_PLANAR(try_coded)
SINGLE_PLANAR(s_fmt_raw)
SINGLE_PLANAR(s_fmt_coded)

/* The calls that have a form each are added at loading. */
static struct v4l2_ioctl_ops ioctl_ops = {
	.vidioc_querycap = querycap,
	.vidioc_enum_fmt_vid_out = enum_raw,
	.vidioc_enum_fmt_vid_cap = enum_coded,
	.vidioc_enum_framesizes = enum_framesizes,
	.vidioc_g_selection = g_selection,
	.vidioc_s_selection = s_selection,
	.vidioc_g_parm = g_parm,
	.vidioc_s_parm = s_parm,
	.vidioc_reqbufs = reqbufs,
	.vidioc_create_bufs = v4l2_m2m_ioctl_create_bufs,
	.vidioc_prepare_buf = v4l2_m2m_ioctl_prepare_buf,
	.vidioc_querybuf = v4l2_m2m_ioctl_querybuf,
	.vidioc_qbuf = v4l2_m2m_ioctl_qbuf,
	.vidioc_dqbuf = v4l2_m2m_ioctl_dqbuf,
	.vidioc_expbuf = v4l2_m2m_ioctl_expbuf,
	.vidioc_streamon = v4l2_m2m_ioctl_streamon,
	.vidioc_streamoff = v4l2_m2m_ioctl_streamoff,
	.vidioc_try_encoder_cmd = v4l2_m2m_ioctl_try_encoder_cmd,
	.vidioc_encoder_cmd = encoder_cmd,
	.vidioc_subscribe_event = subscribe_event,
	.vidioc_unsubscribe_event = v4l2_event_unsubscribe,
};

static void choose_format_calls(void)
{
	if (other_maker) {
		ioctl_ops.vidioc_g_fmt_vid_out = g_fmt_single;
		ioctl_ops.vidioc_g_fmt_vid_cap = g_fmt_single;
		ioctl_ops.vidioc_try_fmt_vid_out = try_raw_single;
		ioctl_ops.vidioc_try_fmt_vid_cap = try_coded_single;
		ioctl_ops.vidioc_s_fmt_vid_out = s_fmt_raw_single;
		ioctl_ops.vidioc_s_fmt_vid_cap = s_fmt_coded_single;
		return;
	}
	ioctl_ops.vidioc_g_fmt_vid_out_mplane = g_fmt;
	ioctl_ops.vidioc_g_fmt_vid_cap_mplane = g_fmt;
	ioctl_ops.vidioc_try_fmt_vid_out_mplane = try_raw;
	ioctl_ops.vidioc_try_fmt_vid_cap_mplane = try_coded;
	ioctl_ops.vidioc_s_fmt_vid_out_mplane = s_fmt_raw;
	ioctl_ops.vidioc_s_fmt_vid_cap_mplane = s_fmt_coded;
}

/* Controls. */

static int s_ctrl(struct v4l2_ctrl *ctrl)
{
	struct use *use = container_of(ctrl->handler, struct use, controls);

	if (ctrl->id == V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME) {
		use->key_wanted = true;
		if (stall_until_key)
			use->stalled = false;
	}
	if (ctrl->id == V4L2_CID_MPEG_VIDEO_BITRATE && slow_bitrate && use->coder.blocks) {
		msleep(3000);
		return -ETIMEDOUT;
	}
	return 0;
}

static const struct v4l2_ctrl_ops ctrl_ops = { .s_ctrl = s_ctrl };

static const struct {
	u32 id;
	s64 least, most, step, standard;
	/* Not every encoder has it. */
	bool pis_own;
} numbers[] = {
	{ V4L2_CID_MPEG_VIDEO_BITRATE, 25000, 25000000, 25000, 10000000 },
	{ V4L2_CID_MPEG_VIDEO_REPEAT_SEQ_HEADER, 0, 1, 1, 0, true },
	{ V4L2_CID_MPEG_VIDEO_H264_I_PERIOD, 0, 0x7fffffff, 1, 60, true },
	{ V4L2_CID_MPEG_VIDEO_GOP_SIZE, 0, 0x7fffffff, 1, 60 },
	{ V4L2_CID_MPEG_VIDEO_H264_MIN_QP, 0, 51, 1, 20, true },
	{ V4L2_CID_MPEG_VIDEO_H264_MAX_QP, 0, 51, 1, 51, true },
	{ V4L2_CID_MPEG_VIDEO_B_FRAMES, 0, 0, 1, 0, true },
	{ V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME, 0, 0, 0, 0 },
	{ V4L2_CID_MIN_BUFFERS_FOR_OUTPUT, 1, 1, 1, 1 },
};

static int init_controls(struct use *use)
{
	struct v4l2_ctrl_handler *handler = &use->controls;
	struct v4l2_ctrl *ctrl;
	u8 mode;
	size_t i;

	v4l2_ctrl_handler_init(handler, 16);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (other_maker && numbers[i].pis_own)
			continue;
		ctrl = v4l2_ctrl_new_std(handler, &ctrl_ops, numbers[i].id, numbers[i].least, numbers[i].most,
					 numbers[i].step, numbers[i].standard);
		if (ctrl && numbers[i].id == V4L2_CID_MIN_BUFFERS_FOR_OUTPUT)
			ctrl->flags |= V4L2_CTRL_FLAG_READ_ONLY;
	}
	if (!other_maker)
		v4l2_ctrl_new_std_menu(handler, &ctrl_ops, V4L2_CID_MPEG_VIDEO_BITRATE_MODE,
				       V4L2_MPEG_VIDEO_BITRATE_MODE_CBR, 0, V4L2_MPEG_VIDEO_BITRATE_MODE_VBR);
	mode = other_maker ? V4L2_MPEG_VIDEO_HEADER_MODE_SEPARATE : V4L2_MPEG_VIDEO_HEADER_MODE_JOINED_WITH_1ST_FRAME;
	v4l2_ctrl_new_std_menu(handler, &ctrl_ops, V4L2_CID_MPEG_VIDEO_HEADER_MODE, mode, 0, mode);
	v4l2_ctrl_new_std_menu(handler, &ctrl_ops, V4L2_CID_MPEG_VIDEO_H264_LEVEL, V4L2_MPEG_VIDEO_H264_LEVEL_5_1, 0,
			       V4L2_MPEG_VIDEO_H264_LEVEL_4_0);
	v4l2_ctrl_new_std_menu(handler, &ctrl_ops, V4L2_CID_MPEG_VIDEO_H264_PROFILE,
			       V4L2_MPEG_VIDEO_H264_PROFILE_HIGH,
			       ~(BIT(V4L2_MPEG_VIDEO_H264_PROFILE_BASELINE) |
				 BIT(V4L2_MPEG_VIDEO_H264_PROFILE_CONSTRAINED_BASELINE) |
				 BIT(V4L2_MPEG_VIDEO_H264_PROFILE_MAIN) | BIT(V4L2_MPEG_VIDEO_H264_PROFILE_HIGH)),
			       V4L2_MPEG_VIDEO_H264_PROFILE_HIGH);
	return handler->error;
}

/* The node. */

static int open(struct file *file)
{
	struct encoder *encoder = video_drvdata(file);
	struct use *use;
	int result;

	hang_while(&hang_open);
	use = kzalloc(sizeof(*use), GFP_KERNEL);
	if (!use)
		return -ENOMEM;
	v4l2_fh_init(&use->fh, video_devdata(file));
	file->private_data = &use->fh;
	use->encoder = encoder;
	INIT_WORK(&use->work, work);
	INIT_LIST_HEAD(&use->held);
	spin_lock_init(&use->held_lock);
	use->format = &raw_formats[0];
	use->width = 640;
	use->height = 480;
	use->stride = 640;
	use->crop_width = 640;
	use->crop_height = 480;
	use->output_size = SMALL_BUFFER;
	use->colorspace = V4L2_COLORSPACE_SMPTE170M;
	use->interval = (struct v4l2_fract){ 1, 30 };
	result = init_controls(use);
	if (result)
		goto failed;
	use->fh.ctrl_handler = &use->controls;
	use->fh.m2m_ctx = v4l2_m2m_ctx_init(encoder->m2m, use, queue_init);
	if (IS_ERR(use->fh.m2m_ctx)) {
		result = PTR_ERR(use->fh.m2m_ctx);
		goto failed;
	}
	v4l2_fh_add(&use->fh);
	return 0;
failed:
	v4l2_ctrl_handler_free(&use->controls);
	v4l2_fh_exit(&use->fh);
	kfree(use);
	return result;
}

static int release(struct file *file)
{
	struct use *use = use_of(file);

	hang_while(&hang_release);
	v4l2_fh_del(&use->fh);
	mutex_lock(&use->encoder->lock);
	v4l2_m2m_ctx_release(use->fh.m2m_ctx);
	mutex_unlock(&use->encoder->lock);
	cancel_work_sync(&use->work);
	v4l2_ctrl_handler_free(&use->controls);
	v4l2_fh_exit(&use->fh);
	h264_coder_release(&use->coder);
	vfree(use->assembly);
	kfree(use);
	return 0;
}

static const struct v4l2_file_operations file_ops = {
	.owner = THIS_MODULE,
	.open = open,
	.release = release,
	.poll = v4l2_m2m_fop_poll,
	.unlocked_ioctl = video_ioctl2,
	.mmap = v4l2_m2m_fop_mmap,
};

static int probe(struct platform_device *device)
{
	struct encoder *encoder = devm_kzalloc(&device->dev, sizeof(*encoder), GFP_KERNEL);
	int result;

	if (!encoder)
		return -ENOMEM;
	platform_set_drvdata(device, encoder);
	mutex_init(&encoder->lock);
	result = v4l2_device_register(&device->dev, &encoder->v4l2);
	if (result)
		return result;
	encoder->m2m = v4l2_m2m_init(&m2m_ops);
	if (IS_ERR(encoder->m2m)) {
		result = PTR_ERR(encoder->m2m);
		goto unregister;
	}
	strscpy(encoder->node.name, other_maker ? OTHER_NAME : NODE_NAME, sizeof(encoder->node.name));
	encoder->node.vfl_dir = VFL_DIR_M2M;
	encoder->node.fops = &file_ops;
	encoder->node.ioctl_ops = &ioctl_ops;
	encoder->node.release = video_device_release_empty;
	encoder->node.lock = &encoder->lock;
	encoder->node.v4l2_dev = &encoder->v4l2;
	encoder->node.device_caps = V4L2_CAP_STREAMING;
	encoder->node.device_caps |= other_maker ? V4L2_CAP_VIDEO_M2M : V4L2_CAP_VIDEO_M2M_MPLANE;
	video_set_drvdata(&encoder->node, encoder);
	result = video_register_device(&encoder->node, VFL_TYPE_VIDEO, other_maker ? -1 : NODE_NUMBER);
	if (!result)
		return 0;
	v4l2_m2m_release(encoder->m2m);
unregister:
	v4l2_device_unregister(&encoder->v4l2);
	return result;
}

static void remove(struct platform_device *device)
{
	struct encoder *encoder = platform_get_drvdata(device);

	video_unregister_device(&encoder->node);
	v4l2_m2m_release(encoder->m2m);
	v4l2_device_unregister(&encoder->v4l2);
}

static struct platform_driver driver = {
	.probe = probe,
	.remove = remove,
	.driver = { .name = DRIVER_NAME },
};
static struct platform_device *device;

static int __init init(void)
{
	int result;

	choose_format_calls();
	result = platform_driver_register(&driver);
	if (result)
		return result;
	device = platform_device_register_simple(DRIVER_NAME, PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(device)) {
		platform_driver_unregister(&driver);
		return PTR_ERR(device);
	}
	return 0;
}

static void __exit finish(void)
{
	platform_device_unregister(device);
	platform_driver_unregister(&driver);
}

module_init(init);
module_exit(finish);
MODULE_DESCRIPTION("Virtual H.264 encoder with the Raspberry Pi's interface and faults");
MODULE_LICENSE("GPL");
