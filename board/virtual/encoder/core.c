// SPDX-License-Identifier: GPL-2.0
/* The module, its node, and what opening and closing it does. */

#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <media/v4l2-event.h>
#include <media/videobuf2-dma-contig.h>

#include "encoder.h"

/* The queues hand buffers over themselves: this framework has nothing to choose. */
static void device_run(void *private)
{
}

static const struct v4l2_m2m_ops m2m_ops = { .device_run = device_run };

static int querycap(struct file *file, void *private, struct v4l2_capability *capability)
{
	strscpy(capability->driver, DRIVER_NAME, sizeof(capability->driver));
	strscpy(capability->card, other_maker ? OTHER_NAME : NODE_NAME, sizeof(capability->card));
	strscpy(capability->bus_info, "platform:" DRIVER_NAME, sizeof(capability->bus_info));
	return 0;
}

static int encoder_cmd(struct file *file, void *private, struct v4l2_encoder_cmd *command)
{
	struct context *ctx = context_of(file);
	int result = v4l2_m2m_ioctl_try_encoder_cmd(file, private, command);

	if (result)
		return result;
	if (command->cmd == V4L2_ENC_CMD_STOP)
		firmware_finish(ctx);
	else
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
	.vidioc_try_encoder_cmd = v4l2_m2m_ioctl_try_encoder_cmd,
	.vidioc_encoder_cmd = encoder_cmd,
	.vidioc_subscribe_event = subscribe_event,
	.vidioc_unsubscribe_event = v4l2_event_unsubscribe,
};

static int open(struct file *file)
{
	struct encoder *encoder = video_drvdata(file);
	struct context *ctx;
	int result;

	hang_while(&faults.hang_open);
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;
	v4l2_fh_init(&ctx->fh, video_devdata(file));
	file->private_data = &ctx->fh;
	ctx->encoder = encoder;
	firmware_init(ctx);
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
	return 0;
failed:
	v4l2_ctrl_handler_free(&ctx->controls);
	v4l2_fh_exit(&ctx->fh);
	kfree(ctx);
	return result;
}

static int release(struct file *file)
{
	struct context *ctx = context_of(file);

	hang_while(&faults.hang_release);
	v4l2_fh_del(&ctx->fh);
	mutex_lock(&ctx->encoder->lock);
	v4l2_m2m_ctx_release(ctx->fh.m2m_ctx);
	mutex_unlock(&ctx->encoder->lock);
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

static int probe(struct platform_device *device)
{
	struct encoder *encoder = devm_kzalloc(&device->dev, sizeof(*encoder), GFP_KERNEL);
	int result;

	if (!encoder)
		return -ENOMEM;
	/* All that the VideoCore reaches; it reads and writes contiguous memory only. */
	result = dma_set_mask_and_coherent(&device->dev, DMA_BIT_MASK(32));
	if (result)
		return result;
	vb2_dma_contig_set_max_seg_size(&device->dev, DMA_BIT_MASK(32));
	platform_set_drvdata(device, encoder);
	mutex_init(&encoder->lock);
	result = v4l2_device_register(&device->dev, &encoder->v4l2);
	if (result)
		return result;
	encoder->m2m = v4l2_m2m_init(&m2m_ops);
	if (IS_ERR(encoder->m2m)) {
		result = PTR_ERR(encoder->m2m);
		goto unregister;
	}
	strscpy(encoder->node.name, other_maker ? OTHER_NAME : NODE_NAME, sizeof(encoder->node.name));
	encoder->node.vfl_dir = VFL_DIR_M2M;
	encoder->node.fops = &file_ops;
	encoder->node.ioctl_ops = &ioctl_ops;
	encoder->node.release = video_device_release_empty;
	encoder->node.lock = &encoder->lock;
	encoder->node.v4l2_dev = &encoder->v4l2;
	encoder->node.device_caps = V4L2_CAP_STREAMING;
	encoder->node.device_caps |= other_maker ? V4L2_CAP_VIDEO_M2M : V4L2_CAP_VIDEO_M2M_MPLANE;
	video_set_drvdata(&encoder->node, encoder);
	result = video_register_device(&encoder->node, VFL_TYPE_VIDEO, other_maker ? -1 : NODE_NUMBER);
	if (!result)
		return 0;
	v4l2_m2m_release(encoder->m2m);
unregister:
	v4l2_device_unregister(&encoder->v4l2);
	return result;
}

static void remove(struct platform_device *device)
{
	struct encoder *encoder = platform_get_drvdata(device);

	video_unregister_device(&encoder->node);
	v4l2_m2m_release(encoder->m2m);
	v4l2_device_unregister(&encoder->v4l2);
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
