// SPDX-License-Identifier: GPL-2.0
/* libcamera's settings for each frame. Settings without a visible effect here are accepted and ignored. */

#include <linux/dma-buf.h>

#include "faults.h"
#include "isp.h"

/* The Raspberry Pi's kernel reserves these; upstream has no such base. */
#define CID_BASE (V4L2_CID_USER_BASE + 0x10e0)
#define CID_COLOUR_MATRIX (CID_BASE + 1)
#define CID_LENS_SHADING (CID_BASE + 2)
#define CID_BLACK_LEVEL (CID_BASE + 3)
#define CID_GREEN_EQUALISATION (CID_BASE + 4)
#define CID_GAMMA (CID_BASE + 5)
#define CID_DENOISE (CID_BASE + 6)
#define CID_SHARPEN (CID_BASE + 7)
#define CID_DEFECTIVE_PIXELS (CID_BASE + 8)
#define CID_COLOUR_DENOISE (CID_BASE + 9)

#define GAIN_UNITY 1000
#define GAIN_MAX 65535

/* The table must be in memory of the heap, as for the firmware. */
static int check_table(const struct isp_lens_shading *shading)
{
	struct dma_buf *table = dma_buf_get(shading->table);

	if (IS_ERR(table))
		return -EIO;
	dma_buf_put(table);
	return 0;
}

static int set(struct isp_settings *settings, const struct v4l2_ctrl *ctrl)
{
	switch (ctrl->id) {
	case V4L2_CID_RED_BALANCE:
		settings->red_gain = ctrl->val;
		break;
	case V4L2_CID_BLUE_BALANCE:
		settings->blue_gain = ctrl->val;
		break;
	case V4L2_CID_DIGITAL_GAIN:
		settings->gain = ctrl->val;
		break;
	case CID_COLOUR_MATRIX:
		memcpy(&settings->matrix, ctrl->p_new.p_u8, sizeof(settings->matrix));
		break;
	case CID_GAMMA:
		memcpy(&settings->gamma, ctrl->p_new.p_u8, sizeof(settings->gamma));
		break;
	}
	return 0;
}

static int s_ctrl(struct v4l2_ctrl *ctrl)
{
	struct isp *isp = container_of(ctrl->handler, struct isp, handler);

	if (faults.refuse_controls & REFUSE_ISP)
		return -EIO;
	if (ctrl->id == CID_LENS_SHADING)
		return check_table((const struct isp_lens_shading *)ctrl->p_new.p_u8);
	spin_lock(&isp->lock);
	set(&isp->settings, ctrl);
	spin_unlock(&isp->lock);
	return 0;
}
static const struct v4l2_ctrl_ops ctrl_ops = { .s_ctrl = s_ctrl };

/* Structures of the driver's interface, as arrays of bytes. */
static const struct {
	u32 id;
	const char *name;
	u32 size;
} structures[] = {
	{ CID_COLOUR_MATRIX, "Colour Correction Matrix", sizeof(struct isp_color_matrix) },
	{ CID_LENS_SHADING, "Lens Shading", sizeof(struct isp_lens_shading) },
	{ CID_BLACK_LEVEL, "Black Level", 12 },
	{ CID_GREEN_EQUALISATION, "Green Equalisation", 16 },
	{ CID_GAMMA, "Gamma", sizeof(struct isp_gamma) },
	{ CID_DENOISE, "Denoise", 24 },
	{ CID_SHARPEN, "Sharpen", 28 },
	{ CID_DEFECTIVE_PIXELS, "Defective Pixel Correction", 8 },
	{ CID_COLOUR_DENOISE, "Colour Denoise", 8 },
};

int isp_init_controls(struct isp *isp)
{
	struct v4l2_ctrl_handler *handler = &isp->handler;
	u32 i;

	isp->settings.red_gain = GAIN_UNITY;
	isp->settings.blue_gain = GAIN_UNITY;
	isp->settings.gain = GAIN_UNITY;
	v4l2_ctrl_handler_init(handler, 3 + ARRAY_SIZE(structures));
	v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_RED_BALANCE, 1, GAIN_MAX, 1, GAIN_UNITY);
	v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_BLUE_BALANCE, 1, GAIN_MAX, 1, GAIN_UNITY);
	v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_DIGITAL_GAIN, 1, GAIN_MAX, 1, GAIN_UNITY);
	for (i = 0; i < ARRAY_SIZE(structures); i++) {
		const struct v4l2_ctrl_config config = {
			.ops = &ctrl_ops,
			.id = structures[i].id,
			.name = structures[i].name,
			.type = V4L2_CTRL_TYPE_U8,
			.max = U8_MAX,
			.step = 1,
			.dims = { structures[i].size },
			/* The same descriptor again may be another table. */
			.flags = structures[i].id == CID_LENS_SHADING ? V4L2_CTRL_FLAG_EXECUTE_ON_WRITE : 0,
		};

		v4l2_ctrl_new_custom(handler, &config, NULL);
	}
	return handler->error;
}
