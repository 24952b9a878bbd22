// libcamera behind functions of C. Requests are kept and handed on here, exceptions are caught; nothing is decided.
#ifndef CLIBCAMERA_H
#define CLIBCAMERA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Every function that can fail returns 0 or a negative error number; -EPROTO stands for an exception of C++.

// The one camera manager of a process. It must outlive its cameras. While one exists, starting another waits until
// that one is stopped.
typedef struct clibcamera_manager clibcamera_manager;
int clibcamera_manager_start(clibcamera_manager **manager);
void clibcamera_manager_stop(clibcamera_manager *manager);
// Keeps libcamera's log to itself, but for what it says before it aborts.
void clibcamera_be_quiet(void);

// How a sensor is read out: so many pixels of so many bits.
struct clibcamera_sensor_readout {
    uint32_t width, height, bit_depth;
};
// Code points of ITU-T H.273; all zero for what is not known.
struct clibcamera_colors {
    uint8_t primaries, transfer, matrix;
    bool is_full_range;
};
// A stream, as it is wanted or as it is.
struct clibcamera_format {
    uint32_t fourcc;
    uint64_t modifier;
    uint32_t width, height, stride, frame_size;
    uint32_t buffer_count;
    bool flips_horizontally, flips_vertically;
    // All zero for the camera's own choice.
    struct clibcamera_sensor_readout sensor;
    // What has become of the wish for BT.709 from 720 rows on, and BT.601 below.
    struct clibcamera_colors colors;
};

// A camera as the manager lists it.
typedef struct clibcamera_camera clibcamera_camera;
size_t clibcamera_camera_count(clibcamera_manager *manager);
// NULL when there is none of that index any more.
clibcamera_camera *clibcamera_camera_get(clibcamera_manager *manager, size_t index);
void clibcamera_camera_release(clibcamera_camera *camera);
const char *clibcamera_camera_id(clibcamera_camera *camera);
const char *clibcamera_camera_model(clibcamera_camera *camera);
// front 0, back 1, external 2; -1 when the camera does not say.
int clibcamera_camera_location(clibcamera_camera *camera);

// Configures a camera that nobody uses, and leaves it: its controls and frame durations have that configuration's ranges
// from then on, as long as the manager lives. -EBUSY when it is in use.
int clibcamera_camera_configure(clibcamera_camera *camera, const struct clibcamera_format *format);

struct clibcamera_sensor_mode {
    struct clibcamera_sensor_readout readout;
    // What it shows, in pixels of the whole sensor: fewer than the sensor has where the mode crops.
    uint32_t seen_width, seen_height;
    // In microseconds.
    int64_t shortest_frame;
};
// Calls `give` for each way of reading the sensor out for such a stream; for none where the camera does not tell them.
// It configures the camera for each. -EBUSY when it is in use.
int clibcamera_camera_sensor_modes(
    clibcamera_camera *camera, const struct clibcamera_format *format,
    void (*give)(void *context, const struct clibcamera_sensor_mode *mode), void *context);

// Shortest and longest time from frame to frame, in microseconds; -ENOENT when the camera does not say.
int clibcamera_camera_frame_durations(clibcamera_camera *camera, int64_t *least, int64_t *most);

struct clibcamera_mode {
    uint32_t fourcc;
    uint64_t modifier;
    uint32_t minimum_width, minimum_height, maximum_width, maximum_height;
};
// Calls `give` for each format with each size.
int clibcamera_camera_modes(
    clibcamera_camera *camera, void (*give)(void *context, const struct clibcamera_mode *mode), void *context);

enum clibcamera_control_type {
    CLIBCAMERA_BOOL, CLIBCAMERA_INTEGER, CLIBCAMERA_FLOAT,
    // Four numbers: left, top, width, height.
    CLIBCAMERA_RECTANGLE,
    CLIBCAMERA_OTHER
};
struct clibcamera_named_value {
    // NULL when it has none.
    const char *name;
    double value;
};
struct clibcamera_control {
    const char *name;
    uint32_t id;
    enum clibcamera_control_type type;
    // How many values it takes; 0 for any number of them.
    size_t count;
    // Of each number. Of a rectangle, the least one and the one that it lies in. Not for `OTHER`.
    double minimum[4], maximum[4];
    // Where only some values are taken: these.
    const struct clibcamera_named_value *values;
    size_t value_count;
};
typedef void (*clibcamera_control_taker)(void *context, const struct clibcamera_control *control);
int clibcamera_camera_controls(clibcamera_camera *camera, clibcamera_control_taker give, void *context);

