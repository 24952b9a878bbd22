// SPDX-License-Identifier: GPL-2.0
/* H.264 by ITU-T H.264 (08/2021); section numbers are its own. */

#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/math.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <linux/vmalloc.h>

#include "bitstream.h"

#define NAL_SLICE 0x41
#define NAL_IDR 0x65
#define NAL_SPS 0x67
#define NAL_PPS 0x68
#define NAL_FILLER 0x0c

/*
 * With this quantizer one level of a flat macroblock's only luma coefficient is
 * one step of brightness; chroma needs six less (8.5.10, 8.5.11).
 */
#define LUMA_QP 28
#define CHROMA_QP_OFFSET (-6)

#define LOG2_MAX_FRAME_NUM 8

struct bits {
	u8 *data;
	size_t size, byte;
	u32 bit;
	bool full;
};

static void put(struct bits *b, u32 value, u32 count)
{
	while (count--) {
		if (b->byte >= b->size) {
			b->full = true;
			return;
		}
		if (!b->bit)
			b->data[b->byte] = 0;
		if (value >> count & 1)
			b->data[b->byte] |= 0x80 >> b->bit;
		if (++b->bit == 8) {
			b->bit = 0;
			b->byte++;
		}
	}
}

static void put_ue(struct bits *b, u32 value)
{
	u32 length = fls(value + 1);

	put(b, 0, length - 1);
	put(b, value + 1, length);
}

static void put_se(struct bits *b, s32 value)
{
	put_ue(b, value > 0 ? 2 * value - 1 : -2 * value);
}

static void put_trailing(struct bits *b)
{
	put(b, 1, 1);
	while (b->bit)
		put(b, 0, 1);
}

/* One NAL unit: start code, header, and the payload with emulation prevention (7.4.1). */
static int put_nal(u8 header, const struct bits *b, u8 *out, size_t size)
{
	size_t at = 0, i;
	u32 zeros = 0;

	if (b->full || size < 5)
		return -ENOSPC;
	out[at++] = 0;
	out[at++] = 0;
	out[at++] = 0;
	out[at++] = 1;
	out[at++] = header;
	for (i = 0; i < b->byte; i++) {
		if (at + 2 > size)
			return -ENOSPC;
		if (zeros == 2 && b->data[i] <= 3) {
			out[at++] = 3;
			zeros = 0;
		}
		zeros = b->data[i] ? 0 : zeros + 1;
		out[at++] = b->data[i];
	}
	return at;
}

/* 7.3.2.1.1 */
static void put_sps(struct bits *b, const struct h264_sequence *s)
{
	u32 columns = DIV_ROUND_UP(s->width, 16), rows = DIV_ROUND_UP(s->height, 16);
	u32 right = columns * 16 - s->width, bottom = rows * 16 - s->height;

	put(b, s->profile, 8);
	put(b, s->constrained ? 0xc0 : 0, 8);
	put(b, s->level, 8);
	put_ue(b, 0);
	if (s->profile == 100) {
		put_ue(b, 1);
		put_ue(b, 0);
		put_ue(b, 0);
		put(b, 0, 2);
	}
	put_ue(b, LOG2_MAX_FRAME_NUM - 4);
	put_ue(b, 2);
	put_ue(b, 1);
	put(b, 0, 1);
	put_ue(b, columns - 1);
	put_ue(b, rows - 1);
	put(b, 1, 1);
	put(b, 1, 1);
	put(b, right || bottom, 1);
	if (right || bottom) {
		put_ue(b, 0);
		put_ue(b, right / 2);
		put_ue(b, 0);
		put_ue(b, bottom / 2);
	}
	/* VUI: the frame rate, and that nothing is reordered (E.1.1). */
	put(b, 1, 1);
	put(b, 0, 4);
	put(b, 1, 1);
	put(b, 1, 32);
	put(b, 2 * s->frames_per_second, 32);
	put(b, 1, 1);
	put(b, 0, 3);
	put(b, 1, 1);
	put(b, 1, 1);
	put_ue(b, 0);
	put_ue(b, 0);
	put_ue(b, 16);
	put_ue(b, 16);
	put_ue(b, 0);
	put_ue(b, 1);
	put_trailing(b);
}

/* 7.3.2.2 */
static void put_pps(struct bits *b)
{
	put_ue(b, 0);
	put_ue(b, 0);
	put(b, 0, 2);
	put_ue(b, 0);
	put_ue(b, 0);
	put_ue(b, 0);
	put(b, 0, 3);
	put_se(b, LUMA_QP - 26);
	put_se(b, 0);
	put_se(b, CHROMA_QP_OFFSET);
	put(b, 1, 1);
	put(b, 0, 2);
	put_trailing(b);
}

