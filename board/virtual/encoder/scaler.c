// SPDX-License-Identifier: GPL-2.0
/* The scaler: each sample of an output is the mean of the input's samples that it covers, or the nearest one. */

#include <linux/vmalloc.h>

#include "encoder.h"

/* One component of a frame. */
struct plane {
	u8 *samples;
	u32 stride, step, width, height;
};

/* The first sample of the input that a sample of the output covers, and the one after the last. */
struct span {
	u32 first, end;
};

static struct span covered(u32 index, u32 count, u32 covered_count)
{
	struct span span = { (u64)index * covered_count / count, (u64)(index + 1) * covered_count / count };

	span.end = max(span.end, span.first + 1);
	return span;
}

static u8 mean(const struct plane *plane, struct span columns, struct span rows)
{
	u32 sum = 0, x, y;

	for (y = rows.first; y < rows.end; y++) {
		const u8 *row = plane->samples + y * plane->stride;

		for (x = columns.first; x < columns.end; x++)
			sum += row[x * plane->step];
	}
	return sum / ((columns.end - columns.first) * (rows.end - rows.first));
}

static void scale_plane(const struct plane *from, const struct plane *to, const struct span *columns)
{
	u32 x, y;

	for (y = 0; y < to->height; y++) {
		struct span rows = covered(y, to->height, from->height);
		u8 *row = to->samples + y * to->stride;

		for (x = 0; x < to->width; x++)
			row[x * to->step] = mean(from, columns[x], rows);
	}
}

/* Y, Cb and Cr; half a sample of chroma is left out. */
static void planes_of(const struct side *side, const u8 *base, struct plane planes[3])
{
	u32 width = side->width / 2, height = side->height / 2;
	struct h264_frame frame;

	locate_samples(side, base, &frame);
	planes[0] = (struct plane){ (u8 *)frame.luma, frame.luma_stride, frame.luma_step, side->width, side->height };
	planes[1] = (struct plane){ (u8 *)frame.cb, frame.chroma_stride, frame.chroma_step, width, height };
	planes[2] = (struct plane){ (u8 *)frame.cr, frame.chroma_stride, frame.chroma_step, width, height };
}

static void run(struct context *ctx)
{
	struct work_frame *frame = &ctx->frame;
	const struct vb2_buffer *input = &frame->input->vb2_buf;
	const u8 *base = vb2_plane_vaddr(&frame->input->vb2_buf, 0);
	struct plane from[3], to[3];
	u32 index, x;

	frame->is_coded = true;
	if (!base) {
		frame->gives_output = false;
		return;
	}
	planes_of(&ctx->in, base + input->planes[0].data_offset, from);
	planes_of(&ctx->out, ctx->assembly, to);
	for (index = 0; index < ARRAY_SIZE(to); index++) {
		for (x = 0; x < to[index].width; x++)
			ctx->columns[x] = covered(x, to[index].width, from[index].width);
		scale_plane(&from[index], &to[index], ctx->columns);
	}
	frame->bytes = ctx->assembly_size;
}

/* Inputs may be packed; outputs have planes. */
static bool can_start(const struct context *ctx)
{
	return ctx->in.format->layout.luma_step && ctx->out.format->layout.luma_step == 1;
}

static void stop(struct context *ctx)
{
	vfree(ctx->columns);
	vfree(ctx->assembly);
	ctx->columns = NULL;
	ctx->assembly = NULL;
}

static int start(struct context *ctx)
{
	ctx->frames = 0;
	ctx->stalled = false;
	ctx->has_stalled = false;
	ctx->assembly_size = ctx->out.size;
	ctx->assembly = vzalloc(ctx->assembly_size);
	ctx->columns = vmalloc(array_size(ctx->out.width, sizeof(*ctx->columns)));
	if (ctx->assembly && ctx->columns)
		return 0;
	stop(ctx);
	return -ENOMEM;
}

const struct processing scaler = { .can_start = can_start, .start = start, .stop = stop, .run = run };
