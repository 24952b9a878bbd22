// SPDX-License-Identifier: GPL-2.0
/*
 * The firmware's side of each opening, as the Pi's driver uses it: a component in one of its slots, whose two ports are the
 * queues. The driver waits for each answer with the node's lock held; silent firmware costs 3 s per message.
 */

#include <linux/delay.h>

#include "encoder.h"

#define MESSAGE_MS 3000
/* How long the driver waits for the buffers of a stopped port. */
#define FLUSH_MS 2000

static bool answers(void)
{
	if (!READ_ONCE(faults.silent))
		return true;
	msleep(MESSAGE_MS);
	return false;
}

bool component_answers(const struct context *ctx)
{
	return !ctx->slot || answers();
}

/* The VideoCore's own memory for a stream of this size, assumed to be three frames. */
static u32 needed_kb(const struct context *ctx)
{
	return round_up(ctx->in.width, 16) * round_up(ctx->in.height, 16) / 2 * 3 * 3 / 1024;
}

static bool lacks_memory(const struct context *ctx, int number)
{
	return faults.memory_kb && faults.memory_errno == number && needed_kb(ctx) > faults.memory_kb;
}

int component_create(struct context *ctx)
{
	struct slot *slot;

	if (ctx->slot)
		return 0;
	if (!answers() || faults.no_component || lacks_memory(ctx, EINVAL))
		return -EINVAL;
	for (slot = ctx->encoder->slots; slot < ctx->encoder->slots + SLOT_COUNT; slot++) {
		if (slot->is_used)
			continue;
		slot->is_used = true;
		ctx->slot = slot;
		return 0;
	}
	return -EINVAL;
}

static void enable(struct context *ctx)
{
	if (ctx->is_enabled)
		return;
	/* A port that could not be disabled counts as enabled, and never is again: its frames go in and stay there. */
	ctx->is_deaf = ctx->slot->is_enabled || !answers();
	ctx->slot->is_enabled = true;
	/* Whatever the result. */
	ctx->is_enabled = true;
}

static void disable(struct context *ctx)
{
	if (ctx->slot->is_enabled && answers())
		ctx->slot->is_enabled = false;
	ctx->is_enabled = false;
}

/* The firmware's status is passed on as an errno: no memory is EPERM, no room ENOENT, invalid ESRCH. */
int component_start(struct context *ctx, bool is_input)
{
	enable(ctx);
	if (!answers())
		return -ETIME;
	if (faults.stream_errno)
		return -(int)min(faults.stream_errno, (uint)MAX_ERRNO);
	if (lacks_memory(ctx, EPERM))
		return -EPERM;
	return firmware_start(ctx, is_input);
}

void component_stop(struct context *ctx, bool is_input)
{
	bool is_silent = !answers();

	firmware_halt(ctx, is_input);
	if (is_silent && firmware_has_buffers(ctx, is_input))
		msleep(FLUSH_MS);
	else if (ctx->stalled && faults.stop_ms)
		msleep(faults.stop_ms);
	firmware_flush(ctx, is_input);
	if (!ctx->input_runs && !ctx->output_runs && ctx->is_enabled)
		disable(ctx);
}

void component_destroy(struct context *ctx)
{
	if (!ctx->slot)
		return;
	if (ctx->slot->is_enabled)
		disable(ctx);
	answers();
	ctx->slot->is_used = false;
	ctx->slot = NULL;
}
