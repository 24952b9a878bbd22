// SPDX-License-Identifier: GPL-2.0
/* The scene in front of the cameras. */

#include <linux/math64.h>
#include <linux/module.h>

#include "scene.h"

#define NEAR 800
#define MIDDLE 400

struct scene scene = {
	.light = 300,
	.temperature = 5753,
	.depths = {
		MIDDLE, MIDDLE, MIDDLE, MIDDLE,
		MIDDLE, MIDDLE, MIDDLE, MIDDLE,
		NEAR, NEAR, NEAR, NEAR,
	},
	.pdaf = true,
};

module_param_named(light, scene.light, uint, 0644);
MODULE_PARM_DESC(light, "of the scene, in lux");
module_param_named(temperature, scene.temperature, uint, 0644);
MODULE_PARM_DESC(temperature, "of the light's color, in kelvin");
module_param_array_named(depths, scene.depths, uint, NULL, 0644);
MODULE_PARM_DESC(depths, "of the scene's four by three planes, row by row, in 1/100 dioptre");
module_param_named(pdaf, scene.pdaf, bool, 0644);
MODULE_PARM_DESC(pdaf, "the sensor's phase pixels see enough to focus by; without, contrast is what is left");
module_param_named(color_bars, scene.color_bars, bool, 0644);
MODULE_PARM_DESC(color_bars, "the sensor sends its test pattern of color bars, whatever its control says");

/* Reflectances in 1/1000 of red, green and blue. */
static const struct color pigments[] = {
	['k' - 'a'] = { 40, 40, 40 },	 ['d' - 'a'] = { 90, 90, 90 },	  ['m' - 'a'] = { 180, 180, 180 },
	['l' - 'a'] = { 280, 280, 280 }, ['w' - 'a'] = { 600, 600, 600 }, ['r' - 'a'] = { 400, 60, 60 },
	['g' - 'a'] = { 70, 300, 80 },	 ['b' - 'a'] = { 50, 80, 350 },	  ['y' - 'a'] = { 450, 400, 60 },
	['s' - 'a'] = { 350, 220, 160 },
};

/*
 * Red, green, blue and yellow near the corners show the orientation, even in the part that a sensor's cropped mode sees; the
 * rest is mostly gray, like walls.
 */
static const char fields[SCENE_ROWS][SCENE_COLUMNS + 1] = {
	"mmlmmdmmmmdmmmlm",
	"mdmmdmmlmmmdmmmd",
	"mmrrmmmdlmmmggmm",
	"lmrrlmdmmlmdggmm",
	"mmldmmmwwmmmlmdm",
	"dmmmsmmwwmmsmdmm",
	"mlmmsmmwwmmsmmmd",
	"mmdmlmmwwmmlmdmm",
	"mmbblmdmmldmyymm",
	"mmbbmmldmmmlyymd",
	"mldmmmmmdmmmmdmm",
	"mmmmkmmlmmdmlmmm",
};
/* The mean of 0.299 red + 0.587 green + 0.114 blue over 16 by 12 fields, in 1/1000. */
#define MEAN_REFLECTANCE 200

/* The number of pairs of stripes in a field, and how much more or less light sharp stripes have, in 1/1024. */
#define STRIPES 4
#define FOCUS_DEPTH 70
#define LIGHT_MAX 100000u
#define EXPOSURE_MAX 10000000000ull

struct view frame_view(const struct frame_record *record)
{
	const struct sensor_mode *mode = record_mode(record);

	return cropped_view(record, &(struct v4l2_rect){ 0, 0, mode->width, mode->height });
}

static u32 share(u32 part, u32 whole)
{
	return (u64)part * WHOLE / whole;
}

struct view cropped_view(const struct frame_record *record, const struct v4l2_rect *crop)
{
	const struct v4l2_rect *active = &record_model(record)->active;
	const struct sensor_mode *mode = record_mode(record);
	bool turned = record->flips & TURNED, hflip = record->flips & FLIP_H, vflip = record->flips & FLIP_V;
	struct view view = {
		.frame_left = share(mode->crop.left - active->left, active->width),
		.frame_width = share(mode->crop.width, active->width),
		.mirrors_x = hflip != turned,
		.mirrors_y = vflip != turned,
	};
	u32 frame_top = share(mode->crop.top - active->top, active->height);
	u32 frame_height = share(mode->crop.height, active->height);