// Whether the camera can mirror its frames from left to right, and from top to bottom.
int clibcamera_camera_flips(clibcamera_camera *camera, bool *horizontal, bool *vertical);

// A camera in use, with one stream of frames or more. Each request carries one buffer, of one of them.
typedef struct clibcamera_session clibcamera_session;

#define CLIBCAMERA_PLANES 3
#define CLIBCAMERA_STREAMS 2
struct clibcamera_plane {
    int fd;
    uint32_t offset, length;
};
enum clibcamera_status {
    CLIBCAMERA_WHOLE,
    // As whole, while exposure and white balance still settle after the start.
    CLIBCAMERA_SETTLING,
    // These hold no frame.
    CLIBCAMERA_BROKEN,
    CLIBCAMERA_CANCELLED
};
struct clibcamera_completion {
    // Of the buffer: those of the first stream come first.
    uint32_t index;
    enum clibcamera_status status;
    uint32_t sequence;
    // Of the sensor, or of the buffer where the sensor gives none; nanoseconds.
    uint64_t timestamp;
    // Until the sensor's next frame starts, in microseconds; 0 when the camera does not say.
    int64_t frame_duration;
};
// Called on libcamera's thread.
struct clibcamera_listener {
    void *context;
    void (*completed)(void *context, const struct clibcamera_completion *completion);
    void (*disconnected)(void *context);
};
// Opens and configures; `formats` hold what is wanted of each stream, and then what has become of it. The flips and the
// sensor's readout are those of the first one. -ENOTSUP when the camera does not flip as wanted, -E2BIG when it does not
// give so many streams at once.
int clibcamera_session_open(
    clibcamera_camera *camera, struct clibcamera_format *formats, size_t count, struct clibcamera_listener listener,
    clibcamera_session **session);
int clibcamera_session_plane_count(clibcamera_session *session, uint32_t index);
int clibcamera_session_plane(
    clibcamera_session *session, uint32_t index, uint32_t plane, struct clibcamera_plane *result);
// Starts the camera, with so many microseconds from frame to frame where it can and FrameDurationLimits is not set
// otherwise, and queues every request of the selected stream.
int clibcamera_session_start(clibcamera_session *session, int64_t shortest_frame, int64_t longest_frame);
// Releases a completed request: it goes back to the camera, or waits here while another stream is selected. From any
// thread. -EALREADY when it was released already.
int clibcamera_session_requeue(clibcamera_session *session, uint32_t index);
// Requests go to the camera for this stream's buffers from now on; those that it has still complete before. The first
// stream is selected at the start. From any thread.
int clibcamera_session_select(clibcamera_session *session, uint32_t stream);
// The camera's controls, with the ranges that its configuration leaves them.
int clibcamera_session_controls(clibcamera_session *session, clibcamera_control_taker give, void *context);
struct clibcamera_setting {
    uint32_t id;
    // Each in its range, four for each rectangle.
    const double *numbers;
    size_t count;
};
// Sets all of these with the next request, or none. -EINVAL when a control takes another count of numbers, -ENOENT when the
// camera lacks one. From any thread.
int clibcamera_session_set_controls(
    clibcamera_session *session, const struct clibcamera_setting *settings, size_t count);

// What the camera said of itself, each with the newest frame for which it did; NaN, or -1, for what it has not said.
struct clibcamera_report {
    // Microseconds.
    int64_t exposure_time;
    double analogue_gain, lux, colour_temperature, red_gain, blue_gain, lens_position;
    double exposure_value, brightness, contrast, saturation, sharpness;
    // In the sensor's pixels: left, top, width, height.
    double crop[4];
    // Values of libcamera's enumerations of these names.
    int32_t af_state, ae_metering_mode, awb_mode, noise_reduction_mode;
    // Of the modes of ExposureTime and AnalogueGain, and of AwbEnable: 1, or 0 for what is automatic.
    int32_t exposure_is_manual, gain_is_manual, awb_is_manual;
};
// From any thread.
int clibcamera_session_report(clibcamera_session *session, struct clibcamera_report *report);
// Stops, releases the camera. No listener is called afterwards.
void clibcamera_session_close(clibcamera_session *session);

#ifdef __cplusplus
}
#endif
#endif
