// SPDX-License-Identifier: GPL-2.0
/* Controls, with the Pi's ranges. */

#include <linux/delay.h>
#include <linux/videodev2.h>

#include "encoder.h"

static int s_ctrl(struct v4l2_ctrl *ctrl)
{
	struct context *ctx = container_of(ctrl->handler, struct context, controls);

	switch (ctrl->id) {
	case V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME:
		ctx->key_wanted = true;
		if (faults.stall_until_key)
			ctx->stalled = false;
		break;
	case V4L2_CID_MPEG_VIDEO_BITRATE:
		if (faults.slow_bitrate && ctx->output_runs) {
			msleep(3000);
			return -EINVAL;
		}
		WRITE_ONCE(ctx->bitrate, ctrl->val);
		break;
	case V4L2_CID_MPEG_VIDEO_REPEAT_SEQ_HEADER:
		WRITE_ONCE(ctx->repeats_headers, ctrl->val);
		break;
	case V4L2_CID_MPEG_VIDEO_H264_I_PERIOD:
		/* The Pi's driver has two names for this control. */
		__v4l2_ctrl_s_ctrl(ctx->gop_size, ctrl->val);
		fallthrough;
	case V4L2_CID_MPEG_VIDEO_GOP_SIZE:
		WRITE_ONCE(ctx->key_period, ctrl->val);
		break;
	}
	return component_answers(ctx) ? 0 : -EINVAL;
}

static const struct v4l2_ctrl_ops ctrl_ops = { .s_ctrl = s_ctrl };

enum maker { ANY, PI, OTHER };

static const struct {
	u32 id;
	s64 least, most, step, standard;
	enum maker maker;
} numbers[] = {
	{ V4L2_CID_MPEG_VIDEO_BITRATE, 25000, 25000000, 25000, 10000000 },
	{ V4L2_CID_MPEG_VIDEO_REPEAT_SEQ_HEADER, 0, 1, 1, 0, PI },
	{ V4L2_CID_MPEG_VIDEO_H264_I_PERIOD, 0, 0x7fffffff, 1, 60, PI },
	{ V4L2_CID_MPEG_VIDEO_GOP_SIZE, 0, 0x7fffffff, 1, 60 },
	{ V4L2_CID_MPEG_VIDEO_H264_MIN_QP, 0, 51, 1, 20, PI },
	{ V4L2_CID_MPEG_VIDEO_H264_MAX_QP, 0, 51, 1, 51, PI },
	{ V4L2_CID_MPEG_VIDEO_B_FRAMES, 0, 0, 1, 0, PI },
	{ V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME, 0, 0, 0, 0 },
	{ V4L2_CID_MIN_BUFFERS_FOR_OUTPUT, 1, 1, 1, 1, OTHER },
};

static void add_encoder_controls(struct context *ctx)
{
	struct v4l2_ctrl_handler *handler = &ctx->controls;
	struct v4l2_ctrl *ctrl;
	u8 mode;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].maker == (other_maker ? PI : OTHER))
			continue;
		ctrl = v4l2_ctrl_new_std(handler, &ctrl_ops, numbers[i].id, numbers[i].least, numbers[i].most,
					 numbers[i].step, numbers[i].standard);
		if (ctrl && numbers[i].id == V4L2_CID_MIN_BUFFERS_FOR_OUTPUT)
			ctrl->flags |= V4L2_CTRL_FLAG_READ_ONLY;
		if (numbers[i].id == V4L2_CID_MPEG_VIDEO_GOP_SIZE)
			ctx->gop_size = ctrl;
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
}

/* Controls of the related nodes, as far as they distinguish those from an encoder. */
static void add_controls(struct v4l2_ctrl_handler *handler, u32 function)
{
	switch (function) {
	case MEDIA_ENT_F_PROC_VIDEO_DECODER:
		v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_MIN_BUFFERS_FOR_CAPTURE, 1, 1, 1, 1);
		break;
	case MEDIA_ENT_F_PROC_VIDEO_SCALER:
		v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_HFLIP, 0, 1, 1, 0);
		v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_VFLIP, 0, 1, 1, 0);
		break;
	case MEDIA_ENT_F_PROC_VIDEO_ENCODER:
		v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_JPEG_COMPRESSION_QUALITY, 1, 100, 1, 80);
		break;
	}
}

int init_controls(struct context *ctx)
{
	struct v4l2_ctrl_handler *handler = &ctx->controls;

	v4l2_ctrl_handler_init(handler, 16);
	if (ctx->encoder->role == &roles[ENCODER_ROLE])
		add_encoder_controls(ctx);
	else
		add_controls(handler, ctx->encoder->role->function);
	return handler->error ? handler->error : v4l2_ctrl_handler_setup(handler);
}
