// SPDX-License-Identifier: GPL-2.0
/* The sensor: its modes, controls and crops, and the number of frames until a setting takes effect. */

#include <linux/module.h>
#include <media/v4l2-device.h>
#include <media/v4l2-event.h>

#include "faults.h"
#include "scene.h"
#include "sensor.h"

static struct sensor *sensor_of(struct v4l2_subdev *subdev)
{
	return container_of(subdev, struct sensor, subdev);
}

u32 sensor_code(bool hflip, bool vflip)
{
	static const u32 codes[] = {
		MEDIA_BUS_FMT_SRGGB10_1X10, MEDIA_BUS_FMT_SGRBG10_1X10,
		MEDIA_BUS_FMT_SGBRG10_1X10, MEDIA_BUS_FMT_SBGGR10_1X10,
	};

	return codes[(vflip ? 2 : 0) + (hflip ? 1 : 0)];
}

static u32 current_code(const struct sensor *sensor)
{
	return sensor_code(sensor->hflip->val, sensor->vflip->val);
}

/* Controls. */

static void limit_exposure(struct sensor *sensor, u32 blank)
{
	u32 max = sensor->mode->height + blank - sensor->model->exposure_margin;

	__v4l2_ctrl_modify_range(sensor->exposure, sensor->model->exposure_min, max, 1,
				 min(sensor->exposure->default_value, (s64)max));
}

static int s_ctrl(struct v4l2_ctrl *ctrl)
{
	struct sensor *sensor = container_of(ctrl->handler, struct sensor, handler);
	struct v4l2_subdev_state *state;

	switch (ctrl->id) {
	case V4L2_CID_VBLANK:
		limit_exposure(sensor, ctrl->val);
		break;
	case V4L2_CID_HFLIP:
	case V4L2_CID_VFLIP:
		state = v4l2_subdev_get_locked_active_state(&sensor->subdev);
		v4l2_subdev_state_get_format(state, PAD_IMAGE)->code = current_code(sensor);
		break;
	}
	/* Like the real drivers, it writes only while the sensor has power. */
	return sensor->is_streaming && (faults.refuse_controls & REFUSE_SENSOR) ? -EIO : 0;
}
static const struct v4l2_ctrl_ops ctrl_ops = { .s_ctrl = s_ctrl };

static const char *const patterns[] = {
	"Disabled", "Color Bars", "Solid Color", "Grey Color Bars", "PN9",
};

/* The color gains that a sensor may use for its own corrections. */
static const struct v4l2_ctrl_config notify_gains = {
	.ops = &ctrl_ops,
	.id = V4L2_CID_NOTIFY_GAINS,
	.min = 128,
	.max = 1023,
	.step = 1,
	.def = 128,
	.dims = { 4 },
};

