// SPDX-License-Identifier: GPL-2.0
/*
 * The encoder itself. On a Pi it is the VideoCore's firmware: it is handed every
 * buffer at once, works on one frame after the other, and gives an input back when
 * it has read it, the output later. Here it is a delayed work for each opening.
 */

#include <linux/string.h>
#include <linux/vmalloc.h>
#include <media/v4l2-event.h>

#include "encoder.h"

/* Nothing to do until something is given. */
#define IDLE (-1L)
/* Of the time in which a frame is coded, when its input has been read: a guess. */
#define READ_PERCENT 60
/* How often a silent firmware looks whether it is healed. */
#define SILENCE_MS 20

static const struct v4l2_event end_of_stream = { .type = V4L2_EVENT_EOS };

static bool is_due(uint every, u32 number)
{
	return every && number % every == 0;
}

static bool is_skipped(u32 number)
{
	uint period = min(faults.skip_period, 32u);

	return is_due(faults.skip_every, number) || (period && faults.skip_pattern >> (number - 1) % period & 1);
}

/* A stall counts for this opening once: what follows is a matter of stall_opens. */
static bool begins_stall(struct context *ctx, uint after)
{
	if (!after || ctx->frames < after || ctx->has_stalled)
		return false;
	ctx->has_stalled = true;
	if (!faults.stall_opens)
		return false;
	if (faults.stall_opens > 0)
		faults.stall_opens--;
	return true;
}

/* Coding. */

static void picture_of(const struct context *ctx, const u8 *base, struct h264_picture *picture)
{
	const struct sample_layout *layout = &ctx->in.format->layout;
	u32 stride = ctx->in.stride, luma = stride * ctx->in.height;
	const u8 *second, *third;

	picture->luma = base + layout->luma_at;
	picture->luma_stride = stride;
	picture->luma_step = layout->luma_step;
	picture->chroma_step = layout->chroma_step;
	if (layout->luma_step > 1) {
		/* All in one plane; every other line's chroma. */
		picture->chroma_stride = 2 * stride;
		second = base + 1 - layout->luma_at;
		third = second + 2;
	} else {
		picture->chroma_stride = layout->chroma_step > 1 ? stride : stride / 2;
		second = base + luma;
		third = layout->chroma_step > 1 ? second + 1 : second + luma / 4;
	}
	picture->cb = layout->is_swapped ? third : second;
	picture->cr = layout->is_swapped ? second : third;
}

static bool takes_key(struct context *ctx)
{
	u32 period = READ_ONCE(ctx->key_period);

	if (!ctx->key_wanted && !faults.lossless && ctx->since_key && (!period || ctx->since_key < period))
		return false;
	ctx->key_wanted = false;
	ctx->since_key = 0;
	return true;
}

/* Returns the number of bytes, or an error; the first header_bytes of them are SPS and PPS. */
static int encode(struct context *ctx, const u8 *base, bool key, int *header_bytes)
{
	struct h264_picture picture;
	u8 *out = ctx->assembly;
	size_t size = ctx->assembly_size, used = 0;
	int count;

	picture_of(ctx, base, &picture);
	if (ctx->headers_due || (key && (other_maker || READ_ONCE(ctx->repeats_headers)))) {
		count = h264_write_headers(&ctx->coder, out, size);
		if (count < 0)
			return count;
		used += count;
		*header_bytes = count;
		ctx->headers_due = false;
	}
	count = h264_write_picture(&ctx->coder, &picture, key, faults.lossless, out + used, size - used);
	if (count < 0)
		return count;
	used += count;
	ctx->since_key++;
	if (!faults.lossless)
		used += h264_fill(&ctx->coder, READ_ONCE(ctx->bitrate), used, out + used, size - used);
	return used;
}

/* Reads the input and codes it into the assembly. */
static void code(struct context *ctx)
{
	struct work_frame *frame = &ctx->frame;
	const struct vb2_buffer *input = &frame->input->vb2_buf;
	const u8 *base = vb2_plane_vaddr(&frame->input->vb2_buf, 0);

	frame->is_coded = true;
	if (!base) {
		frame->bytes = -EFAULT;
	} else if (is_due(faults.headers_every, ctx->frames)) {
		frame->bytes = h264_write_headers(&ctx->coder, ctx->assembly, ctx->assembly_size);
	} else {
		frame->is_key = takes_key(ctx);
		frame->bytes = encode(ctx, base + input->planes[0].data_offset, frame->is_key, &frame->header_bytes);
	}
	if (frame->bytes < 0 || is_due(faults.error_every, ctx->frames)) {
		frame->is_broken = true;
		frame->bytes = 0;
	}
}

