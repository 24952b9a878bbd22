// SPDX-License-Identifier: GPL-2.0
/* The camera modules: their drivers' features, and their description in the tuning files. */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "sensor.h"

static const struct sensor_mode imx708_modes[] = {
	{ 4608, 2592, 15648, 595200000, 58, 58, { 16, 24, 4608, 2592 }, 1 },
	{ 2304, 1296, 7824, 585600000, 40, 1198, { 16, 24, 4608, 2592 }, 2 },
	{ 1536, 864, 5216, 566400000, 40, 2755, { 784, 456, 3072, 1728 }, 2 },
};
static const struct color_point imx708_colors[] = {
	{ 2498, 8733, 2606 }, { 2821, 7707, 3245 }, { 2951, 7144, 3639 }, { 3578, 6038, 4516 }, { 3784, 5786, 4737 },
	{ 4485, 5113, 5368 }, { 4671, 4927, 5554 }, { 5753, 4274, 6246 }, { 7433, 3723, 6881 },
};

static const struct sensor_mode imx219_modes[] = {
	{ 3280, 2464, 3448, 182400000, 4, 1062, { 8, 8, 3280, 2464 }, 1 },
	{ 1920, 1080, 3448, 182400000, 4, 683, { 688, 700, 1920, 1080 }, 1 },
	{ 1640, 1232, 3448, 182400000, 4, 531, { 8, 8, 3280, 2464 }, 1 },
};
static const struct color_point imx219_colors[] = {
	{ 2498, 9309, 3599 }, { 2911, 8682, 4283 }, { 3627, 7646, 5327 }, { 4600, 6079, 6721 }, { 5716, 5712, 7017 },
	{ 8575, 4331, 8037 },
};

static const struct sensor_model models[] = {
	{
		.name = "imx708",
		.node = "/soc/i2c0mux/i2c@1/imx708@1a",
		.has_lens = true,
		.has_embedded = true,
		.native = { 0, 0, 4640, 2658 },
		.active = { 16, 24, 4608, 2592 },
		.modes = imx708_modes,
		.mode_count = ARRAY_SIZE(imx708_modes),
		.gain_full = 1024,
		.gain_min = 112,
		.gain_max = 960,
		.exposure_min = 8,
		.exposure_margin = 48,
		.frame_lines_max = 65535 * 128,
		.delays = { 2, 2, 3 },
		.reference = { 8627, 977, 10672000, 1147 },
		.colors = imx708_colors,
		.color_count = ARRAY_SIZE(imx708_colors),
	},
	{
		.name = "imx219",
		.node = "/soc/i2c0mux/i2c@0/imx219@10",
		.native = { 0, 0, 3296, 2480 },
		.active = { 8, 8, 3280, 2464 },
		.modes = imx219_modes,
		.mode_count = ARRAY_SIZE(imx219_modes),
		.gain_full = 256,
		.gain_min = 0,
		.gain_max = 232,
		.exposure_min = 4,
		.exposure_margin = 4,
		.frame_lines_max = 65535,
		.delays = { 2, 1, 2 },
		.reference = { 12744, 998, 27685000, 1024 },
		.colors = imx219_colors,
		.color_count = ARRAY_SIZE(imx219_colors),
	},
};

const struct sensor_model *sensor_model_named(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (!strcmp(models[i].name, name))
			return &models[i];
	return NULL;
}

u32 model_index(const struct sensor_model *model)
{
	return model - models;
}

/* A raw buffer's content comes from a program, so its indexes are checked. */
const struct sensor_model *record_model(const struct frame_record *record)
{
	return &models[min(record->model, (u32)ARRAY_SIZE(models) - 1)];
}

const struct sensor_mode *record_mode(const struct frame_record *record)
{
	const struct sensor_model *model = record_model(record);

	return &model->modes[min(record->mode, model->mode_count - 1)];
}

u64 lines_to_ns(const struct frame_record *record, u32 lines)
{
	return div64_u64((u64)lines * record->line_length * 1000, record_mode(record)->pixel_rate / 1000000);
}

u32 record_gain(const struct frame_record *record)
{
	const struct sensor_model *model = record_model(record);

	return 1024 * model->gain_full / (model->gain_full - min(record->gain, model->gain_max));
}
