/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A V4L2 stateful H.264 encoder with the interface of the Raspberry Pi's
 * (bcm2835-codec), and with the Pi's faults as module parameters.
 */
#ifndef VIRTUAL_H264_ENCODER_H
#define VIRTUAL_H264_ENCODER_H

#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <media/v4l2-ctrls.h>
#include <media/v4l2-device.h>
#include <media/v4l2-fh.h>
#include <media/v4l2-ioctl.h>
#include <media/v4l2-mem2mem.h>

#include "bitstream.h"
#include "faults.h"

#define DRIVER_NAME "bcm2835-codec"
#define OTHER_NAME "other-h264-encoder"

/* The layout of samples; the step from one to the next is 0 where this encoder cannot code them. */
struct sample_layout {
	u8 luma_step, luma_at, chroma_step;
	bool is_swapped;
};

struct pixel_format {
	u32 fourcc;
	bool is_coded;
	/* Bits of a sample in the first plane; the alignment of lines; the total in half planes of that size. */
	u8 depth, alignment, halves;
	struct sample_layout layout;
};

struct format_list {
	const struct pixel_format *formats;
	u32 count;
};

struct context;

/* The firmware's work on a frame. */
struct processing {
	bool (*can_start)(const struct context *ctx);
	int (*start)(struct context *ctx);
	void (*stop)(struct context *ctx);
	/* Reads the frame's input, and leaves the result in the assembly. */
	void (*run)(struct context *ctx);
};

/* The role of a node of the driver; nodes without processing do nothing. */
struct role {
	const char *name;
	int number;
	u32 function;
	struct format_list in, out;
	/* Heights are multiples of it. */
	u32 lines;
	const struct processing *processing;
};

/* roles.c */
#define ROLE_COUNT 5
#define ENCODER_ROLE 1
#define SCALER_ROLE 2
extern const struct role roles[ROLE_COUNT];

#define SLOT_COUNT 8

/* A component's slot. A previous user may have left it enabled. */
struct slot {
	bool is_used, is_enabled;
};

struct encoder {
	const struct role *role;
	struct v4l2_device v4l2;
	struct video_device node;
	struct v4l2_m2m_dev *m2m;
	/* Held by every call of the node. */
	struct mutex lock;
	struct slot slots[SLOT_COUNT];
};

/* vb2's part of a buffer, and the driver's own two holds on imported memory. */
struct encoder_buffer {
	struct v4l2_m2m_buffer m2m;
	struct dma_buf *imported;
};

/* The frame that the firmware works on. */
struct work_frame {
	bool is_active;
	/* Until it has been read. */
	struct vb2_v4l2_buffer *input;
	/* The input's metadata, for the outputs. */
	struct vb2_v4l2_buffer metadata;
	/* Neither skipped nor swallowed. */
	bool gives_output;
	bool is_key, is_broken, is_coded;
	/* The times at which it has been read, and coded. */
	ktime_t read, coded;
	/* Bytes in the assembly: SPS and PPS, all, and those already delivered. */
	int header_bytes, bytes, given;
};

/* The format of a queue. */
struct side {
	const struct pixel_format *format;
	u32 width, height, stride, size;
};

/* The state of an open file descriptor. */
struct context {
	struct v4l2_fh fh;
	struct encoder *encoder;
	struct v4l2_ctrl_handler controls;
	struct v4l2_ctrl *gop_size;

	struct side in, out;
	/* The crop of the inputs. */
	u32 crop_width, crop_height;
	bool has_crop;
	u32 colorspace, xfer_func, ycbcr_enc, quantization;
	struct v4l2_fract interval;

	/* The driver's component: from the first buffers on; whether the driver considers it enabled; whether it is not. */
	struct slot *slot;
	bool is_enabled, is_deaf;

	/* Set by the controls; the firmware reads them without a lock. */
	u32 bitrate, key_period;
	bool repeats_headers, key_wanted;

	/* The firmware's unreleased buffers, in order, under its lock. */
	spinlock_t firmware_lock;
	struct list_head inputs, outputs;
	/* Inputs that a stalled encoder holds until streaming stops. */
	struct list_head held;
	/* An entry in `inputs`: those before it were queued before the stream's end was requested. */
	struct v4l2_m2m_buffer end;
	bool input_runs, output_runs;

	/*
	 * The firmware's other state belongs to its work alone while both queues run. The kernel promises that for any queue,
	 * but with a system queue, two processors were seen in one work, presumably because of the emulation. This queue is
	 * ordered: it runs one work at a time.
	 */
	struct workqueue_struct *worker;
	struct delayed_work work;
	struct work_frame frame;
	/* When the previous frame was coded. */
	ktime_t free_since;
	struct h264_coder coder;
	u8 *assembly;
	size_t assembly_size;
	/* The scaler's: the samples that each column of an output covers. */
	struct span *columns;
	u32 input_sequence, output_sequence;
	u32 frames, since_key;
	bool headers_due, stalled, has_stalled;
};

static inline struct context *context_of(struct file *file)
{
	return container_of(file->private_data, struct context, fh);
}

/* Faults and times of frames apply to the encoder, except those named after the scaler. */
static inline bool encodes(const struct context *ctx)
{
	return ctx->encoder->role == &roles[ENCODER_ROLE];
}

static inline u32 frames_per_second(const struct context *ctx)
{
	return max(1u, ctx->interval.denominator / max(1u, ctx->interval.numerator));
}

static inline bool is_due(uint every, u32 number)
{
	return every && number % every == 0;
}

/* component.c: how the calls of the driver end. */
int component_create(struct context *ctx);
int component_start(struct context *ctx, bool is_input);
/* Returns every buffer of the queue. */
void component_stop(struct context *ctx, bool is_input);
void component_destroy(struct context *ctx);
/* Whether a message to the component, if there is one, is answered; takes the driver's timeout if not. */
bool component_answers(const struct context *ctx);

/* firmware.c: takes buffers from the queues and returns them, in its own time. */
int firmware_init(struct context *ctx);
void firmware_release(struct context *ctx);
/* The queue of inputs, or of outputs, starts; the second one starts the encoder. */
int firmware_start(struct context *ctx, bool is_input);
/* Until the queue starts again, buffers are released only by flushing. */
void firmware_halt(struct context *ctx, bool is_input);
bool firmware_has_buffers(struct context *ctx, bool is_input);
void firmware_flush(struct context *ctx, bool is_input);
void firmware_return_all(struct context *ctx, bool is_input, enum vb2_buffer_state state);
void firmware_take(struct context *ctx, struct vb2_v4l2_buffer *buffer, bool is_input);
/* All queued inputs are encoded, and LAST follows. */
void firmware_finish(struct context *ctx);
void firmware_wake(struct context *ctx);

/* coder.c: from an input to H.264. */
extern const struct processing coder;

/* scaler.c: from an input to one of another size. */
extern const struct processing scaler;

/* queues.c */
int init_queues(void *private, struct vb2_queue *input, struct vb2_queue *output);
int request_buffers(struct file *file, void *private, struct v4l2_requestbuffers *request);

/* formats.c */
void init_formats(struct context *ctx);
/* Locates the samples of a frame that starts at `base`. */
void locate_samples(const struct side *side, const u8 *base, struct h264_frame *frame);
/* The calls about formats, whose form depends on the maker. */
void choose_format_calls(struct v4l2_ioctl_ops *calls);

/* controls.c */
int init_controls(struct context *ctx);

#endif
