// SPDX-License-Identifier: GPL-2.0
/* The receiver: it waits for the sensor's frames, and writes them to the queued buffers. */

#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <media/v4l2-event.h>
#include <media/v4l2-ioctl.h>
#include <media/videobuf2-vmalloc.h>

#include "camera.h"
#include "faults.h"

/* Frames. */

static void sleep_until(ktime_t time)
{
	while (!kthread_should_stop() && ktime_before(ktime_get(), time)) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule_hrtimeout(&time, HRTIMER_MODE_ABS);
		__set_current_state(TASK_RUNNING);
	}
}

static struct camera_buffer *take_buffer(struct receiver *receiver, struct receiver_node *node)
{
	struct camera_buffer *buffer;

	spin_lock(&receiver->buffers_lock);
	buffer = list_first_entry_or_null(&node->buffers, struct camera_buffer, list);
	if (buffer)
		list_del(&buffer->list);
	spin_unlock(&receiver->buffers_lock);
	return buffer;
}

static void put_back(struct receiver *receiver, struct receiver_node *node, struct camera_buffer *buffer)
{
	spin_lock(&receiver->buffers_lock);
	list_add(&buffer->list, &node->buffers);
	spin_unlock(&receiver->buffers_lock);
}

static void give(struct receiver *receiver, struct camera_buffer *buffer, ktime_t start, u32 bytes)
{
	buffer->vb.sequence = receiver->sequence;
	buffer->vb.field = V4L2_FIELD_NONE;
	buffer->vb.vb2_buf.timestamp = ktime_to_ns(start);
	vb2_set_plane_payload(&buffer->vb.vb2_buf, 0, bytes);
	vb2_buffer_done(&buffer->vb.vb2_buf, VB2_BUF_STATE_DONE);
}

static void give_embedded(struct receiver *receiver, const struct frame_record *record, ktime_t start)
{
	struct camera_buffer *buffer = faults.no_embedded ? NULL : take_buffer(receiver, &receiver->embedded);
	void *memory = buffer ? vb2_plane_vaddr(&buffer->vb.vb2_buf, 0) : NULL;

	if (memory)
		give(receiver, buffer, start, embedded_fill(record, memory, EMBEDDED_BYTES));
	else if (buffer)
		put_back(receiver, &receiver->embedded, buffer);
}

static void give_image(struct receiver *receiver, struct frame_record *record, ktime_t start)
{
	struct camera_buffer *buffer = take_buffer(receiver, &receiver->image);
	void *memory = buffer ? vb2_plane_vaddr(&buffer->vb.vb2_buf, 0) : NULL;

	record->sequence = receiver->sequence;
	if (memory) {
		memcpy(memory, record, sizeof(*record));
		give(receiver, buffer, start, receiver->image.format.sizeimage);
	} else if (buffer) {
		put_back(receiver, &receiver->image, buffer);
	}
}

static bool is_lost(u32 sequence)
{
	u32 every = READ_ONCE(faults.skip_every);

	return every && sequence % every == every - 1;
}

static void announce(struct receiver *receiver)
{
	const struct v4l2_event event = {
		.type = V4L2_EVENT_FRAME_SYNC,
		.u.frame_sync.frame_sequence = receiver->sequence,
	};

	v4l2_event_queue(&receiver->image.video, &event);
}

static int receive(void *data)
{
	struct receiver *receiver = data;
	const struct sensor_mode *mode = receiver->sensor->mode;
	ktime_t start = ktime_get();

	while (!kthread_should_stop()) {
		struct frame_record record;
		bool is_silent = READ_ONCE(faults.silent), is_missing = is_silent || is_lost(receiver->sequence);

		sensor_start_frame(receiver->sensor, &record);
		if (!is_silent)
			announce(receiver);
		sleep_until(ktime_add_ns(start, lines_to_ns(&record, mode->height)));
		if (kthread_should_stop())
			break;
		if (!is_missing) {
			give_embedded(receiver, &record, start);
			give_image(receiver, &record, start);
		}
		receiver->sequence++;
		start = ktime_add_ns(start, lines_to_ns(&record, record.frame_lines));
		sleep_until(start);
		/* A busy emulator cannot make up for lost time: the sensor is late, too. */
		if (ktime_after(ktime_get(), ktime_add_ms(start, 5)))
			start = ktime_get();
	}
	return 0;
}