static int add_controls(struct sensor *sensor, const struct sensor_mounting *mounting)
{
	struct v4l2_ctrl_handler *handler = &sensor->handler;
	const struct sensor_model *model = sensor->model;
	const struct sensor_mode *mode = sensor->mode;
	u32 blank = mode->line_length - mode->width, exposure = mode->height + mode->blank_default - model->exposure_margin;
	struct v4l2_ctrl *fixed;

	v4l2_ctrl_handler_init(handler, 14);
	sensor->pixel_rate = v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_PIXEL_RATE, mode->pixel_rate, mode->pixel_rate, 1,
					       mode->pixel_rate);
	sensor->vblank = v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_VBLANK, mode->blank_min,
					   model->frame_lines_max - mode->height, 1, mode->blank_default);
	sensor->hblank = v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_HBLANK, blank, blank, 1, blank);
	sensor->exposure = v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_EXPOSURE, model->exposure_min, exposure, 1,
					     min(1600u, exposure));
	sensor->gain = v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_ANALOGUE_GAIN, model->gain_min, model->gain_max, 1,
					 model->gain_min);
	sensor->hflip = v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_HFLIP, 0, 1, 1, 0);
	sensor->vflip = v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_VFLIP, 0, 1, 1, 0);
	sensor->pattern = v4l2_ctrl_new_std_menu_items(handler, &ctrl_ops, V4L2_CID_TEST_PATTERN, ARRAY_SIZE(patterns) - 1,
						       0, 0, patterns);
	v4l2_ctrl_new_std_menu(handler, &ctrl_ops, V4L2_CID_CAMERA_ORIENTATION, V4L2_CAMERA_ORIENTATION_EXTERNAL, 0,
			       mounting->orientation);
	fixed = v4l2_ctrl_new_std(handler, &ctrl_ops, V4L2_CID_CAMERA_SENSOR_ROTATION, mounting->rotation,
				  mounting->rotation, 1, mounting->rotation);
	if (model->has_lens)
		v4l2_ctrl_new_custom(handler, &notify_gains, NULL);
	if (handler->error)
		return handler->error;
	fixed->flags |= V4L2_CTRL_FLAG_READ_ONLY;
	sensor->hblank->flags |= V4L2_CTRL_FLAG_READ_ONLY;
	sensor->hflip->flags |= V4L2_CTRL_FLAG_MODIFY_LAYOUT;
	sensor->vflip->flags |= V4L2_CTRL_FLAG_MODIFY_LAYOUT;
	return 0;
}

static void show_mode(struct sensor *sensor)
{
	const struct sensor_mode *mode = sensor->mode;
	u32 blank = mode->line_length - mode->width;

	__v4l2_ctrl_modify_range(sensor->pixel_rate, mode->pixel_rate, mode->pixel_rate, 1, mode->pixel_rate);
	__v4l2_ctrl_modify_range(sensor->hblank, blank, blank, 1, blank);
	__v4l2_ctrl_modify_range(sensor->vblank, mode->blank_min, sensor->model->frame_lines_max - mode->height, 1,
				 mode->blank_default);
	__v4l2_ctrl_s_ctrl(sensor->vblank, mode->blank_default);
	limit_exposure(sensor, mode->blank_default);
}

/* Formats. */

static const struct sensor_mode *nearest_mode(const struct sensor *sensor, u32 width, u32 height)
{
	return v4l2_find_nearest_size(sensor->model->modes, sensor->model->mode_count, width, height, width, height);
}

static void fill_format(const struct sensor *sensor, u32 pad, const struct sensor_mode *mode,
			struct v4l2_mbus_framefmt *format)
{
	*format = (struct v4l2_mbus_framefmt){ .field = V4L2_FIELD_NONE };
	if (pad == PAD_EMBEDDED) {
		format->code = MBUS_SENSOR_DATA;
		format->width = EMBEDDED_BYTES;
		format->height = 1;
		return;
	}
	format->code = current_code(sensor);
	format->width = mode->width;
	format->height = mode->height;
	format->colorspace = V4L2_COLORSPACE_RAW;
	format->xfer_func = V4L2_XFER_FUNC_NONE;
	format->ycbcr_enc = V4L2_YCBCR_ENC_601;
	format->quantization = V4L2_QUANTIZATION_FULL_RANGE;
}

static int set_fmt(struct v4l2_subdev *subdev, struct v4l2_subdev_state *state, struct v4l2_subdev_format *format)
{
	struct sensor *sensor = sensor_of(subdev);
	const struct sensor_mode *mode = nearest_mode(sensor, format->format.width, format->format.height);

	fill_format(sensor, format->pad, mode, &format->format);
	*v4l2_subdev_state_get_format(state, format->pad) = format->format;
	if (format->pad == PAD_IMAGE && format->which == V4L2_SUBDEV_FORMAT_ACTIVE && sensor->mode != mode) {
		sensor->mode = mode;
		show_mode(sensor);
	}
	return 0;
}