int h264_write_headers(const struct h264_coder *coder, u8 *out, size_t size)
{
	u8 data[64];
	struct bits sps = { .data = data, .size = sizeof(data) };
	struct bits pps = { .data = data, .size = sizeof(data) };
	int first, second;

	put_sps(&sps, &coder->sequence);
	first = put_nal(NAL_SPS, &sps, out, size);
	if (first < 0)
		return first;
	put_pps(&pps);
	second = put_nal(NAL_PPS, &pps, out + first, size - first);
	return second < 0 ? second : first + second;
}

/* A block's only coefficient, or none (9.2). */
static void put_coefficient(struct bits *b, s32 level, bool chroma)
{
	u32 code;

	if (!level) {
		put(b, 1, chroma ? 2 : 1);
		return;
	}
	if (level == 1 || level == -1) {
		put(b, 1, chroma ? 1 : 2);
		put(b, level < 0, 1);
	} else {
		if (chroma)
			put(b, 0x7, 6);
		else
			put(b, 0x5, 6);
		code = (level > 0 ? 2 * level - 2 : -2 * level - 1) - 2;
		if (code < 14) {
			put(b, 1, code + 1);
		} else if (code < 30) {
			put(b, 1, 15);
			put(b, code - 14, 4);
		} else {
			put(b, 1, 16);
			put(b, code - 30, 12);
		}
	}
	/* total_zeros 0: it is the first coefficient. */
	put(b, 1, 1);
}

/* Predicted from the left, in the first column from above, in the corner from gray. */
static void put_flat(struct bits *b, struct h264_coder *c, u32 at, struct h264_block value, bool intra)
{
	static const struct h264_block gray = { 128, 128, 128 };
	const struct h264_block *from = &gray;
	u32 luma_mode = 2, chroma_mode = 0;
	bool chroma;

	if (at % c->columns) {
		from = &c->blocks[at - 1];
		luma_mode = 1;
		chroma_mode = 1;
	} else if (at) {
		from = &c->blocks[at - c->columns];
		luma_mode = 0;
		chroma_mode = 2;
	}
	chroma = value.u != from->u || value.v != from->v;
	put_ue(b, (intra ? 0 : 5) + 1 + luma_mode + (chroma ? 4 : 0));
	put_ue(b, chroma_mode);
	put_se(b, 0);
	put_coefficient(b, (s32)value.y - from->y, false);
	if (chroma) {
		put_coefficient(b, (s32)value.u - from->u, true);
		put_coefficient(b, (s32)value.v - from->v, true);
	}
	c->blocks[at] = value;
}

static u8 sample(const u8 *plane, u32 stride, u32 step, u32 x, u32 y, u32 width, u32 height)
{
	return plane[min(y, height - 1) * stride + min(x, width - 1) * step];
}

/* 7.3.5: samples unchanged. Beyond the edge its samples are repeated; the crop hides them. */
static void put_pcm(struct bits *b, const struct h264_coder *c, const struct h264_frame *p, u32 at)
{
	u32 width = c->sequence.width, height = c->sequence.height;
	u32 left = at % c->columns * 16, top = at / c->columns * 16, x, y;

	put_ue(b, 25);
	while (b->bit)
		put(b, 0, 1);
	if (b->byte + 384 > b->size) {
		b->full = true;
		return;
	}
	for (y = top; y < top + 16; y++)
		for (x = left; x < left + 16; x++)
			b->data[b->byte++] = sample(p->luma, p->luma_stride, p->luma_step, x, y, width, height);
	for (y = top / 2; y < top / 2 + 8; y++)
		for (x = left / 2; x < left / 2 + 8; x++)
			b->data[b->byte++] = sample(p->cb, p->chroma_stride, p->chroma_step, x, y, width / 2, height / 2);
	for (y = top / 2; y < top / 2 + 8; y++)
		for (x = left / 2; x < left / 2 + 8; x++)
			b->data[b->byte++] = sample(p->cr, p->chroma_stride, p->chroma_step, x, y, width / 2, height / 2);
}

/* Sums of 16 bits, four or with step 4 two: large enough for a macroblock. */
static u64 lanes(u64 word, u32 step)
{
	if (step == 4)
		return word & 0x000000ff000000ffULL;
	return (word & 0x00ff00ff00ff00ffULL) + (step == 1 ? word >> 8 & 0x00ff00ff00ff00ffULL : 0);
}

/* Eight bytes at a time, as emulating an instruction takes as long for one byte. step is 1, 2 or 4. */
static u32 sum_block(const u8 *from, u32 stride, u32 step, u32 columns, u32 rows)
{
	/* Words start with the first byte of a pixel, so that none reaches beyond the last one. */
	u32 place = (unsigned long)from % step, words = columns * step / 8, sum = 0, x, y;
	u64 total = 0;

	for (y = 0; y < rows; y++, from += stride) {
		for (x = 0; x < words; x++)
			total += lanes(get_unaligned_le64(from - place + 8 * x) >> 8 * place, step);
		for (x = words * 8 / step; x < columns; x++)
			sum += from[x * step];
	}
	return sum + (u32)(total * 0x0001000100010001ULL >> 48);
}