	/* Modes are in the middle of the sensor, so a flip within them is a flip within the scene. */
	view.left = view.frame_left + (u64)crop->left * view.frame_width / mode->width;
	view.top = frame_top + (u64)crop->top * frame_height / mode->height;
	view.width = (u64)crop->width * view.frame_width / mode->width;
	view.height = (u64)crop->height * frame_height / mode->height;
	return view;
}

struct place view_place(const struct view *view, u32 x, u32 y)
{
	u32 across = view->left + (u32)((u64)x * view->width / WHOLE);
	u32 down = view->top + (u32)((u64)y * view->height / WHOLE);

	across = min(across, (u32)WHOLE - 1);
	down = min(down, (u32)WHOLE - 1);
	return (struct place){
		.x = view->mirrors_x ? WHOLE - 1 - across : across,
		.y = view->mirrors_y ? WHOLE - 1 - down : down,
	};
}

struct place cell_center(const struct view *view, u32 column, u32 columns, u32 row, u32 rows)
{
	return view_place(view, (2 * column + 1) * WHOLE / (2 * columns), (2 * row + 1) * WHOLE / (2 * rows));
}

/* The sensor creates it during readout: flips do not affect it, and a crop cuts it. */
u32 view_bar(const struct view *view, u32 x)
{
	u32 across = view->left + (u32)((u64)x * view->width / WHOLE) - view->frame_left;

	return min((u32)((u64)across * BARS / view->frame_width), (u32)BARS - 1);
}

u32 place_column(u32 x)
{
	return x * SCENE_COLUMNS / WHOLE;
}

u32 place_row(u32 y)
{
	return y * SCENE_ROWS / WHOLE;
}

bool is_bright_stripe(u32 x)
{
	return x * (SCENE_COLUMNS * STRIPES * 2) / WHOLE & 1;
}

s32 scene_depth(struct place place)
{
	u32 row = place.y * DEPTH_ROWS / WHOLE, column = place.x * DEPTH_COLUMNS / WHOLE;

	return min(READ_ONCE(scene.depths[row * DEPTH_COLUMNS + column]), 2000u);
}

u32 sharpness(s32 focus, s32 depth)
{
	s64 away = (s64)focus - depth;

	if (focus == FIXED_FOCUS)
		return 1024;
	away = clamp(away, -10000ll, 10000ll);
	return 1024 * FOCUS_DEPTH * FOCUS_DEPTH / (u32)(FOCUS_DEPTH * FOCUS_DEPTH + away * away);
}

u64 exposed_white(const struct frame_record *record)
{
	const struct reference_light *reference = &record_model(record)->reference;
	u64 exposure = min(lines_to_ns(record, record->exposure), EXPOSURE_MAX);
	u64 white = (u64)reference->mean * min(record->light, LIGHT_MAX) * exposure;

	white = div64_u64(white, (u64)reference->lux * reference->exposure_ns);
	white = div64_u64(white * record_gain(record), reference->gain);
	return white * record_mode(record)->sensitivity * 1000 / MEAN_REFLECTANCE;
}

/* The ratios of red and blue to green where the scene is gray, in 1/10000. */
static void light_color(const struct frame_record *record, u32 *red, u32 *blue)
{
	const struct sensor_model *model = record_model(record);
	const struct color_point *low = model->colors, *high = low + 1, *last = low + model->color_count - 1;
	u32 temperature = clamp(record->temperature, low->temperature, last->temperature), above, span;

	while (high < last && high->temperature < temperature)
		high++;
	low = high - 1;
	above = temperature - low->temperature;
	span = high->temperature - low->temperature;
	*red = (low->red * (span - above) + high->red * above) / span;
	*blue = (low->blue * (span - above) + high->blue * above) / span;
}

struct color exposed_cell(const struct frame_record *record, u64 white, u32 column, u32 row)
{
	const struct color *pigment = &pigments[fields[row][column] - 'a'];
	u32 red, blue;

	light_color(record, &red, &blue);
	return (struct color){
		.r = min_t(u64, white * pigment->r / 1000 * red / 10000, U16_MAX),
		.g = min_t(u64, white * pigment->g / 1000, U16_MAX),
		.b = min_t(u64, white * pigment->b / 1000 * blue / 10000, U16_MAX),
	};
}

/* White, yellow, cyan, green, magenta, red, blue, black. */
struct color bar_color(u32 bar)
{
	return (struct color){
		.r = bar & 2 ? 0 : U16_MAX,
		.g = bar & 4 ? 0 : U16_MAX,
		.b = bar & 1 ? 0 : U16_MAX,
	};
}