/* Buffers. */

static struct vb2_v4l2_buffer *take_output(struct context *ctx)
{
	struct v4l2_m2m_buffer *entry;

	spin_lock(&ctx->firmware_lock);
	entry = list_first_entry_or_null(&ctx->outputs, struct v4l2_m2m_buffer, list);
	if (entry)
		list_del(&entry->list);
	spin_unlock(&ctx->firmware_lock);
	return entry ? &entry->vb : NULL;
}

static void return_input(struct context *ctx)
{
	struct vb2_v4l2_buffer *input = ctx->frame.input;

	ctx->frame.input = NULL;
	if (other_maker)
		input->sequence = ctx->input_sequence++;
	v4l2_m2m_buf_done(input, VB2_BUF_STATE_DONE);
}

static void hold_input(struct context *ctx, struct v4l2_m2m_buffer *input)
{
	spin_lock(&ctx->firmware_lock);
	list_add_tail(&input->list, &ctx->held);
	spin_unlock(&ctx->firmware_lock);
}

static void return_output(struct context *ctx, struct vb2_v4l2_buffer *output, int bytes, u32 flags,
			  enum vb2_buffer_state state)
{
	/* The Pi's driver counts nothing. */
	if (other_maker)
		output->sequence = ctx->output_sequence++;
	output->field = V4L2_FIELD_NONE;
	output->flags &= ~(V4L2_BUF_FLAG_LAST | V4L2_BUF_FLAG_KEYFRAME | V4L2_BUF_FLAG_PFRAME);
	output->flags |= flags;
	vb2_set_plane_payload(&output->vb2_buf, 0, bytes);
	v4l2_m2m_buf_done(output, state);
}

/* Returns whether all of the frame was given away, in as many outputs as it needs; all but the last one are full. */
static bool deliver(struct context *ctx)
{
	struct work_frame *frame = &ctx->frame;
	struct vb2_v4l2_buffer *output;
	int count;

	while ((output = take_output(ctx))) {
		u32 flags = frame->is_key ? V4L2_BUF_FLAG_KEYFRAME : other_maker ? V4L2_BUF_FLAG_PFRAME : 0;

		count = min(frame->bytes - frame->given, (int)vb2_plane_size(&output->vb2_buf, 0));
		if (other_maker && frame->given < frame->header_bytes && frame->bytes > frame->header_bytes) {
			count = min(count, frame->header_bytes - frame->given);
			flags = V4L2_BUF_FLAG_PFRAME;
		}
		v4l2_m2m_buf_copy_metadata(&frame->metadata, output, false);
		memcpy(vb2_plane_vaddr(&output->vb2_buf, 0), ctx->assembly + frame->given, count);
		frame->given += count;
		return_output(ctx, output, count, flags,
			      frame->is_broken ? VB2_BUF_STATE_ERROR : VB2_BUF_STATE_DONE);
		if (frame->given >= frame->bytes)
			return true;
	}
	return false;
}

/* The stream's end is an output of its own, and empty. */
static bool deliver_end(struct context *ctx)
{
	struct vb2_v4l2_buffer *output = take_output(ctx);

	if (!output)
		return false;
	spin_lock(&ctx->firmware_lock);
	list_del_init(&ctx->end.list);
	spin_unlock(&ctx->firmware_lock);
	output->vb2_buf.timestamp = 0;
	v4l2_event_queue_fh(&ctx->fh, &end_of_stream);
	return_output(ctx, output, 0, V4L2_BUF_FLAG_LAST, VB2_BUF_STATE_DONE);
	return true;
}

/* Time. */

static long jiffies_until(ktime_t time)
{
	s64 ms = ktime_ms_delta(time, ktime_get());

	return ms > 0 ? max(1L, (long)msecs_to_jiffies(ms)) : 0;
}

static struct v4l2_m2m_buffer *next_input(struct context *ctx)
{
	struct v4l2_m2m_buffer *entry;

	spin_lock(&ctx->firmware_lock);
	entry = list_first_entry_or_null(&ctx->inputs, struct v4l2_m2m_buffer, list);
	/* What takes no time takes no place inside either. */
	if (entry && !faults.picture_ms && list_empty(&ctx->outputs))
		entry = NULL;
	if (entry && entry != &ctx->end)
		list_del(&entry->list);
	spin_unlock(&ctx->firmware_lock);
	return entry;
}

