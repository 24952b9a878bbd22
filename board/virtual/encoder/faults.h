/* SPDX-License-Identifier: GPL-2.0 */
/* The tests' parameters: faults, which can be changed at any time, and values that are set once on loading. */
#ifndef VIRTUAL_H264_FAULTS_H
#define VIRTUAL_H264_FAULTS_H

#include <linux/atomic.h>
#include <linux/types.h>

/* Those that count frames count them since the encoder was started. */
#define FOR_EACH_FAULT(FAULT)                                                                                     \
	FAULT(frame_ms, "a frame takes so long in the encoder; its input comes back before its output")         \
	FAULT(skip_every, "skip every n-th frame: its input comes back, no output, no word")                      \
	FAULT(skip_pattern, "bits, lowest first, over skip_period frames: those that are skipped")                \
	FAULT(skip_period, "how many bits of skip_pattern count, up to 32")                                       \
	FAULT(error_every, "every n-th output is marked as an error")                                             \
	FAULT(headers_every, "every n-th frame is replaced by SPS and PPS alone")                                 \
	FAULT(buffer_bytes, "the size of output buffers; a frame that is larger comes in several")                \
	FAULT(stall_after, "take inputs and give nothing, not even them, from the n-th frame on")                 \
	FAULT(swallow_after, "return inputs and nothing else, from the n-th frame on")                            \
	FAULT(stall_until_key, "a stall ends when a keyframe is asked for")                                      \
	FAULT(stop_ms, "how long stopping either queue takes after a stall: the Pi's driver waits 2 s")           \
	FAULT(silent, "the firmware answers nothing: calls wait 3 s for each message, 2 s for buffers, and fail") \
	FAULT(no_component, "the firmware has no component to give: asking for buffers fails with EINVAL")        \
	FAULT(stream_errno, "starting fails with this number: the Pi's EPERM, ENOENT or ESRCH, 1 to 3")           \
	FAULT(endless_drain, "a drain never ends")                                                                \
	FAULT(busy_format, "setting a format fails with EBUSY")                                                   \
	FAULT(fail_buffers, "asking for buffers fails with ENOMEM")                                               \
	FAULT(memory_kb, "what an opening may take in all; more fails by memory_errno")                           \
	FAULT(memory_errno, "1: starting fails with EPERM; 22, 12: asking for buffers with EINVAL, ENOMEM")       \
	FAULT(hang_open, "opening the node does not return while this is set")                                    \
	FAULT(hang_buffers, "asking for buffers does not return while this is set")                               \
	FAULT(hang_release, "closing the node does not return while this is set")                                 \
	FAULT(slow_bitrate, "a change of bit rate while streaming takes 3 s and fails with EINVAL")               \
	FAULT(lossless, "copy the samples (I_PCM)")                                                               \
	FAULT(least_width, "the encoder makes narrower frames this wide, by its crop neither less")                \
	FAULT(rounds_down, "another maker's encoder makes whole macroblocks of its inputs' sides by cutting, not adding")  \
	FAULT(scaler_limit, "the scaler makes larger sides of its outputs this long")                             \
	FAULT(scaler_stall_after, "the scaler takes inputs and gives nothing, from the n-th frame on")

struct faults {
#define FAULT(name, text) uint name;
	FOR_EACH_FAULT(FAULT)
#undef FAULT
	int stall_opens;
};

extern struct faults faults;

/* Another maker's encoder, as different from the Pi's as the interface for such encoders allows. */
extern bool other_maker;
/* Buffers need not be contiguous. */
extern bool any_memory;

/* How many times buffers were requested. */
extern atomic_t openings;

/* Imitates firmware that does not answer: the caller returns only when the process or the fault ends. */
void hang_while(const uint *fault);

#endif
