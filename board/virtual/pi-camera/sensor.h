/* SPDX-License-Identifier: GPL-2.0 */
/* A camera module: a raw sensor with the controls of the Raspberry Pi's drivers, and its lens. */
#ifndef VIRTUAL_PI_CAMERA_SENSOR_H
#define VIRTUAL_PI_CAMERA_SENSOR_H

#include <linux/types.h>
#include <media/v4l2-ctrls.h>
#include <media/v4l2-subdev.h>

#define PAD_IMAGE 0
#define PAD_EMBEDDED 1
/* MEDIA_BUS_FMT_SENSOR_DATA of the Raspberry Pi's kernel; upstream has no such number. */
#define MBUS_SENSOR_DATA 0x7002
#define EMBEDDED_BYTES 28800

struct sensor_mode {
	u32 width, height;
	/* Pixel clocks of a line, and the clock. */
	u32 line_length;
	u64 pixel_rate;
	u32 blank_min, blank_default;
	struct v4l2_rect crop;
	/* Binned pixels collect more light. */
	u32 sensitivity;
};

/* The number of frames from a write to its effect. */
struct sensor_delays {
	u32 exposure, gain, blank;
};

/* A frame's mean (of 16 bits) for known conditions: lux, nanoseconds, gain in 1/1024. */
struct reference_light {
	u32 mean, lux, exposure_ns, gain;
};

/* The color of gray for a light's temperature: red and blue in 1/10000 of green. */
struct color_point {
	u32 temperature, red, blue;
};

struct sensor_model {
	const char *name;
	/* Its node in the device tree of a board with this module. */
	const char *node;
	bool has_lens;
	bool has_embedded;
	struct v4l2_rect native, active;
	const struct sensor_mode *modes;
	u32 mode_count;
	/* A gain code n is a gain of gain_full / (gain_full - n). */
	u32 gain_full, gain_min, gain_max;
	u32 exposure_min;
	/* Lines of a frame that cannot be exposed. */
	u32 exposure_margin;
	/* Lines and blanking of a frame together, at most. */
	u32 frame_lines_max;
	struct sensor_delays delays;
	struct reference_light reference;
	const struct color_point *colors;
	u32 color_count;
};

const struct sensor_model *sensor_model_named(const char *name);

/* Where the sensor's unflipped rows and columns start with red. */
u32 sensor_code(bool hflip, bool vflip);

struct lens {
	struct v4l2_subdev subdev;
	struct v4l2_ctrl_handler handler;
	u32 position;
};

int lens_init(struct lens *lens, struct v4l2_device *v4l2, struct device *device);
void lens_release(struct lens *lens);
/* Its focus in 1/100 dioptre; below 0 is beyond infinity. */
s32 lens_focus(const struct lens *lens);

struct sensor_settings {
	u32 exposure, gain, blank;
};
#define SETTINGS_KEPT 4

/*
 * The sensor's state for one frame. It goes with the frame through the receiver, at the start of the raw buffer. There the
 * image signal processor reads it, and draws the frame that the pixels would have produced.
 */
struct frame_record {
#define FRAME_MAGIC 0x50694361
	u32 magic;
	u32 sequence;
	/* The indexes of the sensor's mode and model. */
	u32 mode, model;
	/* Lines, and pixel clocks of a line. */
	u32 exposure, frame_lines, line_length;
	u32 gain;
	s32 focus;
	u32 light, temperature;
	u32 flips;
#define FLIP_H 1
#define FLIP_V 2
#define TURNED 4
	u32 pattern;
};

struct sensor_mounting {
	u32 orientation, rotation;
	/* Whether its embedded data reaches memory. */
	bool has_embedded;
};

struct sensor {
	const struct sensor_model *model;
	struct v4l2_subdev subdev;
	struct media_pad pads[2];
	struct v4l2_ctrl_handler handler;
	struct v4l2_ctrl *exposure, *gain, *vblank, *hblank, *pixel_rate, *hflip, *vflip, *pattern;
	const struct sensor_mode *mode;
	struct sensor_mounting mounting;
	bool is_streaming;
	/* The settings at the start of each of the last frames, by their number. */
	struct sensor_settings history[SETTINGS_KEPT];
	u32 frames;
	/* NULL for a module without a lens. */
	const struct lens *lens;
};

int sensor_init(struct sensor *sensor, const struct sensor_model *model, const struct sensor_mounting *mounting,
		struct v4l2_device *v4l2, struct device *device);
void sensor_release(struct sensor *sensor);
int sensor_start(struct sensor *sensor);
void sensor_stop(struct sensor *sensor);
/* At a frame's start: records its settings. */
void sensor_start_frame(struct sensor *sensor, struct frame_record *record);

const struct sensor_model *record_model(const struct frame_record *record);
const struct sensor_mode *record_mode(const struct frame_record *record);
u64 lines_to_ns(const struct frame_record *record, u32 lines);
/* The gain in 1/1024. */
u32 record_gain(const struct frame_record *record);
u32 model_index(const struct sensor_model *model);

#endif
