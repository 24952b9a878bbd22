// SPDX-License-Identifier: GPL-2.0
/* The module, the receivers with their camera modules, and the choices on loading. */

#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "camera.h"

#define CAMERAS_MAX 2

static char *sensors[CAMERAS_MAX] = { "imx708" };
static int sensor_count = 1;
module_param_array(sensors, charp, &sensor_count, 0444);
MODULE_PARM_DESC(sensors, "the camera modules, one or two of imx708, imx219 and none: a receiver whose sensor is missing");

static uint rotation = 180;
module_param(rotation, uint, 0444);
MODULE_PARM_DESC(rotation, "how the camera modules are mounted, in degrees: 180, as their overlays say, or 0");

static bool lens = true;
module_param(lens, bool, 0444);
MODULE_PARM_DESC(lens, "the first camera module's lens answers");

static bool embedded = true;
module_param(embedded, bool, 0444);
MODULE_PARM_DESC(embedded, "the receiver has a node for embedded data");

static bool heap = true;
module_param(heap, bool, 0444);
MODULE_PARM_DESC(heap, "there is a heap of contiguous memory");

/* A receiver, and what is connected to it. */
struct front_end {
	struct media_device media;
	struct v4l2_device v4l2;
	/* The sensor's place in the tree of devices, which names the camera. */
	struct platform_device *place;
	struct sensor sensor;
	struct lens lens;
	struct receiver receiver;
	bool has_sensor;
};

static void release(struct v4l2_device *v4l2)
{
	struct front_end *end = container_of(v4l2, struct front_end, v4l2);

	if (end->sensor.lens)
		lens_release(&end->lens);
	if (end->has_sensor)
		sensor_release(&end->sensor);
	media_device_cleanup(&end->media);
	kfree(end);
}

static struct platform_device *make_place(struct platform_device *device, const struct sensor_model *model)
{
	struct device_node *node = of_find_node_by_path(model->node);
	struct platform_device *place = platform_device_register_full(&(struct platform_device_info){
		.parent = &device->dev,
		.name = model->name,
		.id = PLATFORM_DEVID_NONE,
		.fwnode = of_fwnode_handle(node),
		.of_node_reused = true,
	});

	of_node_put(node);
	return place;
}

static int add_lens(struct front_end *end)
{
	int result = lens_init(&end->lens, &end->v4l2, &end->place->dev);

	if (result)
		return result;
	end->sensor.lens = &end->lens;
	return PTR_ERR_OR_ZERO(media_create_ancillary_link(&end->sensor.subdev.entity, &end->lens.subdev.entity));
}

static int add_sensor(struct front_end *end, struct platform_device *device, const struct sensor_model *model)
{
	/* The first faces back, the second front, as on a telephone. */
	const struct sensor_mounting mounting = {
		.orientation = device->id ? V4L2_CAMERA_ORIENTATION_FRONT : V4L2_CAMERA_ORIENTATION_BACK,
		.rotation = rotation,
		.has_embedded = model->has_embedded && embedded,
	};
	int result;

	end->place = make_place(device, model);
	if (IS_ERR(end->place))
		return PTR_ERR(end->place);
	result = sensor_init(&end->sensor, model, &mounting, &end->v4l2, &end->place->dev);
	if (result)
		return result;
	end->has_sensor = true;
	if (model->has_lens && lens)
		result = add_lens(end);
	return result ?: receiver_register(&end->receiver, &end->sensor, &end->v4l2) ?:
	       v4l2_device_register_subdev_nodes(&end->v4l2);
}

static void dismantle(struct front_end *end)
{
	if (end->has_sensor)
		receiver_unregister(&end->receiver);
	if (media_devnode_is_registered(end->media.devnode))
		media_device_unregister(&end->media);
	v4l2_device_unregister(&end->v4l2);
	if (!IS_ERR_OR_NULL(end->place))
		platform_device_unregister(end->place);
	v4l2_device_put(&end->v4l2);
}

static int probe(struct platform_device *device)
{
	const struct sensor_model *model = sensor_model_named(sensors[device->id]);
	struct front_end *end = kzalloc(sizeof(*end), GFP_KERNEL);
	int result;

	if (!end)
		return -ENOMEM;
	end->media.dev = &device->dev;
	strscpy(end->media.model, UNICAM_NAME, sizeof(end->media.model));
	snprintf(end->media.bus_info, sizeof(end->media.bus_info), "platform:%s", dev_name(&device->dev));
	media_device_init(&end->media);
	end->v4l2.mdev = &end->media;
	end->v4l2.release = release;
	result = v4l2_device_register(&device->dev, &end->v4l2);
	if (result) {
		media_device_cleanup(&end->media);
		kfree(end);
		return result;
	}
	platform_set_drvdata(device, end);
	/* Without its sensor a receiver has an empty media device. */
	if (model)
		result = add_sensor(end, device, model);
	if (!result)
		result = media_device_register(&end->media);
	if (result)
		dismantle(end);
	return result;
}

static void remove(struct platform_device *device)
{
	dismantle(platform_get_drvdata(device));
}

static struct platform_driver driver = {
	.probe = probe,
	.remove = remove,
	.driver = { .name = UNICAM_NAME },
};
static struct platform_device *devices[CAMERAS_MAX];

static void unregister_receivers(void)
{
	int i;

	for (i = 0; i < CAMERAS_MAX; i++)
		if (!IS_ERR_OR_NULL(devices[i]))
			platform_device_unregister(devices[i]);
	platform_driver_unregister(&driver);
}

static int register_receivers(void)
{
	int i, result = platform_driver_register(&driver);

	if (result)
		return result;
	for (i = 0; i < sensor_count && !result; i++) {
		devices[i] = platform_device_register_simple(UNICAM_NAME, i, NULL, 0);
		result = PTR_ERR_OR_ZERO(devices[i]);
	}
	if (result)
		unregister_receivers();
	return result;
}

static int __init init(void)
{
	int result;

	if (rotation != 0 && rotation != 180)
		return -EINVAL;
	result = heap ? heap_register() : 0;
	if (result)
		return result;
	result = isp_drivers_register();
	if (result)
		goto unregister_heap;
	result = register_receivers();
	if (!result)
		return 0;
	isp_drivers_unregister();
unregister_heap:
	if (heap)
		heap_unregister();
	return result;
}

static void __exit finish(void)
{
	unregister_receivers();
	isp_drivers_unregister();
	if (heap)
		heap_unregister();
}

module_init(init);
module_exit(finish);
MODULE_DESCRIPTION("Virtual Raspberry Pi camera: sensor, lens, receiver and image signal processor");
MODULE_LICENSE("GPL");
