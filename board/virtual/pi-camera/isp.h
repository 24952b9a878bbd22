/* SPDX-License-Identifier: GPL-2.0 */
/* The image signal processor: turns raw frames into two frames of any size and statistics, as libcamera configures it. */
#ifndef VIRTUAL_PI_CAMERA_ISP_H
#define VIRTUAL_PI_CAMERA_ISP_H

#include <linux/workqueue.h>

#include "camera.h"
#include "scene.h"
#include "statistics.h"

#define ISP_NAME "bcm2835-isp"
/* As on a board, for more than one program, or camera, at a time. */
#define ISP_COUNT 2

enum isp_role { ISP_INPUT, ISP_OUTPUT, ISP_SMALL_OUTPUT, ISP_STATISTICS, ISP_NODES };

#define GAMMA_POINTS 33

/* The layouts of the driver's compound controls, as far as they are used here. */
struct isp_rational {
	s32 numerator;
	u32 denominator;
};
struct isp_color_matrix {
	u32 enabled;
	struct isp_rational rows[3][3];
	s32 offsets[3];
};
struct isp_gamma {
	u32 enabled;
	u16 x[GAMMA_POINTS], y[GAMMA_POINTS];
};
struct isp_lens_shading {
	u32 enabled, cell_size, width, stride, height;
	s32 table;
	u32 transform, corner_sampled, gain_format;
};

/* How a frame is processed. Gains are in 1/1000. */
struct isp_settings {
	u32 red_gain, blue_gain, gain;
	struct isp_color_matrix matrix;
	struct isp_gamma gamma;
	struct v4l2_rect crop;
};

struct isp_format {
	u32 fourcc;
	/* Bits of a sample in the first plane, the alignment of its lines, and twice the ratio of all planes to the first. */
	u32 depth, alignment, halves;
	bool is_raw, is_semiplanar, is_swapped;
};

struct isp_node {
	struct video_device video;
	struct media_pad pad;
	struct vb2_queue queue;
	struct isp *isp;
	enum isp_role role;
	struct mutex lock;
	/* Under the ISP's lock. */
	struct list_head buffers;
	struct v4l2_pix_format format;
	u32 sequence;
};

struct isp {
	struct v4l2_device v4l2;
	struct media_device media;
	struct media_entity entity;
	struct media_pad pads[ISP_NODES];
	struct isp_node nodes[ISP_NODES];
	struct v4l2_ctrl_handler handler;
	/* Protects buffers and settings. */
	spinlock_t lock;
	struct isp_settings settings;
	struct work_struct work;
	/* Memory for rows that are drawn. */
	struct rows *rows;
};

static inline bool is_statistics(const struct isp_node *node)
{
	return node->role == ISP_STATISTICS;
}

u32 isp_node_size(const struct isp_node *node);
void isp_choose_format(struct isp_node *node);
const struct isp_format *isp_node_format(const struct isp_node *node);
extern const struct v4l2_ioctl_ops isp_input_calls, isp_output_calls, isp_statistics_calls;

int isp_init_controls(struct isp *isp);
int isp_init_queue(struct isp_node *node, u32 type, struct device *device);
/* Processes frames as long as there are buffers. */
void isp_work(struct work_struct *item);

/* Rows of a frame, one for each row of the scene. */
struct rows *rows_create(void);
void rows_release(struct rows *rows);
/* Draws what the sensor saw into a frame of the node's format. */
void draw(struct rows *rows, const struct frame_record *record, const struct isp_settings *settings,
	  const struct isp_node *node, u8 *frame);

#endif
