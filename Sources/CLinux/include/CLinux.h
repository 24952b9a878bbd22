// The parts of Linux's headers that Swift cannot import: function-like macros, variadic calls, and globals in which calls
// return results. No logic.
#ifndef CLINUX_H
#define CLINUX_H
#include <errno.h>
#include <getopt.h>
#include <linux/dma-buf.h>
#include <linux/media.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/usb/g_uvc.h>
#include <linux/videodev2.h>
#include <linux/watchdog.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <spawn.h>
#include <termios.h>
#include <time.h>

// strerrordesc_np and strerrorname_np; NULL for an unknown number.
const char *clinux_error_text(int number);
const char *clinux_error_name(int number);

// ppoll, without changing the signal mask.
int clinux_ppoll(struct pollfd *entries, nfds_t count, const struct timespec *timeout);

// accept4. Like ppoll, it is declared only under _GNU_SOURCE.
int clinux_accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

// syncfs, for the same reason.
int clinux_syncfs(int descriptor);

// The kernel's bound of the clock's error in microseconds (adjtimex); -1 if nothing disciplines the clock.
long clinux_clock_error(void);

// pthread_setname_np for the calling thread; at most 15 bytes.
int clinux_name_thread(const char *name);

// setpriority for the calling thread only, which is how Linux behaves, unlike POSIX.
void clinux_lower_priority(int nice);

// getopt_long together with the globals that it reports through.
struct clinux_getopt_step {
    int value;          // what getopt_long returned
    int option;         // optopt
    int next;           // optind
    const char *argument;  // optarg
};
struct clinux_getopt_step clinux_getopt_long(
    int count, char **arguments, const char *short_options, const struct option *long_options);
// Makes the next clinux_getopt_long start a new list without printing anything.
void clinux_getopt_restart(void);

// prctl(PR_SET_DUMPABLE).
int clinux_set_dumpable(int dumpable);

// __nss_configure_lookup: the sources to look up a database in, such as "hosts".
int clinux_configure_lookup(const char *database, const char *sources);

// Makes the calling thread's lookups ask a silent name server again, or the next one, after a second, whatever resolv.conf
// says. With `rotates`, each lookup starts with another server.
void clinux_hurry_lookups(int rotates);

// ST_RDONLY, which is an enumeration in one header and a macro in another.
static const unsigned long clinux_read_only_flag = ST_RDONLY;

// ioctl(WDIOC_GETSUPPORT), which only watchdogs answer; 0 if answered.
int clinux_ask_watchdog(int device);

// ioctl(WDIOC_SETTIMEOUT).
int clinux_set_watchdog_timeout(int watchdog, int *seconds);

// gai_strerror.
const char *clinux_lookup_error_text(int number);

// For DMABUFs (linux/dma-buf.h); see below.
static const unsigned long clinux_dma_buf_ioctl_sync = DMA_BUF_IOCTL_SYNC;

// V4L2 requests (linux/videodev2.h), which are function-like macros.
static const unsigned long clinux_vidioc_querycap = VIDIOC_QUERYCAP;
static const unsigned long clinux_vidioc_enum_fmt = VIDIOC_ENUM_FMT;
static const unsigned long clinux_vidioc_enum_framesizes = VIDIOC_ENUM_FRAMESIZES;
static const unsigned long clinux_vidioc_enum_frameintervals = VIDIOC_ENUM_FRAMEINTERVALS;
static const unsigned long clinux_vidioc_s_fmt = VIDIOC_S_FMT;
static const unsigned long clinux_vidioc_s_parm = VIDIOC_S_PARM;
static const unsigned long clinux_vidioc_reqbufs = VIDIOC_REQBUFS;
static const unsigned long clinux_vidioc_querybuf = VIDIOC_QUERYBUF;
static const unsigned long clinux_vidioc_expbuf = VIDIOC_EXPBUF;
static const unsigned long clinux_vidioc_qbuf = VIDIOC_QBUF;
static const unsigned long clinux_vidioc_dqbuf = VIDIOC_DQBUF;
static const unsigned long clinux_vidioc_streamon = VIDIOC_STREAMON;
static const unsigned long clinux_vidioc_query_ext_ctrl = VIDIOC_QUERY_EXT_CTRL;
static const unsigned long clinux_vidioc_s_ext_ctrls = VIDIOC_S_EXT_CTRLS;

