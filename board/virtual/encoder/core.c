// SPDX-License-Identifier: GPL-2.0
/* The module, its nodes, and the effects of opening and closing them. */

#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <media/v4l2-event.h>
#include <media/videobuf2-dma-contig.h>

#include "encoder.h"

/* The queues hand over buffers themselves, so this framework has nothing to choose. */
static void device_run(void *private)
{
}

static const struct v4l2_m2m_ops m2m_ops = { .device_run = device_run };

static int querycap(struct file *file, void *private, struct v4l2_capability *capability)
{
	strscpy(capability->driver, DRIVER_NAME, sizeof(capability->driver));
	strscpy(capability->card, video_devdata(file)->name, sizeof(capability->card));
	strscpy(capability->bus_info, "platform:" DRIVER_NAME, sizeof(capability->bus_info));
	return 0;
}

static int try_encoder_cmd(struct file *file, void *private, struct v4l2_encoder_cmd *command)
{
	/* The Pi's driver leaves flags unchanged. */
	if (other_maker)
		return v4l2_m2m_ioctl_try_encoder_cmd(file, private, command);
	return command->cmd == V4L2_ENC_CMD_STOP || command->cmd == V4L2_ENC_CMD_START ? 0 : -EINVAL;
}

static int encoder_cmd(struct file *file, void *private, struct v4l2_encoder_cmd *command)
{
	struct context *ctx = context_of(file);
	int result = try_encoder_cmd(file, private, command);

	if (result)
		return result;
	if (command->cmd == V4L2_ENC_CMD_STOP)
		firmware_finish(ctx);
	else if (other_maker)
		vb2_clear_last_buffer_dequeued(&ctx->fh.m2m_ctx->cap_q_ctx.q);
	return 0;
}

static int subscribe_event(struct v4l2_fh *fh, const struct v4l2_event_subscription *subscription)
{
	if (subscription->type == V4L2_EVENT_EOS)
		return v4l2_event_subscribe(fh, subscription, 0, NULL);
	return v4l2_ctrl_subscribe_event(fh, subscription);
}

static struct v4l2_ioctl_ops ioctl_ops = {
	.vidioc_querycap = querycap,
	.vidioc_reqbufs = request_buffers,
	.vidioc_create_bufs = v4l2_m2m_ioctl_create_bufs,
	.vidioc_prepare_buf = v4l2_m2m_ioctl_prepare_buf,
	.vidioc_querybuf = v4l2_m2m_ioctl_querybuf,
	.vidioc_qbuf = v4l2_m2m_ioctl_qbuf,
	.vidioc_dqbuf = v4l2_m2m_ioctl_dqbuf,
	.vidioc_expbuf = v4l2_m2m_ioctl_expbuf,
	.vidioc_streamon = v4l2_m2m_ioctl_streamon,
	.vidioc_streamoff = v4l2_m2m_ioctl_streamoff,
	.vidioc_try_encoder_cmd = try_encoder_cmd,
	.vidioc_encoder_cmd = encoder_cmd,
	.vidioc_subscribe_event = subscribe_event,
	.vidioc_unsubscribe_event = v4l2_event_unsubscribe,
};

/* Like every other call, it waits for a slow one. */
static int open(struct file *file)
{
	struct encoder *encoder = video_drvdata(file);
	struct context *ctx;
	int result;

	hang_while(&faults.hang_open);
	if (mutex_lock_interruptible(&encoder->lock))
		return -ERESTARTSYS;
	result = -ENOMEM;
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		goto unlock;
	v4l2_fh_init(&ctx->fh, video_devdata(file));
	file->private_data = &ctx->fh;
	ctx->encoder = encoder;
	result = firmware_init(ctx);
	if (result)
		goto free;
	init_formats(ctx);
	result = init_controls(ctx);
	if (result)
		goto failed;
	ctx->fh.ctrl_handler = &ctx->controls;
	ctx->fh.m2m_ctx = v4l2_m2m_ctx_init(encoder->m2m, ctx, init_queues);
	if (IS_ERR(ctx->fh.m2m_ctx)) {
		result = PTR_ERR(ctx->fh.m2m_ctx);
		goto failed;
	}
	v4l2_fh_add(&ctx->fh);
	goto unlock;
failed:
	v4l2_ctrl_handler_free(&ctx->controls);
	firmware_release(ctx);
free:
	v4l2_fh_exit(&ctx->fh);
	kfree(ctx);
unlock:
	mutex_unlock(&encoder->lock);
	return result;
}

