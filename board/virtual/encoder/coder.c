// SPDX-License-Identifier: GPL-2.0
/* The firmware's work on a frame: from an input's samples to H.264 in the assembly. */

#include <linux/vmalloc.h>

#include "encoder.h"

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
	struct h264_frame frame;
	u8 *out = ctx->assembly;
	size_t size = ctx->assembly_size, used = 0;
	int count;

	locate_samples(&ctx->in, base, &frame);
	if (ctx->headers_due || (key && (other_maker || READ_ONCE(ctx->repeats_headers)))) {
		count = h264_write_headers(&ctx->coder, out, size);
		if (count < 0)
			return count;
		used += count;
		*header_bytes = count;
		ctx->headers_due = false;
	}
	count = h264_write_frame(&ctx->coder, &frame, key, faults.lossless, out + used, size - used);
	if (count < 0)
		return count;
	used += count;
	ctx->since_key++;
	if (!faults.lossless)
		used += h264_fill(&ctx->coder, READ_ONCE(ctx->bitrate), used, out + used, size - used);
	return used;
}

static void run(struct context *ctx)
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
	/* The Pi's driver passes on no empty buffer except the last one, so a broken frame has bytes. */
	frame->is_broken = is_due(faults.error_every, ctx->frames);
	if (frame->bytes < 0)
		frame->gives_output = false;
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

/* Of the listed formats, only YUV frames can be encoded, and only to H.264. */
static bool can_start(const struct context *ctx)
{
	return ctx->in.format->layout.luma_step && ctx->out.format->fourcc == V4L2_PIX_FMT_H264;
}

static int start(struct context *ctx)
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

	/* Like the Pi's, the encoder does not start if the level is too low for the frame. */
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
	/* A copied macroblock has 384 bytes; emulation prevention adds half of that at most. */
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

static void stop(struct context *ctx)
{
	h264_coder_release(&ctx->coder);
	vfree(ctx->assembly);
	ctx->assembly = NULL;
}

const struct processing coder = { .can_start = can_start, .start = start, .stop = stop, .run = run };