// V4L2 requests for encoders.
static const unsigned long clinux_vidioc_g_fmt = VIDIOC_G_FMT;
static const unsigned long clinux_vidioc_streamoff = VIDIOC_STREAMOFF;
static const unsigned long clinux_vidioc_encoder_cmd = VIDIOC_ENCODER_CMD;
static const unsigned long clinux_vidioc_s_selection = VIDIOC_S_SELECTION;
static const unsigned long clinux_vidioc_querymenu = VIDIOC_QUERYMENU;
static const unsigned int clinux_v4l2_pix_fmt_h264 = V4L2_PIX_FMT_H264;
static const unsigned int clinux_v4l2_cid_bitrate = V4L2_CID_MPEG_VIDEO_BITRATE;
static const unsigned int clinux_v4l2_cid_bitrate_mode = V4L2_CID_MPEG_VIDEO_BITRATE_MODE;
static const unsigned int clinux_v4l2_cid_header_mode = V4L2_CID_MPEG_VIDEO_HEADER_MODE;
static const unsigned int clinux_v4l2_cid_repeat_headers = V4L2_CID_MPEG_VIDEO_REPEAT_SEQ_HEADER;
static const unsigned int clinux_v4l2_cid_i_period = V4L2_CID_MPEG_VIDEO_H264_I_PERIOD;
static const unsigned int clinux_v4l2_cid_gop_size = V4L2_CID_MPEG_VIDEO_GOP_SIZE;
static const unsigned int clinux_v4l2_cid_level = V4L2_CID_MPEG_VIDEO_H264_LEVEL;
static const unsigned int clinux_v4l2_cid_profile = V4L2_CID_MPEG_VIDEO_H264_PROFILE;
static const unsigned int clinux_v4l2_cid_b_frames = V4L2_CID_MPEG_VIDEO_B_FRAMES;
static const unsigned int clinux_v4l2_cid_force_keyframe = V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME;
static const int clinux_v4l2_header_mode_joined = V4L2_MPEG_VIDEO_HEADER_MODE_JOINED_WITH_1ST_FRAME;
static const int clinux_v4l2_bitrate_mode_variable = V4L2_MPEG_VIDEO_BITRATE_MODE_VBR;
static const int clinux_v4l2_profile_baseline = V4L2_MPEG_VIDEO_H264_PROFILE_BASELINE;
static const int clinux_v4l2_profile_constrained_baseline = V4L2_MPEG_VIDEO_H264_PROFILE_CONSTRAINED_BASELINE;
static const int clinux_v4l2_profile_main = V4L2_MPEG_VIDEO_H264_PROFILE_MAIN;
static const int clinux_v4l2_profile_high = V4L2_MPEG_VIDEO_H264_PROFILE_HIGH;

// V4L2 requests for cameras.
static const unsigned long clinux_vidioc_g_ext_ctrls = VIDIOC_G_EXT_CTRLS;
static const unsigned long clinux_vidioc_g_selection = VIDIOC_G_SELECTION;
static const unsigned int clinux_v4l2_cid_brightness = V4L2_CID_BRIGHTNESS;
static const unsigned int clinux_v4l2_cid_contrast = V4L2_CID_CONTRAST;
static const unsigned int clinux_v4l2_cid_saturation = V4L2_CID_SATURATION;
static const unsigned int clinux_v4l2_cid_sharpness = V4L2_CID_SHARPNESS;
static const unsigned int clinux_v4l2_cid_autogain = V4L2_CID_AUTOGAIN;
static const unsigned int clinux_v4l2_cid_gain = V4L2_CID_GAIN;
static const unsigned int clinux_v4l2_cid_hflip = V4L2_CID_HFLIP;
static const unsigned int clinux_v4l2_cid_vflip = V4L2_CID_VFLIP;
static const unsigned int clinux_v4l2_cid_auto_white_balance = V4L2_CID_AUTO_WHITE_BALANCE;
static const unsigned int clinux_v4l2_cid_white_balance_temperature = V4L2_CID_WHITE_BALANCE_TEMPERATURE;
static const unsigned int clinux_v4l2_cid_auto_n_preset_white_balance = V4L2_CID_AUTO_N_PRESET_WHITE_BALANCE;
static const unsigned int clinux_v4l2_cid_exposure_auto = V4L2_CID_EXPOSURE_AUTO;
static const unsigned int clinux_v4l2_cid_exposure_absolute = V4L2_CID_EXPOSURE_ABSOLUTE;
static const unsigned int clinux_v4l2_cid_exposure_metering = V4L2_CID_EXPOSURE_METERING;
static const unsigned int clinux_v4l2_cid_auto_exposure_bias = V4L2_CID_AUTO_EXPOSURE_BIAS;
static const unsigned int clinux_v4l2_cid_focus_auto = V4L2_CID_FOCUS_AUTO;
static const unsigned int clinux_v4l2_cid_focus_absolute = V4L2_CID_FOCUS_ABSOLUTE;
static const unsigned int clinux_v4l2_cid_auto_focus_start = V4L2_CID_AUTO_FOCUS_START;
static const unsigned int clinux_v4l2_cid_zoom_absolute = V4L2_CID_ZOOM_ABSOLUTE;

