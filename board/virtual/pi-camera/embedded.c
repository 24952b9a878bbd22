// SPDX-License-Identifier: GPL-2.0
/* The lines that a sensor sends before its pixels: its registers, and where it saw the focus. */

#include <linux/string.h>

#include "camera.h"
#include "faults.h"
#include "scene.h"
#include "statistics.h"

/* Tags of the SMIA interface. */
#define LINE_START 0x0a
#define TAG_HIGH 0xaa
#define TAG_LOW 0xa5
#define TAG_VALUE 0x5a
#define TAG_END 0x07
/* With 10 bits per pixel, each fifth byte has the low bits of four pixels, and means nothing here. */
#define DUMMY 0x55
#define GROUP 5

#define PDAF_LINE 2
#define LINES 4
#define TEMPERATURE 40

/* The loop that follows the phase moves a quarter of the distance at each step: with more it overshoots. */
#define PHASE_PER_DIOPTRE 16
#define CONFIDENCE_MAX 400

struct line {
	u8 *bytes;
	u32 at;
};

static void put(struct line *line, u8 byte)
{
	if ((line->at + 1) % GROUP == 0)
		line->bytes[line->at++] = DUMMY;
	line->bytes[line->at++] = byte;
}

static void put_tagged(struct line *line, u8 tag, u8 byte)
{
	put(line, tag);
	put(line, byte);
}

static void put_register(struct line *line, u16 number, u8 value)
{
	put_tagged(line, TAG_HIGH, number >> 8);
	put_tagged(line, TAG_LOW, number);
	put_tagged(line, TAG_VALUE, value);
}

static void put_wide_register(struct line *line, u16 number, u16 value)
{
	put_register(line, number, value >> 8);
	put_register(line, number + 1, value);
}

static void put_registers(u8 *bytes, const struct frame_record *record)
{
	struct line line = { .bytes = bytes };

	line.bytes[line.at++] = LINE_START;
	put_register(&line, 0x013a, TEMPERATURE);
	put_wide_register(&line, 0x0202, record->exposure);
	put_wide_register(&line, 0x0204, record->gain);
	put_wide_register(&line, 0x0340, min(record->frame_lines, 0xffffu));
	put_wide_register(&line, 0x0342, record->line_length);
	put_tagged(&line, TAG_END, TAG_END);
}

/* 11 bits of confidence and 11 bits of a signed phase. */
static void put_phase(u8 *bytes, u32 confidence, s32 phase)
{
	bytes[0] = confidence >> 3;
	bytes[1] = (confidence & 7) << 5 | (phase >> 6 & 0x1f);
	bytes[2] = (phase & 0x3f) << 2;
}

static void put_phases(u8 *bytes, const struct frame_record *record)
{
	struct view view = frame_view(record);
	u32 column, row;

	bytes += 2 * GROUP;
	for (row = 0; row < AWB_ROWS; row++) {
		for (column = 0; column < AWB_COLUMNS; column++) {
			struct place place = cell_center(&view, column, AWB_COLUMNS, row, AWB_ROWS);
			s32 away = scene_depth(place) - record->focus;
			u32 confidence = scene.pdaf ? CONFIDENCE_MAX * 100 / (100 + min(abs(away), 100000) / 4) : 0;

			/* Moving toward the scene reduces the phase. */
			put_phase(bytes, confidence, clamp(-away * PHASE_PER_DIOPTRE / 100, -1023, 1023));
			bytes += GROUP;
		}
	}
}

u32 embedded_fill(const struct frame_record *record, u8 *bytes, u32 size)
{
	u32 line = record_mode(record)->width * GROUP / 4;

	memset(bytes, 0, size);
	if (faults.wrong_embedded)
		return size;
	put_registers(bytes, record);
	if (PDAF_LINE * line + (2 + AWB_COLUMNS * AWB_ROWS) * GROUP <= size)
		put_phases(bytes + PDAF_LINE * line, record);
	return size;
}
