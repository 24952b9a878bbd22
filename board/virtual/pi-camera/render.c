// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of the scene. No pixel of the sensor is ever computed: each of the scene's fields is processed once, with its light
 * and dark stripes. Each row of fields yields one row of the frame, which is copied wherever it is visible.
 */

#include <linux/math64.h>
#include <linux/vmalloc.h>

#include "isp.h"

#define WIDTH_MAX 16384
#define LEVELS 2
#define CELLS (SCENE_COLUMNS * LEVELS)
/* As 1/1024 of a field's light. */
#define STRIPE_CONTRAST 256

struct samples {
	u8 y, u, v;
};

struct rows {
	struct samples samples[SCENE_ROWS][CELLS];
	/* The sample of a row that each column of the frame shows. */
	u8 columns[WIDTH_MAX];
	/* Luma, followed by chroma in its memory layout: pairs, or all U and all V. */
	u8 luma[SCENE_ROWS][WIDTH_MAX];
	u8 chroma[SCENE_ROWS][WIDTH_MAX];
};

struct rows *rows_create(void)
{
	return vmalloc(sizeof(struct rows));
}

void rows_release(struct rows *rows)
{
	vfree(rows);
}

/* One sample through the processor: 16 bits linear to 8 bits. */

static u32 gained(u32 value, u32 gain, u32 channel_gain)
{
	return min_t(u64, (u64)value * gain / 1000 * channel_gain / 1000, U16_MAX);
}

static u32 matrix_row(const struct isp_rational *row, const struct color *in)
{
	const u32 values[] = { in->r, in->g, in->b };
	s64 sum = 0;
	u32 i;

	for (i = 0; i < 3; i++)
		sum += div_s64((s64)row[i].numerator * values[i], max(row[i].denominator & S32_MAX, 1u));
	return clamp(sum, 0ll, (s64)U16_MAX);
}

static u32 curved(const struct isp_gamma *gamma, u32 value)
{
	u32 i = 1, span;

	if (!gamma->enabled)
		return value;
	while (i < GAMMA_POINTS - 1 && gamma->x[i] < value)
		i++;
	span = max(gamma->x[i] - gamma->x[i - 1], 1);
	value = min(value, (u32)gamma->x[i]);
	value = value > gamma->x[i - 1] ? value - gamma->x[i - 1] : 0;
	return clamp((s32)gamma->y[i - 1] + (s32)(value * (gamma->y[i] - gamma->y[i - 1]) / (s32)span), 0, U16_MAX);
}

static struct color developed(const struct isp_settings *settings, const struct color *raw)
{
	const struct isp_color_matrix *matrix = &settings->matrix;
	struct color gains = {
		.r = gained(raw->r, settings->gain, settings->red_gain),
		.g = gained(raw->g, settings->gain, 1000),
		.b = gained(raw->b, settings->gain, settings->blue_gain),
	}, mixed = gains;

	if (matrix->enabled)
		mixed = (struct color){
			.r = matrix_row(matrix->rows[0], &gains),
			.g = matrix_row(matrix->rows[1], &gains),
			.b = matrix_row(matrix->rows[2], &gains),
		};
	return (struct color){
		.r = curved(&settings->gamma, mixed.r),
		.g = curved(&settings->gamma, mixed.g),
		.b = curved(&settings->gamma, mixed.b),
	};
}

/* ITU-R BT.601 and BT.709: red's and blue's share of luma, in 1/10000. */
static struct samples encoded(const struct v4l2_pix_format *format, const struct color *color)
{
	bool is_709 = format->ycbcr_enc == V4L2_YCBCR_ENC_709, is_full = format->quantization == V4L2_QUANTIZATION_FULL_RANGE;
	s64 red = is_709 ? 2126 : 2990, blue = is_709 ? 722 : 1140, green = 10000 - red - blue;
	s64 luma = red * color->r + green * color->g + blue * color->b;
	s64 cb = div_s64((10000ll * color->b - luma) * 5000, 10000 - blue);
	s64 cr = div_s64((10000ll * color->r - luma) * 5000, 10000 - red);
	s64 whole = 10000ll * U16_MAX, luma_range = is_full ? 255 : 219, chroma_range = is_full ? 255 : 224;
	s64 offset = is_full ? 0 : 16;

	return (struct samples){
		.y = offset + div64_s64(luma * luma_range + whole / 2, whole),
		.u = clamp(div64_s64((128ll * whole + cb * chroma_range + whole / 2), whole), 0ll, 255ll),
		.v = clamp(div64_s64((128ll * whole + cr * chroma_range + whole / 2), whole), 0ll, 255ll),
	};
}