static int enum_mbus_code(struct v4l2_subdev *subdev, struct v4l2_subdev_state *state,
			  struct v4l2_subdev_mbus_code_enum *code)
{
	if (code->index)
		return -EINVAL;
	code->code = code->pad == PAD_EMBEDDED ? MBUS_SENSOR_DATA : current_code(sensor_of(subdev));
	return 0;
}

static int enum_frame_size(struct v4l2_subdev *subdev, struct v4l2_subdev_state *state,
			   struct v4l2_subdev_frame_size_enum *size)
{
	struct sensor *sensor = sensor_of(subdev);
	bool embedded = size->pad == PAD_EMBEDDED;
	u32 code = embedded ? MBUS_SENSOR_DATA : current_code(sensor);

	if (size->code != code || size->index >= (embedded ? 1 : sensor->model->mode_count))
		return -EINVAL;
	size->min_width = embedded ? EMBEDDED_BYTES : sensor->model->modes[size->index].width;
	size->min_height = embedded ? 1 : sensor->model->modes[size->index].height;
	size->max_width = size->min_width;
	size->max_height = size->min_height;
	return 0;
}

static int get_selection(struct v4l2_subdev *subdev, struct v4l2_subdev_state *state, struct v4l2_subdev_selection *s)
{
	struct sensor *sensor = sensor_of(subdev);
	struct v4l2_mbus_framefmt *format = v4l2_subdev_state_get_format(state, PAD_IMAGE);

	if (s->pad != PAD_IMAGE)
		return -EINVAL;
	switch (s->target) {
	case V4L2_SEL_TGT_CROP:
		s->r = nearest_mode(sensor, format->width, format->height)->crop;
		return 0;
	case V4L2_SEL_TGT_NATIVE_SIZE:
		s->r = sensor->model->native;
		return 0;
	case V4L2_SEL_TGT_CROP_DEFAULT:
	case V4L2_SEL_TGT_CROP_BOUNDS:
		s->r = sensor->model->active;
		return 0;
	}
	return -EINVAL;
}

static int init_state(struct v4l2_subdev *subdev, struct v4l2_subdev_state *state)
{
	struct sensor *sensor = sensor_of(subdev);
	u32 pad;

	for (pad = 0; pad < subdev->entity.num_pads; pad++)
		fill_format(sensor, pad, &sensor->model->modes[0], v4l2_subdev_state_get_format(state, pad));
	return 0;
}

static const struct v4l2_subdev_core_ops core_ops = {
	.subscribe_event = v4l2_ctrl_subdev_subscribe_event,
	.unsubscribe_event = v4l2_event_subdev_unsubscribe,
};
static const struct v4l2_subdev_pad_ops pad_ops = {
	.enum_mbus_code = enum_mbus_code,
	.enum_frame_size = enum_frame_size,
	.get_fmt = v4l2_subdev_get_fmt,
	.set_fmt = set_fmt,
	.get_selection = get_selection,
};
static const struct v4l2_subdev_ops ops = { .core = &core_ops, .pad = &pad_ops };
static const struct v4l2_subdev_internal_ops internal_ops = { .init_state = init_state };

int sensor_init(struct sensor *sensor, const struct sensor_model *model, const struct sensor_mounting *mounting,
		struct v4l2_device *v4l2, struct device *device)
{
	struct v4l2_subdev *subdev = &sensor->subdev;
	int result;