static long begin_frame(struct context *ctx)
{
	struct v4l2_m2m_buffer *entry = next_input(ctx);
	struct work_frame *frame = &ctx->frame;
	uint ms = faults.picture_ms;

	if (!entry)
		return IDLE;
	if (entry == &ctx->end)
		return deliver_end(ctx) ? 0 : IDLE;
	ctx->frames++;
	if (begins_stall(ctx, faults.stall_after) || begins_stall(ctx, faults.swallow_after))
		ctx->stalled = true;
	if (ctx->stalled && faults.stall_after) {
		hold_input(ctx, entry);
		return 0;
	}
	memset(frame, 0, sizeof(*frame));
	frame->input = &entry->vb;
	v4l2_m2m_buf_copy_metadata(frame->input, &frame->metadata, false);
	frame->gives_output = !ctx->stalled && !is_skipped(ctx->frames);
	frame->read = ktime_add_ms(ctx->free_since, ms * READ_PERCENT / 100);
	frame->coded = ktime_add_ms(ctx->free_since, ms);
	WRITE_ONCE(frame->is_active, true);
	return 0;
}

static void end_frame(struct context *ctx)
{
	ktime_t now = ktime_get(), late = ktime_add_ms(ctx->frame.coded, faults.picture_ms / 2);

	if (ctx->frame.input)
		return_input(ctx);
	/* An emulated processor is late now and then; what waited for an output was late for long. */
	ctx->free_since = ktime_after(now, late) ? now : ctx->frame.coded;
	WRITE_ONCE(ctx->frame.is_active, false);
}

/* Returns after how many jiffies there is more to do. */
static long step(struct context *ctx)
{
	struct work_frame *frame = &ctx->frame;
	long wait;

	if (ctx->is_deaf)
		return IDLE;
	if (READ_ONCE(faults.silent))
		return msecs_to_jiffies(SILENCE_MS);
	if (!frame->is_active)
		return begin_frame(ctx);
	if (frame->input && !frame->is_coded) {
		wait = jiffies_until(frame->read);
		if (wait)
			return wait;
		if (frame->gives_output)
			code(ctx);
		/* What takes no time gives its input back last. */
		if (faults.picture_ms)
			return_input(ctx);
	}
	wait = jiffies_until(frame->coded);
	if (wait)
		return wait;
	if (frame->gives_output && !deliver(ctx))
		return IDLE;
	end_frame(ctx);
	return 0;
}

static void work(struct work_struct *item)
{
	struct context *ctx = container_of(to_delayed_work(item), struct context, work);
	long wait;

	do {
		wait = step(ctx);
	} while (!wait);
	if (wait > 0)
		schedule_delayed_work(&ctx->work, wait);
}

/* Starting and stopping. */

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

/* Of what the formats list names, frames in YUV, and H.264 of them. */
static bool can_code(const struct context *ctx)
{
	return ctx->in.format->layout.luma_step && ctx->out.format->fourcc == V4L2_PIX_FMT_H264;
}

static int start_coder(struct context *ctx)
{
	u32 level = v4l2_ctrl_g_ctrl(v4l2_ctrl_find(&ctx->controls, V4L2_CID_MPEG_VIDEO_H264_LEVEL));
	u32 profile = v4l2_ctrl_g_ctrl(v4l2_ctrl_find(&ctx->controls, V4L2_CID_MPEG_VIDEO_H264_PROFILE));
	/* Half a sample of chroma cannot be coded. */
	u32 width = max(ctx->crop_width & ~1, 2u), height = max(min(ctx->crop_height, ctx->in.height) & ~1, 2u);
	u32 macroblocks = DIV_ROUND_UP(width, 16) * DIV_ROUND_UP(height, 16);
	struct h264_sequence sequence = {
		.width = width,
		.height = height,
		.constrained = profile == V4L2_MPEG_VIDEO_H264_PROFILE_CONSTRAINED_BASELINE,
		.level = levels[level].idc,
		.frames_per_second = frames_per_second(ctx),
	};
	int result;

	/* The Pi's encoder does not start either when the level is too low for the frame. */
	if (macroblocks > levels[level].macroblocks ||
	    macroblocks * sequence.frames_per_second > levels[level].rate)
		return other_maker ? -EINVAL : -ESRCH;
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
	ctx->frames = 0;
	ctx->since_key = 0;
	ctx->output_sequence = 0;
	ctx->headers_due = true;
	ctx->stalled = false;
	ctx->has_stalled = false;
	/* A copied macroblock has 384 bytes; emulation prevention adds half at the most. */
	ctx->assembly_size = macroblocks * 600 + 4096;
	ctx->assembly = vmalloc(ctx->assembly_size);
	if (!ctx->assembly)
		return -ENOMEM;
	result = h264_coder_init(&ctx->coder, &sequence);
	if (result) {
		vfree(ctx->assembly);
		ctx->assembly = NULL;
	}
	return result;
}