static int release(struct file *file)
{
	struct context *ctx = context_of(file);

	hang_while(&faults.hang_release);
	v4l2_fh_del(&ctx->fh);
	mutex_lock(&ctx->encoder->lock);
	v4l2_m2m_ctx_release(ctx->fh.m2m_ctx);
	component_destroy(ctx);
	mutex_unlock(&ctx->encoder->lock);
	firmware_release(ctx);
	v4l2_ctrl_handler_free(&ctx->controls);
	v4l2_fh_exit(&ctx->fh);
	kfree(ctx);
	return 0;
}

static const struct v4l2_file_operations file_ops = {
	.owner = THIS_MODULE,
	.open = open,
	.release = release,
	.poll = v4l2_m2m_fop_poll,
	.unlocked_ioctl = video_ioctl2,
	.mmap = v4l2_m2m_fop_mmap,
};

/* The driver, and its registered devices. */
struct codec {
	struct media_device media;
	struct encoder encoders[ROLE_COUNT];
};

static void limit_calls(struct video_device *node, u32 function)
{
	if (function == MEDIA_ENT_F_PROC_VIDEO_DECODER) {
		v4l2_disable_ioctl(node, VIDIOC_ENCODER_CMD);
		v4l2_disable_ioctl(node, VIDIOC_TRY_ENCODER_CMD);
	}
	if (function != MEDIA_ENT_F_PROC_VIDEO_ENCODER) {
		v4l2_disable_ioctl(node, VIDIOC_S_PARM);
		v4l2_disable_ioctl(node, VIDIOC_G_PARM);
	}
}

static int register_node(struct encoder *encoder)
{
	const struct role *role = encoder->role;
	struct video_device *node = &encoder->node;

	strscpy(node->name, other_maker ? OTHER_NAME : role->name, sizeof(node->name));
	node->vfl_dir = VFL_DIR_M2M;
	node->fops = &file_ops;
	node->ioctl_ops = &ioctl_ops;
	node->release = video_device_release_empty;
	node->lock = &encoder->lock;
	node->v4l2_dev = &encoder->v4l2;
	node->device_caps = V4L2_CAP_STREAMING;
	node->device_caps |= other_maker ? V4L2_CAP_VIDEO_M2M : V4L2_CAP_VIDEO_M2M_MPLANE;
	video_set_drvdata(node, encoder);
	limit_calls(node, role->function);
	return video_register_device(node, VFL_TYPE_VIDEO, other_maker ? -1 : role->number);
}

static int add_encoder(struct codec *codec, struct encoder *encoder, struct device *device, const struct role *role)
{
	int result;

	mutex_init(&encoder->lock);
	if (!other_maker)
		encoder->v4l2.mdev = &codec->media;
	result = v4l2_device_register(device, &encoder->v4l2);
	if (result)
		return result;
	encoder->m2m = v4l2_m2m_init(&m2m_ops);
	if (IS_ERR(encoder->m2m)) {
		result = PTR_ERR(encoder->m2m);
		goto unregister_device;
	}
	encoder->role = role;
	result = register_node(encoder);
	if (result)
		goto release_m2m;
	if (!other_maker)
		result = v4l2_m2m_register_media_controller(encoder->m2m, &encoder->node, role->function);
	if (!result)
		return 0;
	video_unregister_device(&encoder->node);
release_m2m:
	v4l2_m2m_release(encoder->m2m);
unregister_device:
	v4l2_device_unregister(&encoder->v4l2);
	encoder->role = NULL;
	return result;
}

/* Programs that have it open get only errors from then on. */
static void remove_node(struct encoder *encoder)
{
	if (!video_is_registered(&encoder->node))
		return;
	if (!other_maker)
		v4l2_m2m_unregister_media_controller(encoder->m2m);
	video_unregister_device(&encoder->node);
}