static u8 mean(const u8 *plane, u32 stride, u32 step, u32 left, u32 top, u32 right, u32 bottom)
{
	u32 count = (right - left) * (bottom - top);

	return (sum_block(plane + top * stride + left * step, stride, step, right - left, bottom - top) + count / 2) / count;
}

static struct h264_block measure(const struct h264_coder *c, const struct h264_frame *p, u32 at)
{
	u32 left = at % c->columns * 16, top = at / c->columns * 16;
	u32 right = min(left + 16, c->sequence.width), bottom = min(top + 16, c->sequence.height);

	return (struct h264_block){
		.y = mean(p->luma, p->luma_stride, p->luma_step, left, top, right, bottom),
		.u = mean(p->cb, p->chroma_stride, p->chroma_step, left / 2, top / 2, right / 2, bottom / 2),
		.v = mean(p->cr, p->chroma_stride, p->chroma_step, left / 2, top / 2, right / 2, bottom / 2),
	};
}

static bool is_near(const struct h264_block *a, const struct h264_block *b, s32 tolerance)
{
	return abs(a->y - b->y) <= tolerance && abs(a->u - b->u) <= tolerance && abs(a->v - b->v) <= tolerance;
}

static void put_slice_header(struct bits *b, const struct h264_coder *c, bool idr)
{
	put_ue(b, 0);
	put_ue(b, idr ? 7 : 5);
	put_ue(b, 0);
	put(b, c->frame_number, LOG2_MAX_FRAME_NUM);
	if (idr) {
		put_ue(b, c->idr_number & 1);
	} else {
		put(b, 0, 1);
		put(b, 0, 1);
	}
	if (idr)
		put(b, 0, 2);
	else
		put(b, 0, 1);
	put_se(b, 0);
	/* No deblocking, so that flat areas stay unchanged. */
	put_ue(b, 1);
}

static void put_macroblocks(struct bits *b, struct h264_coder *c, const struct h264_frame *p, bool idr,
			    bool lossless)
{
	u32 at, skipped = 0;

	for (at = 0; at < c->columns * c->rows && !b->full; at++) {
		struct h264_block value;

		if (lossless) {
			put_pcm(b, c, p, at);
			continue;
		}
		value = measure(c, p, at);
		if (!idr && is_near(&value, &c->blocks[at], c->tolerance)) {
			skipped++;
			continue;
		}
		if (!idr)
			put_ue(b, skipped);
		skipped = 0;
		put_flat(b, c, at, value, idr);
	}
	if (skipped)
		put_ue(b, skipped);
}

int h264_write_frame(struct h264_coder *c, const struct h264_frame *frame, bool idr, bool lossless,
		       u8 *out, size_t size)
{
	struct bits b = { .data = c->scratch, .size = c->scratch_size };

	if (idr) {
		c->frame_number = 0;
		c->idr_number++;
	}
	put_slice_header(&b, c, idr);
	put_macroblocks(&b, c, frame, idr, lossless);
	put_trailing(&b);
	c->frame_number = (c->frame_number + 1) % (1 << LOG2_MAX_FRAME_NUM);
	return put_nal(idr ? NAL_IDR : NAL_SLICE, &b, out, size);
}

int h264_fill(struct h264_coder *c, u32 bits_per_second, size_t used, u8 *out, size_t size)
{
	s64 share = bits_per_second / 8 / max(c->sequence.frames_per_second, 1u), room;

	c->debt += (s64)used - share;
	/* A keyframe may exceed the bit rate by half a second's bits at most. */
	c->tolerance = c->debt > (s64)bits_per_second / 16 ? min(c->tolerance + 4, 64u) : max(c->tolerance, 1u) - 1;
	room = min_t(s64, -c->debt, size);
	if (room < 16)
		return 0;
	out[0] = 0;
	out[1] = 0;
	out[2] = 0;
	out[3] = 1;
	out[4] = NAL_FILLER;
	memset(out + 5, 0xff, room - 6);
	out[room - 1] = 0x80;
	c->debt += room;
	return room;
}

int h264_coder_init(struct h264_coder *c, const struct h264_sequence *sequence)
{
	c->sequence = *sequence;
	c->columns = DIV_ROUND_UP(sequence->width, 16);
	c->rows = DIV_ROUND_UP(sequence->height, 16);
	c->scratch_size = (size_t)c->columns * c->rows * 400 + 256;
	c->blocks = vcalloc(c->columns * c->rows, sizeof(*c->blocks));
	c->scratch = vmalloc(c->scratch_size);
	c->frame_number = 0;
	c->tolerance = 0;
	c->debt = 0;
	if (!c->blocks || !c->scratch) {
		h264_coder_release(c);
		return -ENOMEM;
	}
	return 0;
}

void h264_coder_release(struct h264_coder *c)
{
	vfree(c->blocks);
	vfree(c->scratch);
	c->blocks = NULL;
	c->scratch = NULL;
}
