// Switches a camera's brightness between dark and bright, and says when: flash DEVICE COUNT MILLISECONDS.
// A line per switch: CLOCK_MONOTONIC before and after, in nanoseconds, and the new value.
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    int device = open(words[1], O_RDWR);
    if (device < 0) return perror(words[1]), 1;
    for (int index = 0; index < atoi(words[2]); index++) {
        struct v4l2_control control = {V4L2_CID_BRIGHTNESS, index % 2 ? 0 : 255};
        long long before = now();
        if (ioctl(device, VIDIOC_S_CTRL, &control) < 0) return perror("VIDIOC_S_CTRL"), 1;
        printf("%lld %lld %d\n", before, now(), control.value);
        fflush(stdout);
        // Never in step with the frames.
        long wait = atol(words[3]) + index * 37 % 101;
        struct timespec pause = {wait / 1000, wait % 1000 * 1000000};
        nanosleep(&pause, NULL);
    }
    return 0;
}