/* Rows. */

static void develop_scene(struct rows *rows, const struct frame_record *record, const struct isp_settings *settings,
			  const struct v4l2_pix_format *format)
{
	u64 white = exposed_white(record);
	u32 row, cell;

	for (row = 0; row < SCENE_ROWS; row++) {
		for (cell = 0; cell < CELLS; cell++) {
			u32 column = cell / LEVELS;
			struct place middle = {
				(2 * column + 1) * WHOLE / (2 * SCENE_COLUMNS), (2 * row + 1) * WHOLE / (2 * SCENE_ROWS),
			};
			u32 contrast = STRIPE_CONTRAST * sharpness(record->focus, scene_depth(middle)) / 1024;
			u64 lit = white * (cell % LEVELS ? 1024 + contrast : 1024 - contrast) / 1024;
			struct color raw = exposed_cell(record, lit, column, row), color = developed(settings, &raw);

			rows->samples[row][cell] = encoded(format, &color);
		}
	}
}

static void develop_bars(struct rows *rows, const struct isp_settings *settings, const struct v4l2_pix_format *format)
{
	u32 row, bar;

	for (row = 0; row < SCENE_ROWS; row++) {
		for (bar = 0; bar < BARS; bar++) {
			struct color raw = bar_color(bar), color = developed(settings, &raw);

			rows->samples[row][bar] = encoded(format, &color);
		}
	}
}

static void place_columns(struct rows *rows, const struct view *view, u32 width, bool bars)
{
	u32 x;

	for (x = 0; x < width; x++) {
		u32 at = (2ull * x + 1) * WHOLE / (2 * width), across;

		if (bars) {
			rows->columns[x] = view_bar(view, at);
			continue;
		}
		across = view_place(view, at, 0).x;
		rows->columns[x] = place_column(across) * LEVELS + is_bright_stripe(across);
	}
}

static void put_rows_together(struct rows *rows, const struct isp_format *format, u32 width)
{
	u32 row, x;

	for (row = 0; row < SCENE_ROWS; row++) {
		const struct samples *samples = rows->samples[row];
		u8 *chroma = rows->chroma[row];

		for (x = 0; x < width; x++)
			rows->luma[row][x] = samples[rows->columns[x]].y;
		for (x = 0; x < width / 2; x++) {
			const struct samples *sample = &samples[rows->columns[2 * x]];
			u8 first = format->is_swapped ? sample->v : sample->u, second = format->is_swapped ? sample->u : sample->v;

			chroma[format->is_semiplanar ? 2 * x : x] = first;
			chroma[format->is_semiplanar ? 2 * x + 1 : width / 2 + x] = second;
		}
	}
}

static u32 row_at(const struct view *view, u32 y, u32 height)
{
	return place_row(view_place(view, 0, (2ull * y + 1) * WHOLE / (2 * height)).y);
}

static void copy_rows(const struct rows *rows, const struct view *view, const struct isp_node *node, u8 *frame)
{
	const struct v4l2_pix_format *pix = &node->format;
	const struct isp_format *format = isp_node_format(node);
	u32 stride = pix->bytesperline, height = pix->height, half = pix->width / 2, y;
	u8 *chroma = frame + stride * height, *second = chroma + stride / 2 * (height / 2);

	for (y = 0; y < height; y++)
		memcpy(frame + y * stride, rows->luma[row_at(view, y, height)], pix->width);
	for (y = 0; y < height / 2; y++) {
		const u8 *row = rows->chroma[row_at(view, y, height / 2)];

		if (format->is_semiplanar) {
			memcpy(chroma + y * stride, row, 2 * half);
		} else {
			memcpy(chroma + y * (stride / 2), row, half);
			memcpy(second + y * (stride / 2), row + half, half);
		}
	}
}

void draw(struct rows *rows, const struct frame_record *record, const struct isp_settings *settings,
	  const struct isp_node *node, u8 *frame)
{
	struct view view = cropped_view(record, &settings->crop);

	if (record->pattern)
		develop_bars(rows, settings, &node->format);
	else
		develop_scene(rows, record, settings, &node->format);
	place_columns(rows, &view, node->format.width, record->pattern);
	put_rows_together(rows, isp_node_format(node), node->format.width);
	copy_rows(rows, &view, node, frame);
}
