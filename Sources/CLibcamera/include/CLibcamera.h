// libcamera behind C functions. The bridge keeps requests, passes them on and catches exceptions; it makes no decisions.
#ifndef CLIBCAMERA_H
#define CLIBCAMERA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Every function that can fail returns 0 or a negative error number; -EPROTO stands for a C++ exception.

// A process's only camera manager. It must outlive its cameras. Starting another one waits until the existing one is stopped.
typedef struct clibcamera_manager clibcamera_manager;
int clibcamera_manager_start(clibcamera_manager **manager);
void clibcamera_manager_stop(clibcamera_manager *manager);
// Silences libcamera's log, except for the message before it aborts.
void clibcamera_be_quiet(void);

// How a sensor is read out: pixels and bits per pixel.
struct clibcamera_sensor_readout {
    uint32_t width, height, bit_depth;
};
// Code points of ITU-T H.273; all zero if unknown.
struct clibcamera_colors {
    uint8_t primaries, transfer, matrix;
    bool is_full_range;
};
// A stream, as requested or as configured.
struct clibcamera_format {
    uint32_t fourcc;
    uint64_t modifier;
    uint32_t width, height, stride, frame_size;
    uint32_t buffer_count;
    bool flips_horizontally, flips_vertically;
    // All zero lets the camera choose.
    struct clibcamera_sensor_readout sensor;
    // The result of asking for BT.709 from 720 rows on, and BT.601 below.
    struct clibcamera_colors colors;
};

// A camera from the manager's list.
typedef struct clibcamera_camera clibcamera_camera;
size_t clibcamera_camera_count(clibcamera_manager *manager);
// NULL if the camera with this index has disappeared.
clibcamera_camera *clibcamera_camera_get(clibcamera_manager *manager, size_t index);
void clibcamera_camera_release(clibcamera_camera *camera);
const char *clibcamera_camera_id(clibcamera_camera *camera);
const char *clibcamera_camera_model(clibcamera_camera *camera);
// 0 front, 1 back, 2 external; -1 if the camera does not say.
int clibcamera_camera_location(clibcamera_camera *camera);

// Configures a camera that is not in use, then leaves it. From then on, its controls and frame durations have that
// configuration's ranges, for as long as the manager lives. -EBUSY if it is in use.
int clibcamera_camera_configure(clibcamera_camera *camera, const struct clibcamera_format *format);

struct clibcamera_sensor_mode {
    struct clibcamera_sensor_readout readout;
    // The field of view in pixels of the whole sensor: smaller than the sensor if the mode crops.
    uint32_t seen_width, seen_height;
    // In microseconds.
    int64_t shortest_frame;
};
// Calls `give` for each sensor mode that suits the stream; not at all if the camera does not report modes. Configures the
// camera for each mode. -EBUSY if it is in use.
int clibcamera_camera_sensor_modes(
    clibcamera_camera *camera, const struct clibcamera_format *format,
    void (*give)(void *context, const struct clibcamera_sensor_mode *mode), void *context);

// Shortest and longest time between frames, in microseconds; -ENOENT if the camera does not say.
int clibcamera_camera_frame_durations(clibcamera_camera *camera, int64_t *least, int64_t *most);

struct clibcamera_mode {
    uint32_t fourcc;
    uint64_t modifier;
    uint32_t minimum_width, minimum_height, maximum_width, maximum_height;
};
// Calls `give` for each combination of format and size.
int clibcamera_camera_modes(
    clibcamera_camera *camera, void (*give)(void *context, const struct clibcamera_mode *mode), void *context);

enum clibcamera_control_type {
    CLIBCAMERA_BOOL, CLIBCAMERA_INTEGER, CLIBCAMERA_FLOAT,
    // Four numbers: left, top, width, height.
    CLIBCAMERA_RECTANGLE,
    CLIBCAMERA_OTHER
};
struct clibcamera_named_value {
    // NULL if it has no name.
    const char *name;
    double value;
};
struct clibcamera_control {
    const char *name;
    uint32_t id;
    enum clibcamera_control_type type;
    // How many values it takes; 0 for any number.
    size_t count;
    // Limits of each number. For a rectangle, the smallest one and the one that it must lie in. Not for `OTHER`.
    double minimum[4], maximum[4];
    // The accepted values, if there is only a fixed set.
    const struct clibcamera_named_value *values;
    size_t value_count;
};
typedef void (*clibcamera_control_taker)(void *context, const struct clibcamera_control *control);
int clibcamera_camera_controls(clibcamera_camera *camera, clibcamera_control_taker give, void *context);