	sensor->model = model;
	sensor->mode = &model->modes[0];
	sensor->mounting = *mounting;
	v4l2_subdev_init(subdev, &ops);
	subdev->internal_ops = &internal_ops;
	subdev->owner = THIS_MODULE;
	subdev->dev = device;
	subdev->flags = V4L2_SUBDEV_FL_HAS_DEVNODE | V4L2_SUBDEV_FL_HAS_EVENTS;
	strscpy(subdev->name, model->name, sizeof(subdev->name));
	subdev->entity.function = MEDIA_ENT_F_CAM_SENSOR;
	subdev->ctrl_handler = &sensor->handler;
	result = add_controls(sensor, mounting);
	if (result)
		goto free_controls;
	subdev->state_lock = sensor->handler.lock;
	sensor->pads[PAD_IMAGE].flags = MEDIA_PAD_FL_SOURCE;
	sensor->pads[PAD_EMBEDDED].flags = MEDIA_PAD_FL_SOURCE;
	result = media_entity_pads_init(&subdev->entity, mounting->has_embedded ? 2 : 1, sensor->pads);
	if (result)
		goto free_controls;
	result = v4l2_subdev_init_finalize(subdev);
	if (result)
		goto clean_entity;
	result = v4l2_device_register_subdev(v4l2, subdev);
	if (!result)
		return 0;
	v4l2_subdev_cleanup(subdev);
clean_entity:
	media_entity_cleanup(&subdev->entity);
free_controls:
	v4l2_ctrl_handler_free(&sensor->handler);
	return result;
}

void sensor_release(struct sensor *sensor)
{
	v4l2_subdev_cleanup(&sensor->subdev);
	media_entity_cleanup(&sensor->subdev.entity);
	v4l2_ctrl_handler_free(&sensor->handler);
}

/* Frames. */

static struct sensor_settings *settings_at(struct sensor *sensor, u32 delay)
{
	/* With a delay of 2, settings made before the start of this frame take effect in the next one. */
	return &sensor->history[(sensor->frames + 1 - delay) % SETTINGS_KEPT];
}

static struct sensor_settings current_settings(const struct sensor *sensor)
{
	return (struct sensor_settings){ sensor->exposure->val, sensor->gain->val, sensor->vblank->val };
}

int sensor_start(struct sensor *sensor)
{
	u32 i;

	if (faults.fail_start)
		return -EIO;
	mutex_lock(sensor->handler.lock);
	for (i = 0; i < SETTINGS_KEPT; i++)
		sensor->history[i] = current_settings(sensor);
	sensor->frames = SETTINGS_KEPT;
	sensor->is_streaming = true;
	__v4l2_ctrl_grab(sensor->hflip, true);
	__v4l2_ctrl_grab(sensor->vflip, true);
	mutex_unlock(sensor->handler.lock);
	return 0;
}

void sensor_stop(struct sensor *sensor)
{
	mutex_lock(sensor->handler.lock);
	sensor->is_streaming = false;
	__v4l2_ctrl_grab(sensor->hflip, false);
	__v4l2_ctrl_grab(sensor->vflip, false);
	mutex_unlock(sensor->handler.lock);
}

void sensor_start_frame(struct sensor *sensor, struct frame_record *record)
{
	const struct sensor_delays *delays = &sensor->model->delays;

	mutex_lock(sensor->handler.lock);
	*settings_at(sensor, 1) = current_settings(sensor);
	*record = (struct frame_record){
		.magic = FRAME_MAGIC,
		.model = model_index(sensor->model),
		.mode = sensor->mode - sensor->model->modes,
		.exposure = settings_at(sensor, delays->exposure)->exposure,
		.gain = settings_at(sensor, delays->gain)->gain,
		.frame_lines = sensor->mode->height + settings_at(sensor, delays->blank)->blank,
		.line_length = sensor->mode->line_length,
		.focus = sensor->lens ? lens_focus(sensor->lens) : FIXED_FOCUS,
		.light = READ_ONCE(scene.light),
		.temperature = READ_ONCE(scene.temperature),
		.flips = (sensor->hflip->val ? FLIP_H : 0) | (sensor->vflip->val ? FLIP_V : 0) |
			 (sensor->mounting.rotation == 180 ? TURNED : 0),
		.pattern = sensor->pattern->val == 1 || READ_ONCE(scene.color_bars),
	};
	sensor->frames++;
	mutex_unlock(sensor->handler.lock);
}