/* Queues. */

static struct receiver_node *node_of(struct vb2_queue *queue)
{
	return vb2_get_drv_priv(queue);
}

static bool is_image(const struct receiver_node *node)
{
	return node == &node->receiver->image;
}

static u32 node_size(const struct receiver_node *node)
{
	return is_image(node) ? node->format.sizeimage : EMBEDDED_BYTES;
}

static int queue_setup(struct vb2_queue *queue, unsigned int *buffers, unsigned int *planes, unsigned int sizes[],
		       struct device *devices[])
{
	u32 size = node_size(node_of(queue));

	if (*planes)
		return sizes[0] < size ? -EINVAL : 0;
	*planes = 1;
	sizes[0] = size;
	return 0;
}

static int buf_prepare(struct vb2_buffer *buffer)
{
	u32 size = node_size(node_of(buffer->vb2_queue));

	if (vb2_plane_size(buffer, 0) < size)
		return -EINVAL;
	vb2_set_plane_payload(buffer, 0, size);
	return 0;
}

static void buf_queue(struct vb2_buffer *buffer)
{
	struct receiver_node *node = node_of(buffer->vb2_queue);

	spin_lock(&node->receiver->buffers_lock);
	list_add_tail(&camera_buffer_of(buffer)->list, &node->buffers);
	spin_unlock(&node->receiver->buffers_lock);
}

static void return_buffers(struct receiver_node *node, enum vb2_buffer_state state)
{
	struct camera_buffer *buffer;

	while ((buffer = take_buffer(node->receiver, node)))
		vb2_buffer_done(&buffer->vb.vb2_buf, state);
}

/* The sensor's format must match the node's. */
static bool matches_sensor(const struct receiver *receiver)
{
	const struct v4l2_pix_format *format = &receiver->image.format;

	return format->width == receiver->sensor->mode->width && format->height == receiver->sensor->mode->height;
}

static int start_receiving(struct receiver *receiver)
{
	struct task_struct *task;
	int result = sensor_start(receiver->sensor);

	if (result)
		return result;
	receiver->sequence = 0;
	task = kthread_run(receive, receiver, "unicam");
	if (IS_ERR(task)) {
		sensor_stop(receiver->sensor);
		return PTR_ERR(task);
	}
	receiver->task = task;
	return 0;
}

static void stop_receiving(struct receiver *receiver)
{
	if (!receiver->task)
		return;
	kthread_stop(receiver->task);
	receiver->task = NULL;
	sensor_stop(receiver->sensor);
}

/* It starts when every node with buffers does. */
static bool is_complete(struct receiver *receiver)
{
	return receiver->image.is_streaming && (receiver->embedded.is_streaming || !vb2_is_busy(&receiver->embedded.queue));
}

static int start_streaming(struct vb2_queue *queue, unsigned int count)
{
	struct receiver_node *node = node_of(queue);
	int result = 0;

	if (is_image(node) && !matches_sensor(node->receiver))
		result = -EPIPE;
	node->is_streaming = !result;
	if (!result && is_complete(node->receiver) && !node->receiver->task)
		result = start_receiving(node->receiver);
	if (!result)
		return 0;
	node->is_streaming = false;
	return_buffers(node, VB2_BUF_STATE_QUEUED);
	return result;
}

static void stop_streaming(struct vb2_queue *queue)
{
	struct receiver_node *node = node_of(queue);

	stop_receiving(node->receiver);
	node->is_streaming = false;
	return_buffers(node, VB2_BUF_STATE_ERROR);
}

