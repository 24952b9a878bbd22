/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A camera of a Raspberry Pi as its kernel shows it to libcamera: a receiver (unicam) with a camera module behind it, an image
 * signal processor (bcm2835-isp), and a heap of contiguous memory.
 */
#ifndef VIRTUAL_PI_CAMERA_CAMERA_H
#define VIRTUAL_PI_CAMERA_CAMERA_H

#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <media/media-device.h>
#include <media/v4l2-device.h>
#include <media/videobuf2-v4l2.h>

#include "sensor.h"

#define UNICAM_NAME "unicam"

struct camera_buffer {
	struct vb2_v4l2_buffer vb;
	struct list_head list;
};

static inline struct camera_buffer *camera_buffer_of(struct vb2_buffer *buffer)
{
	return container_of(to_vb2_v4l2_buffer(buffer), struct camera_buffer, vb);
}

/* One of the receiver's nodes: the image's or the embedded data's. */
struct receiver_node {
	struct video_device video;
	struct media_pad pad;
	struct vb2_queue queue;
	struct receiver *receiver;
	/* Under the receiver's lock. */
	struct list_head buffers;
	/* The image's. */
	struct v4l2_pix_format format;
	bool is_streaming;
};

struct receiver {
	struct sensor *sensor;
	/* The lock of both nodes. */
	struct mutex lock;
	spinlock_t buffers_lock;
	struct receiver_node image, embedded;
	struct task_struct *task;
	u32 sequence;
};

int receiver_register(struct receiver *receiver, struct sensor *sensor, struct v4l2_device *v4l2);
void receiver_unregister(struct receiver *receiver);
void receiver_choose_formats(struct receiver *receiver);
extern const struct v4l2_ioctl_ops receiver_image_calls, receiver_embedded_calls;

/* The embedded data of a frame; returns its bytes. */
u32 embedded_fill(const struct frame_record *record, u8 *bytes, u32 size);

int heap_register(void);
void heap_unregister(void);

/* The image signal processors. */
int isp_drivers_register(void);
void isp_drivers_unregister(void);

/* The calls that every queue's node has; `querycap` is the file's own. */
#define CAMERA_QUEUE_CALLS                                \
	.vidioc_querycap = querycap,                      \
	.vidioc_reqbufs = vb2_ioctl_reqbufs,              \
	.vidioc_create_bufs = vb2_ioctl_create_bufs,      \
	.vidioc_prepare_buf = vb2_ioctl_prepare_buf,      \
	.vidioc_querybuf = vb2_ioctl_querybuf,            \
	.vidioc_qbuf = vb2_ioctl_qbuf,                    \
	.vidioc_dqbuf = vb2_ioctl_dqbuf,                  \
	.vidioc_expbuf = vb2_ioctl_expbuf,                \
	.vidioc_streamon = vb2_ioctl_streamon,            \
	.vidioc_streamoff = vb2_ioctl_streamoff,          \
	.vidioc_unsubscribe_event = v4l2_event_unsubscribe

#endif
