// SPDX-License-Identifier: GPL-2.0
/* The lens and the voice coil that moves it. */

#include <linux/module.h>
#include <media/v4l2-device.h>
#include <media/v4l2-event.h>

#include "faults.h"
#include "sensor.h"

#define POSITION_MAX 1023
/* From the module's tuning: the positions at infinity, and at 15 dioptres. */
#define POSITION_INFINITY 445
#define POSITION_NEAR 925
#define FOCUS_NEAR 1500

static int s_ctrl(struct v4l2_ctrl *ctrl)
{
	struct lens *lens = container_of(ctrl->handler, struct lens, handler);

	if (faults.refuse_controls & REFUSE_LENS)
		return -EIO;
	if (!faults.lens_stuck)
		WRITE_ONCE(lens->position, ctrl->val);
	return 0;
}
static const struct v4l2_ctrl_ops ctrl_ops = { .s_ctrl = s_ctrl };

static const struct v4l2_subdev_core_ops core_ops = {
	.subscribe_event = v4l2_ctrl_subdev_subscribe_event,
	.unsubscribe_event = v4l2_event_subdev_unsubscribe,
};
static const struct v4l2_subdev_ops ops = { .core = &core_ops };

s32 lens_focus(const struct lens *lens)
{
	s32 travel = (s32)READ_ONCE(lens->position) - POSITION_INFINITY;

	return travel * FOCUS_NEAR / (POSITION_NEAR - POSITION_INFINITY);
}

int lens_init(struct lens *lens, struct v4l2_device *v4l2, struct device *device)
{
	struct v4l2_subdev *subdev = &lens->subdev;
	int result;

	v4l2_subdev_init(subdev, &ops);
	subdev->owner = THIS_MODULE;
	subdev->dev = device;
	subdev->flags = V4L2_SUBDEV_FL_HAS_DEVNODE | V4L2_SUBDEV_FL_HAS_EVENTS;
	strscpy(subdev->name, "dw9807 10-000c", sizeof(subdev->name));
	subdev->entity.function = MEDIA_ENT_F_LENS;
	v4l2_ctrl_handler_init(&lens->handler, 1);
	v4l2_ctrl_new_std(&lens->handler, &ctrl_ops, V4L2_CID_FOCUS_ABSOLUTE, 0, POSITION_MAX, 1, 0);
	subdev->ctrl_handler = &lens->handler;
	result = lens->handler.error;
	if (!result)
		result = media_entity_pads_init(&subdev->entity, 0, NULL);
	if (!result)
		result = v4l2_device_register_subdev(v4l2, subdev);
	if (result)
		lens_release(lens);
	return result;
}

void lens_release(struct lens *lens)
{
	media_entity_cleanup(&lens->subdev.entity);
	v4l2_ctrl_handler_free(&lens->handler);
}
