/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Real H.264 with little work: a macroblock is either flat (Intra 16x16, one mean
 * value for each plane), skipped because it did not change, or copied (I_PCM).
 */
#ifndef VIRTUAL_H264_BITSTREAM_H
#define VIRTUAL_H264_BITSTREAM_H

#include <linux/types.h>

/* The content of the parameter sets. */
struct h264_sequence {
	u32 width;
	u32 height;
	u8 profile;
	bool constrained;
	u8 level;
	u32 frames_per_second;
};

/* The location of a frame's samples, and the step from one to the next. */
struct h264_frame {
	const u8 *luma;
	const u8 *cb;
	const u8 *cr;
	u32 luma_stride;
	u32 luma_step;
	u32 chroma_stride;
	u32 chroma_step;
};

/* The mean values of a macroblock in the decoder. */
struct h264_block {
	u8 y, u, v;
};

struct h264_coder {
	struct h264_sequence sequence;
	struct h264_block *blocks;
	u32 columns, rows;
	u8 *scratch;
	size_t scratch_size;
	u32 frame_number;
	u32 idr_number;
	/* Smaller or equal differences are not coded. */
	u32 tolerance;
	/* Bytes given beyond the bit rate so far. */
	s64 debt;
};

int h264_coder_init(struct h264_coder *coder, const struct h264_sequence *sequence);
void h264_coder_release(struct h264_coder *coder);

/* Both write annex B and return the number of bytes, or -ENOSPC. */
int h264_write_headers(const struct h264_coder *coder, u8 *out, size_t size);
int h264_write_frame(struct h264_coder *coder, const struct h264_frame *frame, bool idr,
		       bool lossless, u8 *out, size_t size);

/* Accounts for a frame and appends filler data when the bit rate leaves room. */
int h264_fill(struct h264_coder *coder, u32 bits_per_second, size_t used, u8 *out, size_t size);

#endif
