// SPDX-License-Identifier: GPL-2.0
/* The image signal processor's statistics of a frame, after black level and shading, before white balance. */

#include <linux/string.h>

#include "scene.h"
#include "statistics.h"

/* 16 bits to the processor's 13, and those to bins. */
#define TO_13_BITS 3
#define TO_BIN 6
#define ZONES 15
#define CONTRAST_UNIT 1000

/*
 * The firmware has 15 exposure zones in an undocumented layout: here three are in the middle, four around it, four at the
 * sides, and four in the corners.
 */
static const u8 zones[AWB_ROWS][AWB_COLUMNS] = {
	{ 11, 11, 11, 11, 7, 7, 7, 7, 7, 7, 7, 7, 12, 12, 12, 12 },
	{ 11, 11, 11, 11, 7, 7, 7, 7, 7, 7, 7, 7, 12, 12, 12, 12 },
	{ 11, 11, 11, 11, 3, 3, 3, 3, 3, 3, 3, 3, 12, 12, 12, 12 },
	{ 9, 9, 9, 9, 3, 3, 3, 3, 3, 3, 3, 3, 10, 10, 10, 10 },
	{ 9, 9, 4, 4, 1, 1, 0, 0, 0, 0, 2, 2, 5, 5, 10, 10 },
	{ 9, 9, 4, 4, 1, 1, 0, 0, 0, 0, 2, 2, 5, 5, 10, 10 },
	{ 9, 9, 4, 4, 1, 1, 0, 0, 0, 0, 2, 2, 5, 5, 10, 10 },
	{ 9, 9, 4, 4, 1, 1, 0, 0, 0, 0, 2, 2, 5, 5, 10, 10 },
	{ 9, 9, 9, 9, 6, 6, 6, 6, 6, 6, 6, 6, 10, 10, 10, 10 },
	{ 13, 13, 13, 13, 6, 6, 6, 6, 6, 6, 6, 6, 14, 14, 14, 14 },
	{ 13, 13, 13, 13, 8, 8, 8, 8, 8, 8, 8, 8, 14, 14, 14, 14 },
	{ 13, 13, 13, 13, 8, 8, 8, 8, 8, 8, 8, 8, 14, 14, 14, 14 },
};

static void count(struct region *region, const struct color *color, u32 squares)
{
	if (max3(color->r, color->g, color->b) >= U16_MAX) {
		region->not_counted += squares;
		return;
	}
	region->counted += squares;
	region->r_sum += (u64)squares * (color->r >> TO_13_BITS);
	region->g_sum += (u64)squares * (color->g >> TO_13_BITS);
	region->b_sum += (u64)squares * (color->b >> TO_13_BITS);
}

static void count_bins(struct histogram *histogram, const struct color *color, u32 squares)
{
	histogram->r[color->r >> TO_13_BITS >> TO_BIN] += squares;
	histogram->g[color->g >> TO_13_BITS >> TO_BIN] += squares;
	histogram->b[color->b >> TO_13_BITS >> TO_BIN] += squares;
}

static void measure_focus(const struct frame_record *record, const struct view *view, u64 white,
			  struct focus_region *regions)
{
	u32 column, row;

	for (row = 0; row < FOCUS_ROWS; row++) {
		for (column = 0; column < FOCUS_COLUMNS; column++, regions++) {
			struct place place = cell_center(view, column, FOCUS_COLUMNS, row, FOCUS_ROWS);
			struct color color = exposed_cell(record, white, place_column(place.x), place_row(place.y));
			u64 sharp = sharpness(record->focus, scene_depth(place));

			if (record->pattern)
				sharp = 0;
			regions->contrast[1][1] = CONTRAST_UNIT * sharp * (color.g >> TO_13_BITS);
			regions->count[1][1] = 1;
		}
	}
}

void statistics_fill(const struct frame_record *record, struct statistics *statistics)
{
	const struct sensor_mode *mode = record_mode(record);
	struct view view = frame_view(record);
	u32 squares = (mode->width / 2 / AWB_COLUMNS) * (mode->height / 2 / AWB_ROWS), column, row;
	u64 white = exposed_white(record);

	memset(statistics, 0, sizeof(*statistics));
	statistics->version = 1;
	statistics->size = sizeof(*statistics);
	for (row = 0; row < AWB_ROWS; row++) {
		for (column = 0; column < AWB_COLUMNS; column++) {
			struct place place = cell_center(&view, column, AWB_COLUMNS, row, AWB_ROWS);
			struct color color = exposed_cell(record, white, place_column(place.x), place_row(place.y));

			if (record->pattern)
				color = bar_color(column * BARS / AWB_COLUMNS);
			count(&statistics->awb[row * AWB_COLUMNS + column], &color, squares);
			count(&statistics->agc[zones[row][column]], &color, squares);
			count_bins(&statistics->histograms[0], &color, squares);
		}
	}
	measure_focus(record, &view, white, statistics->focus);
}