static void stop_coder(struct context *ctx)
{
	h264_coder_release(&ctx->coder);
	vfree(ctx->assembly);
	ctx->assembly = NULL;
}

int firmware_start(struct context *ctx, bool is_input)
{
	int result = 0;

	if (!can_code(ctx))
		return -ESRCH;
	if (is_input)
		ctx->input_sequence = 0;
	else
		result = start_coder(ctx);
	if (result)
		return result;
	*(is_input ? &ctx->input_runs : &ctx->output_runs) = true;
	ctx->free_since = ktime_get();
	firmware_wake(ctx);
	return 0;
}

void firmware_halt(struct context *ctx, bool is_input)
{
	struct work_frame *frame = &ctx->frame;

	*(is_input ? &ctx->input_runs : &ctx->output_runs) = false;
	cancel_delayed_work_sync(&ctx->work);
	if (frame->is_active && frame->input) {
		spin_lock(&ctx->firmware_lock);
		list_add(&container_of(frame->input, struct v4l2_m2m_buffer, vb)->list, &ctx->inputs);
		spin_unlock(&ctx->firmware_lock);
	}
	frame->is_active = false;
}

/* Whom the buffers belong to is never a question: halted, each is in one of the lists. */
bool firmware_has_buffers(struct context *ctx, bool is_input)
{
	return is_input ? !list_empty(&ctx->inputs) || !list_empty(&ctx->held) : !list_empty(&ctx->outputs);
}

void firmware_return_all(struct context *ctx, bool is_input, enum vb2_buffer_state state)
{
	struct v4l2_m2m_buffer *entry, *next;
	LIST_HEAD(all);

	spin_lock(&ctx->firmware_lock);
	if (is_input) {
		list_del_init(&ctx->end.list);
		list_splice_init(&ctx->held, &all);
		list_splice_tail_init(&ctx->inputs, &all);
	} else {
		list_splice_init(&ctx->outputs, &all);
	}
	spin_unlock(&ctx->firmware_lock);
	list_for_each_entry_safe(entry, next, &all, list)
		v4l2_m2m_buf_done(&entry->vb, state);
}

void firmware_flush(struct context *ctx, bool is_input)
{
	firmware_return_all(ctx, is_input, VB2_BUF_STATE_ERROR);
	if (!is_input)
		stop_coder(ctx);
}

void firmware_take(struct context *ctx, struct vb2_v4l2_buffer *buffer, bool is_input)
{
	struct v4l2_m2m_buffer *entry = container_of(buffer, struct v4l2_m2m_buffer, vb);

	spin_lock(&ctx->firmware_lock);
	if (is_input && list_empty(&ctx->inputs) && !READ_ONCE(ctx->frame.is_active))
		ctx->free_since = ktime_get();
	list_add_tail(&entry->list, is_input ? &ctx->inputs : &ctx->outputs);
	spin_unlock(&ctx->firmware_lock);
	firmware_wake(ctx);
}

void firmware_finish(struct context *ctx)
{
	if (faults.endless_drain || !ctx->input_runs)
		return;
	spin_lock(&ctx->firmware_lock);
	if (list_empty(&ctx->end.list))
		list_add_tail(&ctx->end.list, &ctx->inputs);
	spin_unlock(&ctx->firmware_lock);
	firmware_wake(ctx);
}

void firmware_wake(struct context *ctx)
{
	if (ctx->input_runs && ctx->output_runs)
		mod_delayed_work(system_wq, &ctx->work, 0);
}

void firmware_init(struct context *ctx)
{
	spin_lock_init(&ctx->firmware_lock);
	INIT_LIST_HEAD(&ctx->inputs);
	INIT_LIST_HEAD(&ctx->outputs);
	INIT_LIST_HEAD(&ctx->held);
	INIT_LIST_HEAD(&ctx->end.list);
	INIT_DELAYED_WORK(&ctx->work, work);
}