// Whether the camera can mirror its frames horizontally and vertically.
int clibcamera_camera_flips(clibcamera_camera *camera, bool *horizontal, bool *vertical);

// An open camera with one or more streams. Each request carries one buffer of one stream.
typedef struct clibcamera_session clibcamera_session;

#define CLIBCAMERA_PLANES 3
#define CLIBCAMERA_STREAMS 2
struct clibcamera_plane {
    int fd;
    uint32_t offset, length;
};
enum clibcamera_status {
    CLIBCAMERA_WHOLE,
    // Like whole, while exposure and white balance are still settling after the start.
    CLIBCAMERA_SETTLING,
    // Completions without a frame.
    CLIBCAMERA_BROKEN,
    CLIBCAMERA_CANCELED
};
struct clibcamera_completion {
    // The buffer's index; those of the first stream come first.
    uint32_t index;
    enum clibcamera_status status;
    uint32_t sequence;
    // In nanoseconds, from the sensor, or from the buffer if the sensor gives none.
    uint64_t timestamp;
    // Microseconds until the sensor's next frame starts; 0 if the camera does not say.
    int64_t frame_duration;
};
// Called on libcamera's thread.
struct clibcamera_listener {
    void *context;
    void (*completed)(void *context, const struct clibcamera_completion *completion);
    void (*disconnected)(void *context);
};
// Opens and configures the camera. `formats` holds the requested streams and receives the configured ones. Flips and sensor
// readout are taken from the first. -ENOTSUP if the camera cannot flip as requested, -E2BIG if it cannot deliver this many
// streams at once.
int clibcamera_session_open(
    clibcamera_camera *camera, struct clibcamera_format *formats, size_t count, struct clibcamera_listener listener,
    clibcamera_session **session);
int clibcamera_session_plane_count(clibcamera_session *session, uint32_t index);
int clibcamera_session_plane(
    clibcamera_session *session, uint32_t index, uint32_t plane, struct clibcamera_plane *result);
// Starts the camera and queues all requests of the selected stream. The frame durations, in microseconds, apply if the camera
// supports them and FrameDurationLimits is not set otherwise.
int clibcamera_session_start(clibcamera_session *session, int64_t shortest_frame, int64_t longest_frame);
// Releases a completed request: it goes back to the camera, or waits here while another stream is selected. Any thread.
// -EALREADY if it was already released.
int clibcamera_session_requeue(clibcamera_session *session, uint32_t index);
// From now on, only this stream's buffers are sent to the camera; those already there complete first. The first stream is
// selected initially. Any thread.
int clibcamera_session_select(clibcamera_session *session, uint32_t stream);
// The camera's controls, with the ranges that its configuration allows.
int clibcamera_session_controls(clibcamera_session *session, clibcamera_control_taker give, void *context);
struct clibcamera_setting {
    uint32_t id;
    // Each in its range; four for each rectangle.
    const double *numbers;
    size_t count;
};
// Sets all of these with the next request, or none. -EINVAL if a control takes a different count of numbers, -ENOENT if the
// camera lacks one. Any thread.
int clibcamera_session_set_controls(
    clibcamera_session *session, const struct clibcamera_setting *settings, size_t count);

// The state that the camera reported, each value from the newest frame that had it; NaN or -1 if it was never reported.
struct clibcamera_report {
    // Microseconds.
    int64_t exposure_time;
    double analogue_gain, lux, color_temperature, red_gain, blue_gain, lens_position;
    double exposure_value, brightness, contrast, saturation, sharpness;
    // In sensor pixels: left, top, width, height.
    double crop[4];
    // Values of libcamera's enumerations of these names.
    int32_t af_state, ae_metering_mode, awb_mode, noise_reduction_mode;
    // For the modes of ExposureTime and AnalogueGain, and for AwbEnable: 1 if manual, 0 if automatic.
    int32_t exposure_is_manual, gain_is_manual, awb_is_manual;
};
// Any thread.
int clibcamera_session_report(clibcamera_session *session, struct clibcamera_report *report);
// Stops and releases the camera. No callback is made afterwards.
void clibcamera_session_close(clibcamera_session *session);

#ifdef __cplusplus
}
#endif
#endif