static void remove_encoders(struct codec *codec)
{
	struct encoder *encoder;

	for (encoder = codec->encoders; encoder < codec->encoders + ROLE_COUNT; encoder++) {
		if (!encoder->role)
			continue;
		remove_node(encoder);
		v4l2_m2m_release(encoder->m2m);
		v4l2_device_unregister(&encoder->v4l2);
	}
}

static DEFINE_MUTEX(present_lock);
/* The loaded module's driver. */
static struct codec *present;

static void set_present(struct codec *codec)
{
	mutex_lock(&present_lock);
	present = codec;
	mutex_unlock(&present_lock);
}

/* Any value removes the scaler's node, as if its driver were unbound. It returns when the module is reloaded. */
static int remove_scaler(const char *value, const struct kernel_param *parameter)
{
	struct encoder *encoder;
	int result = -ENODEV;

	mutex_lock(&present_lock);
	encoder = present ? &present->encoders[SCALER_ROLE] : NULL;
	if (encoder && encoder->role) {
		remove_node(encoder);
		result = 0;
	}
	mutex_unlock(&present_lock);
	return result;
}
static const struct kernel_param_ops remove_scaler_ops = { .set = remove_scaler };
module_param_cb(remove_scaler, &remove_scaler_ops, NULL, 0200);
MODULE_PARM_DESC(remove_scaler, "write-only: takes the scaler's node away until the module is loaded again");

static int probe(struct platform_device *device)
{
	struct codec *codec = devm_kzalloc(&device->dev, sizeof(*codec), GFP_KERNEL);
	int i, result;

	if (!codec)
		return -ENOMEM;
	/* The VideoCore's address range; it reads and writes contiguous memory only. */
	result = dma_set_mask_and_coherent(&device->dev, DMA_BIT_MASK(32));
	if (result)
		return result;
	vb2_dma_contig_set_max_seg_size(&device->dev, DMA_BIT_MASK(32));
	platform_set_drvdata(device, codec);
	codec->media.dev = &device->dev;
	strscpy(codec->media.model, DRIVER_NAME, sizeof(codec->media.model));
	strscpy(codec->media.serial, "0000", sizeof(codec->media.serial));
	strscpy(codec->media.bus_info, "platform:" DRIVER_NAME, sizeof(codec->media.bus_info));
	codec->media.hw_revision = 1;
	media_device_init(&codec->media);
	/* Another maker's encoder has only one node. */
	for (i = 0; i < ROLE_COUNT && !result; i++)
		if (!other_maker || i == ENCODER_ROLE)
			result = add_encoder(codec, &codec->encoders[i], &device->dev, &roles[i]);
	if (!result && !other_maker)
		result = media_device_register(&codec->media);
	if (result) {
		remove_encoders(codec);
		media_device_cleanup(&codec->media);
		return result;
	}
	set_present(codec);
	return 0;
}

static void remove(struct platform_device *device)
{
	struct codec *codec = platform_get_drvdata(device);

	set_present(NULL);
	if (!other_maker)
		media_device_unregister(&codec->media);
	remove_encoders(codec);
	media_device_cleanup(&codec->media);
}

static struct platform_driver driver = {
	.probe = probe,
	.remove = remove,
	.driver = { .name = DRIVER_NAME },
};
static struct platform_device *device;

static int __init init(void)
{
	int result;

	choose_format_calls(&ioctl_ops);
	/* The error of other encoders without memory. */
	if (other_maker)
		faults.memory_errno = ENOMEM;
	result = platform_driver_register(&driver);
	if (result)
		return result;
	device = platform_device_register_simple(DRIVER_NAME, PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(device)) {
		platform_driver_unregister(&driver);
		return PTR_ERR(device);
	}
	return 0;
}

static void __exit finish(void)
{
	platform_device_unregister(device);
	platform_driver_unregister(&driver);
}

module_init(init);
module_exit(finish);
MODULE_DESCRIPTION("Virtual H.264 encoder with the Raspberry Pi's interface and faults");
MODULE_LICENSE("GPL");
