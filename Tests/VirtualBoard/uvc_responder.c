// A minimal camera for f_uvc: answers probe and commit with its one format, and streams numbered frames as fast as the bus takes
// them. It reports the host's actions on standard output, one per line.
//
//     uvc_responder NODE WIDTH HEIGHT PAYLOAD     YUYV; at most this many bytes in a packet
#include <errno.h>
#include <fcntl.h>
#include <linux/usb/g_uvc.h>
#include <linux/usb/video.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFERS = 4, INTERFACE_STREAMING = 1 };

static const char *path;
static int node;
static struct uvc_streaming_control answer;
static struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
static uint32_t *memory[BUFFERS];
static uint32_t number;
static int streams;

static void fail(const char *what) {
    fprintf(stderr, "uvc_responder: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void ask(unsigned long request, void *argument, const char *what) {
    if (ioctl(node, request, argument) < 0) fail(what);
}

static void subscribe(uint32_t type) {
    struct v4l2_event_subscription wanted = {.type = type};
    ask(VIDIOC_SUBSCRIBE_EVENT, &wanted, "subscribe");
}

// The function is on the bus as long as a program subscribes to its setups.
static void serve(void) {
    node = open(path, O_RDWR | O_NONBLOCK);
    if (node < 0) fail(path);
    for (uint32_t type = UVC_EVENT_CONNECT; type <= UVC_EVENT_DATA; type++) {
        if (type != UVC_EVENT_SETUP) subscribe(type);
    }
    subscribe(UVC_EVENT_SETUP);
}

static void respond(const struct usb_ctrlrequest *setup) {
    int selector = setup->wValue >> 8;
    struct uvc_request_data response = {.length = -1};
    int negotiates = selector == UVC_VS_PROBE_CONTROL || selector == UVC_VS_COMMIT_CONTROL;
    if ((setup->wIndex & 0xff) == INTERFACE_STREAMING && negotiates) {
        response.length = sizeof answer;
        memcpy(response.data, &answer, sizeof answer);
        if (setup->bRequest == UVC_GET_INFO) response.length = 1, response.data[0] = 3;
        if (setup->bRequest == UVC_GET_LEN) response.length = 2, response.data[0] = sizeof answer, response.data[1] = 0;
    }
    ask(UVCIOC_SEND_RESPONSE, &response, "response");
}

// Fills each frame with its number.
static void queue(struct v4l2_buffer *buffer) {
    uint32_t *pixels = memory[buffer->index];
    for (uint32_t index = 0; index < format.fmt.pix.sizeimage / sizeof *pixels; index++) pixels[index] = number;
    number++;
    buffer->bytesused = format.fmt.pix.sizeimage;
    // After a disconnection the queue accepts nothing until it is stopped, as an event will request.
    if (ioctl(node, VIDIOC_QBUF, buffer) < 0 && errno != ENODEV) fail("queue");
}

static void start(void) {
    struct v4l2_requestbuffers wanted = {.count = BUFFERS, .type = format.type, .memory = V4L2_MEMORY_MMAP};
    ask(VIDIOC_S_FMT, &format, "format");
    ask(VIDIOC_REQBUFS, &wanted, "buffers");
    for (uint32_t index = 0; index < BUFFERS; index++) {
        struct v4l2_buffer buffer = {.index = index, .type = format.type, .memory = V4L2_MEMORY_MMAP};
        ask(VIDIOC_QUERYBUF, &buffer, "query");
        memory[index] = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, node, buffer.m.offset);
        if (memory[index] == MAP_FAILED) fail("mmap");
        queue(&buffer);
    }
    ask(VIDIOC_STREAMON, &format.type, "start");
    streams = 1;
}

static void unmap(void) {
    for (int index = 0; index < BUFFERS; index++) munmap(memory[index], format.fmt.pix.sizeimage);
    streams = 0;
}

static void stop(void) {
    if (!streams) return;
    struct v4l2_requestbuffers none = {.type = format.type, .memory = V4L2_MEMORY_MMAP};
    ask(VIDIOC_STREAMOFF, &format.type, "stop");
    unmap();
    ask(VIDIOC_REQBUFS, &none, "release");
}

// STREAMOFF would answer the host, which is gone: the driver warns, and considers itself connected. Closing the node does
// neither.
static void disconnect(void) {
    if (!streams) return;
    unmap();
    close(node);
    serve();
}

static void take(const struct v4l2_event *event) {
    const struct uvc_event *what = (const void *)&event->u.data;
    switch (event->type) {
    case UVC_EVENT_CONNECT: printf("connect %d\n", what->speed); break;
    case UVC_EVENT_DISCONNECT: printf("disconnect\n"); disconnect(); break;
    case UVC_EVENT_STREAMON: printf("streamon\n"); start(); break;
    case UVC_EVENT_STREAMOFF: printf("streamoff\n"); stop(); break;
    case UVC_EVENT_SETUP: respond(&what->req); break;
    case UVC_EVENT_DATA: printf("data %d\n", what->data.length); break;
    }
    fflush(stdout);
}

int main(int count, char **words) {
    if (count != 5) return 2;
    path = words[1];
    format.fmt.pix.width = atoi(words[2]);
    format.fmt.pix.height = atoi(words[3]);
    format.fmt.pix.pixelformat = V4L2_PIX_FMT_YUYV;
    answer = (struct uvc_streaming_control){
        .bmHint = 1, .bFormatIndex = 1, .bFrameIndex = 1, .dwFrameInterval = 333333, .bmFramingInfo = 3, .bPreferedVersion = 1,
        .dwMaxVideoFrameSize = format.fmt.pix.width * format.fmt.pix.height * 2, .dwMaxPayloadTransferSize = atoi(words[4]),
        .dwClockFrequency = 48000000, .bMaxVersion = 1};
    serve();
    for (;;) {
        struct pollfd state = {.fd = node, .events = POLLPRI | (streams ? POLLOUT : 0)};
        if (poll(&state, 1, -1) < 0) fail("poll");
        struct v4l2_event event;
        while (ioctl(node, VIDIOC_DQEVENT, &event) == 0) take(&event);
        if (errno == ENODEV) return 0; // the gadget is being removed, and waits for this
        struct v4l2_buffer buffer = {.type = format.type, .memory = V4L2_MEMORY_MMAP};
        if (streams && ioctl(node, VIDIOC_DQBUF, &buffer) == 0 && !(buffer.flags & V4L2_BUF_FLAG_ERROR)) queue(&buffer);
    }
}
