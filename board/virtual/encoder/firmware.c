// SPDX-License-Identifier: GPL-2.0
/*
 * The encoder itself, and the scaler. On a Pi it is the VideoCore's firmware: it gets every
 * buffer at once, processes one frame after the other, and returns an input when
 * it has read it, and the output later. Here it is a delayed work for each opening.
 */

#include <linux/string.h>
#include <media/v4l2-event.h>

#include "encoder.h"

/* Nothing to do until the next buffer is queued. */
#define IDLE (-1L)
/* When an input has been read, as a part of the frame's coding time; an assumption. */
#define READ_PERCENT 60
/* How often silent firmware checks for the end of the fault. */
#define SILENCE_MS 20

static const struct v4l2_event end_of_stream = { .type = V4L2_EVENT_EOS };

static uint frame_ms(const struct context *ctx)
{
	return encodes(ctx) ? faults.frame_ms : 0;
}

static uint stall_after(const struct context *ctx)
{
	return encodes(ctx) ? faults.stall_after : faults.scaler_stall_after;
}

static bool is_skipped(const struct context *ctx)
{
	uint period = min(faults.skip_period, 32u);
	u32 number = ctx->frames;

	if (!encodes(ctx))
		return false;
	return is_due(faults.skip_every, number) || (period && faults.skip_pattern >> (number - 1) % period & 1);
}

/* A stall counts once per opening; stall_opens determines the next openings. */
static bool starts_stall(struct context *ctx, uint after)
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

/* Returns whether the whole frame was delivered, in as many outputs as it needs; all but the last one are full. */
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

/* The stream's end is a separate, empty output. */
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
	/* A frame that takes no time occupies no place, either. */
	if (entry && !frame_ms(ctx) && list_empty(&ctx->outputs))
		entry = NULL;
	if (entry && entry != &ctx->end)
		list_del(&entry->list);
	spin_unlock(&ctx->firmware_lock);
	return entry;
}

static long start_frame(struct context *ctx)
{
	struct v4l2_m2m_buffer *entry = next_input(ctx);
	struct work_frame *frame = &ctx->frame;
	uint ms = frame_ms(ctx);

	if (!entry)
		return IDLE;
	if (entry == &ctx->end)
		return deliver_end(ctx) ? 0 : IDLE;
	ctx->frames++;
	if (starts_stall(ctx, stall_after(ctx)) || (encodes(ctx) && starts_stall(ctx, faults.swallow_after)))
		ctx->stalled = true;
	if (ctx->stalled && stall_after(ctx)) {
		hold_input(ctx, entry);
		return 0;
	}
	memset(frame, 0, sizeof(*frame));
	frame->input = &entry->vb;
	v4l2_m2m_buf_copy_metadata(frame->input, &frame->metadata, false);
	frame->gives_output = !ctx->stalled && !is_skipped(ctx);
	frame->read = ktime_add_ms(ctx->free_since, ms * READ_PERCENT / 100);
	frame->coded = ktime_add_ms(ctx->free_since, ms);
	WRITE_ONCE(frame->is_active, true);
	return 0;
}

static void end_frame(struct context *ctx)
{
	ktime_t now = ktime_get(), late = ktime_add_ms(ctx->frame.coded, frame_ms(ctx) / 2);

	if (ctx->frame.input)
		return_input(ctx);
	/* An emulated processor is slightly late now and then; a frame that waited for an output is much later. */
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
		return start_frame(ctx);
	if (frame->input && !frame->is_coded) {
		wait = jiffies_until(frame->read);
		if (wait)
			return wait;
		if (frame->gives_output)
			ctx->encoder->role->processing->run(ctx);
		/* A frame that takes no time returns its input last. */
		if (frame_ms(ctx))
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
		queue_delayed_work(ctx->worker, &ctx->work, wait);
}

/* Starting and stopping. */

int firmware_start(struct context *ctx, bool is_input)
{
	const struct processing *processing = ctx->encoder->role->processing;
	int result = 0;

	if (!processing || !processing->can_start(ctx))
		return -ESRCH;
	if (is_input)
		ctx->input_sequence = 0;
	else
		result = processing->start(ctx);
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

/* Each buffer always has a known owner: after halting, each is in one of the lists. */
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
	const struct processing *processing = ctx->encoder->role->processing;

	firmware_return_all(ctx, is_input, VB2_BUF_STATE_ERROR);
	if (!is_input && processing)
		processing->stop(ctx);
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
		mod_delayed_work(ctx->worker, &ctx->work, 0);
}

int firmware_init(struct context *ctx)
{
	ctx->worker = alloc_ordered_workqueue("virtual_h264", 0);
	if (!ctx->worker)
		return -ENOMEM;
	spin_lock_init(&ctx->firmware_lock);
	INIT_LIST_HEAD(&ctx->inputs);
	INIT_LIST_HEAD(&ctx->outputs);
	INIT_LIST_HEAD(&ctx->held);
	INIT_LIST_HEAD(&ctx->end.list);
	INIT_DELAYED_WORK(&ctx->work, work);
	return 0;
}

void firmware_release(struct context *ctx)
{
	destroy_workqueue(ctx->worker);
}
