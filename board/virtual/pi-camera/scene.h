/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scene in front of the cameras: a wall of 16 by 12 fields, each with its reflectance and fine stripes, in planes of
 * different depth, in one light. It is upright: a sensor that is mounted upside down sees it rotated.
 */
#ifndef VIRTUAL_PI_CAMERA_SCENE_H
#define VIRTUAL_PI_CAMERA_SCENE_H

#include <linux/types.h>

#include "sensor.h"

#define SCENE_COLUMNS 16
#define SCENE_ROWS 12
/* Planes of depth, like the ISP's focus regions. */
#define DEPTH_COLUMNS 4
#define DEPTH_ROWS 3
#define DEPTHS (DEPTH_COLUMNS * DEPTH_ROWS)
#define BARS 8
#define WHOLE 65536
/* A fixed lens is sharp everywhere. */
#define FIXED_FOCUS S32_MAX

/* Parameters of the module. */
struct scene {
	/* Lux, and kelvin. */
	uint light, temperature;
	/* 1/100 dioptre, row by row. */
	uint depths[DEPTHS];
	bool pdaf;
	bool color_bars;
};
extern struct scene scene;

/* As 1/65536 of the scene's width and height, from its upper left corner. */
struct place {
	u32 x, y;
};

/* Part of a frame as it was read out. Sizes are in 1/65536 of the sensor's active pixels. */
struct view {
	u32 left, top, width, height;
	/* The part of the frame itself, where a sensor's test pattern starts and ends. */
	u32 frame_left, frame_width;
	bool mirrors_x, mirrors_y;
};

struct color {
	u32 r, g, b;
};

struct view frame_view(const struct frame_record *record);
/* The part of a view that a crop, in pixels of the sensor's mode, leaves. */
struct view cropped_view(const struct frame_record *record, const struct v4l2_rect *crop);
/* A place in the scene, from one in the view in 1/65536 of its width and height. */
struct place view_place(const struct view *view, u32 x, u32 y);
struct place cell_center(const struct view *view, u32 column, u32 columns, u32 row, u32 rows);
u32 view_bar(const struct view *view, u32 x);

u32 place_column(u32 x);
u32 place_row(u32 y);
bool is_bright_stripe(u32 x);
s32 scene_depth(struct place place);
/* How sharp the lens shows a depth, in 1/1024. */
u32 sharpness(s32 focus, s32 depth);

/* The value of a field that reflects all light, where 16 bits are full scale; it may exceed that by far. */
u64 exposed_white(const struct frame_record *record);
/* The value of a field's pixels in the sensor without the black level: 16 bits. */
struct color exposed_cell(const struct frame_record *record, u64 white, u32 column, u32 row);
struct color bar_color(u32 bar);

#endif
