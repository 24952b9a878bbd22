// Switches a camera's brightness between dark and bright, and reports when: flash DEVICE COUNT MILLISECONDS.
// DEVICE is a V4L2 node, or a file below /sys that takes the scene's light in lux.
// A line per switch: CLOCK_MONOTONIC before and after, in nanoseconds, and the new value.
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const int brightness[] = {255, 0}, light[] = {600, 20};

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int set_light(int file, int lux) {
    char text[16];
    int length = snprintf(text, sizeof(text), "%d\n", lux);
    return pwrite(file, text, length, 0) == length ? 0 : -1;
}

static int set_brightness(int device, int value) {
    struct v4l2_control control = {V4L2_CID_BRIGHTNESS, value};
    return ioctl(device, VIDIOC_S_CTRL, &control);
}

int main(int count, char **words) {
    if (count != 4) return 2;
    int is_light = strncmp(words[1], "/sys/", 5) == 0;
    int device = open(words[1], is_light ? O_WRONLY : O_RDWR);
    if (device < 0) return perror(words[1]), 1;
    for (int index = 0; index < atoi(words[2]); index++) {
        int value = is_light ? light[index % 2] : brightness[index % 2];
        long long before = now();
        if ((is_light ? set_light(device, value) : set_brightness(device, value)) < 0) return perror(words[1]), 1;
        printf("%lld %lld %d\n", before, now(), value);
        fflush(stdout);
        // At an interval that never matches the frames.
        long wait = atol(words[3]) + index * 37 % 101;
        struct timespec pause = {wait / 1000, wait % 1000 * 1000000};
        nanosleep(&pause, NULL);
    }
    return 0;
}