static const struct vb2_ops queue_ops = {
	.queue_setup = queue_setup,
	.buf_prepare = buf_prepare,
	.buf_queue = buf_queue,
	.start_streaming = start_streaming,
	.stop_streaming = stop_streaming,
	.wait_prepare = vb2_ops_wait_prepare,
	.wait_finish = vb2_ops_wait_finish,
};

/* Nodes. */

static const struct v4l2_file_operations file_ops = {
	.owner = THIS_MODULE,
	.open = v4l2_fh_open,
	.release = vb2_fop_release,
	.poll = vb2_fop_poll,
	.unlocked_ioctl = video_ioctl2,
	.mmap = vb2_fop_mmap,
};

static int init_queue(struct receiver_node *node)
{
	struct vb2_queue *queue = &node->queue;

	queue->type = is_image(node) ? V4L2_BUF_TYPE_VIDEO_CAPTURE : V4L2_BUF_TYPE_META_CAPTURE;
	queue->io_modes = VB2_MMAP | VB2_DMABUF;
	queue->drv_priv = node;
	queue->ops = &queue_ops;
	queue->buf_struct_size = sizeof(struct camera_buffer);
	/* Only the ISP reads it: it need not be contiguous, and a full frame of the sensor has 15 MB. */
	queue->mem_ops = &vb2_vmalloc_memops;
	queue->timestamp_flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_SOE;
	queue->lock = &node->receiver->lock;
	queue->min_queued_buffers = 1;
	return vb2_queue_init(queue);
}

static int add_node(struct receiver_node *node, struct v4l2_device *v4l2)
{
	struct receiver *receiver = node->receiver;
	struct video_device *video = &node->video;
	int result;

	result = init_queue(node);
	if (result)
		return result;
	strscpy(video->name, is_image(node) ? "unicam-image" : "unicam-embedded", sizeof(video->name));
	video->v4l2_dev = v4l2;
	video->fops = &file_ops;
	video->ioctl_ops = is_image(node) ? &receiver_image_calls : &receiver_embedded_calls;
	video->device_caps = V4L2_CAP_STREAMING | V4L2_CAP_IO_MC;
	video->device_caps |= is_image(node) ? V4L2_CAP_VIDEO_CAPTURE : V4L2_CAP_META_CAPTURE;
	video->release = video_device_release_empty;
	video->lock = &receiver->lock;
	video->queue = &node->queue;
	node->pad.flags = MEDIA_PAD_FL_SINK;
	result = media_entity_pads_init(&video->entity, 1, &node->pad);
	if (result)
		return result;
	result = video_register_device(video, VFL_TYPE_VIDEO, -1);
	if (result)
		return result;
	return media_create_pad_link(&receiver->sensor->subdev.entity, is_image(node) ? PAD_IMAGE : PAD_EMBEDDED,
				     &video->entity, 0, MEDIA_LNK_FL_ENABLED | MEDIA_LNK_FL_IMMUTABLE);
}

int receiver_register(struct receiver *receiver, struct sensor *sensor, struct v4l2_device *v4l2)
{
	int result;

	receiver->sensor = sensor;
	receiver->image.receiver = receiver;
	receiver->embedded.receiver = receiver;
	/* Without a node, there is never a buffer. */
	INIT_LIST_HEAD(&receiver->image.buffers);
	INIT_LIST_HEAD(&receiver->embedded.buffers);
	mutex_init(&receiver->lock);
	spin_lock_init(&receiver->buffers_lock);
	receiver_choose_formats(receiver);
	result = add_node(&receiver->image, v4l2);
	if (!result && sensor->mounting.has_embedded)
		result = add_node(&receiver->embedded, v4l2);
	if (result)
		receiver_unregister(receiver);
	return result;
}

void receiver_unregister(struct receiver *receiver)
{
	if (video_is_registered(&receiver->image.video))
		vb2_video_unregister_device(&receiver->image.video);
	if (video_is_registered(&receiver->embedded.video))
		vb2_video_unregister_device(&receiver->embedded.video);
}