// For the USB gadget's video function (linux/usb/g_uvc.h).
static const unsigned long clinux_vidioc_subscribe_event = VIDIOC_SUBSCRIBE_EVENT;
static const unsigned long clinux_vidioc_dqevent = VIDIOC_DQEVENT;
static const unsigned long clinux_uvcioc_send_response = UVCIOC_SEND_RESPONSE;
static const unsigned int clinux_uvc_event_connect = UVC_EVENT_CONNECT;
static const unsigned int clinux_uvc_event_disconnect = UVC_EVENT_DISCONNECT;
static const unsigned int clinux_uvc_event_stream_on = UVC_EVENT_STREAMON;
static const unsigned int clinux_uvc_event_stream_off = UVC_EVENT_STREAMOFF;
static const unsigned int clinux_uvc_event_setup = UVC_EVENT_SETUP;
static const unsigned int clinux_uvc_event_data = UVC_EVENT_DATA;

// For a media device's graph (linux/media.h).
static const unsigned long clinux_media_ioc_g_topology = MEDIA_IOC_G_TOPOLOGY;
static const unsigned int clinux_media_entity_lens = MEDIA_ENT_F_LENS;
static const unsigned int clinux_media_link_enabled = MEDIA_LNK_FL_ENABLED;
static const unsigned int clinux_media_link_type = MEDIA_LNK_FL_LINK_TYPE;
static const unsigned int clinux_media_data_link = MEDIA_LNK_FL_DATA_LINK;
static const unsigned int clinux_media_interface_link = MEDIA_LNK_FL_INTERFACE_LINK;
static const unsigned int clinux_media_ancillary_link = MEDIA_LNK_FL_ANCILLARY_LINK;

// For the torch of a flash.
static const unsigned long clinux_vidioc_g_ctrl = VIDIOC_G_CTRL;
static const unsigned long clinux_vidioc_s_ctrl = VIDIOC_S_CTRL;
static const unsigned int clinux_v4l2_cid_flash_led_mode = V4L2_CID_FLASH_LED_MODE;
static const int clinux_v4l2_flash_led_mode_none = V4L2_FLASH_LED_MODE_NONE;
static const int clinux_v4l2_flash_led_mode_torch = V4L2_FLASH_LED_MODE_TORCH;

// Values of enum v4l2_ctrl_type, with the type that structures use.
static const unsigned int clinux_v4l2_ctrl_integer = V4L2_CTRL_TYPE_INTEGER;
static const unsigned int clinux_v4l2_ctrl_boolean = V4L2_CTRL_TYPE_BOOLEAN;
static const unsigned int clinux_v4l2_ctrl_menu = V4L2_CTRL_TYPE_MENU;
static const unsigned int clinux_v4l2_ctrl_button = V4L2_CTRL_TYPE_BUTTON;
static const unsigned int clinux_v4l2_ctrl_integer64 = V4L2_CTRL_TYPE_INTEGER64;
static const unsigned int clinux_v4l2_ctrl_integer_menu = V4L2_CTRL_TYPE_INTEGER_MENU;
#endif
