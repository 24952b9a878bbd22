// The minimum cost of publishing: the FLV in memory, every tag sent with one
// writev at its time, nothing else. The remaining cost is the kernel's. It talks
// only to a well-behaved server on loopback, with no more checks than needed.
//
//     limit fast|realtime CLIP.flv IPV4-ADDRESS PORT APPLICATION STREAM
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK_SIZE = 65536, TAG_HEADER = 11, LONGEST_MESSAGE = 0xFFFFFF };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void send_all(int descriptor, const void *bytes, size_t count) {
    for (size_t sent = 0; sent < count;) {
        ssize_t result = write(descriptor, (const char *)bytes + sent, count - sent);
        if (result < 0) fail("write");
        sent += (size_t)result;
    }
}

// ---- The commands (AMF0), as short as servers take them.

static uint8_t command[1024];
static size_t command_length;

static void put(const void *bytes, size_t count) {
    memcpy(command + command_length, bytes, count);
    command_length += count;
}

static void put_text(const char *text) {
    size_t length = strlen(text);
    put((uint8_t[]){(uint8_t)(length >> 8), (uint8_t)length}, 2);
    put(text, length);
}

static void put_string(const char *text) {
    put("\x02", 1);
    put_text(text);
}

static void put_number(uint8_t value) {
    double number = value;
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits = htobe64(bits);
    put("\x00", 1);
    put(&bits, sizeof bits);
}

static void put_property(const char *name, const char *value) {
    put_text(name);
    put_string(value);
}

// Sends the accumulated command in one chunk, and clears it.
static void send_command(int descriptor, uint32_t stream_id) {
    uint8_t header[12] = {3, 0, 0, 0, 0, (uint8_t)(command_length >> 8), (uint8_t)command_length, 20};
    memcpy(header + 8, &stream_id, sizeof stream_id);
    send_all(descriptor, header, sizeof header);
    send_all(descriptor, command, command_length);
    command_length = 0;
}

// The server holds back its next short answer until the previous one is acknowledged.
static void acknowledge_at_once(int descriptor) {
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

// Reads until the server has sent `text`.
static void wait_for(int descriptor, const char *text) {
    static char answer[65536];
    size_t length = 0;
    while (!memmem(answer, length, text, strlen(text))) {
        ssize_t count = read(descriptor, answer + length, sizeof answer - length);
        if (count <= 0) fail(text);
        length += (size_t)count;
        acknowledge_at_once(descriptor);
    }
}

static int open_stream(const char *address, const char *port, const char *application, const char *stream) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    inet_pton(AF_INET, address, &server.sin_addr);
    if (connect(descriptor, (struct sockaddr *)&server, sizeof server) < 0) fail("connect");
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);

    static uint8_t handshake[1 + 2 * 1536] = {3};
    send_all(descriptor, handshake, 1 + 1536);
    if (recv(descriptor, handshake, sizeof handshake, MSG_WAITALL) != sizeof handshake) fail("handshake");
    acknowledge_at_once(descriptor);
    send_all(descriptor, handshake + 1, 1536);
    // Set Chunk Size.
    send_all(descriptor, (uint8_t[]){2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 1, 0, 0}, 16);

    char url[256];
    snprintf(url, sizeof url, "rtmp://%s:%s/%s", address, port, application);
    put_string("connect");
    put_number(1);
    put("\x03", 1);
    put_property("app", application);
    put_property("type", "nonprivate");
    put_property("tcUrl", url);
    put("\x00\x00\x09", 3);
    send_command(descriptor, 0);
    wait_for(descriptor, "NetConnection.Connect.Success");
    put_string("createStream");
    put_number(2);
    put("\x05", 1);
    send_command(descriptor, 0);
    wait_for(descriptor, "_result");
    put_string("publish");
    put_number(3);
    put("\x05", 1);
    put_string(stream);
    put_string("live");
    send_command(descriptor, 1);
    wait_for(descriptor, "NetStream.Publish.Start");
    return descriptor;
}

// ---- The media.

static uint32_t big_endian(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    while (count-- > 0) value = value << 8 | *bytes++;
    return value;
}

static void send_tag(int descriptor, const uint8_t *tag, uint32_t size, uint32_t timestamp) {
    static struct iovec pieces[2 * (LONGEST_MESSAGE / CHUNK_SIZE + 2)];
    static uint8_t continuation = 0xC0 | 4;
    uint8_t header[12] = {4,        (uint8_t)(timestamp >> 16), (uint8_t)(timestamp >> 8), (uint8_t)timestamp,
                          tag[1], tag[2], tag[3], tag[0], 1};
    int count = 0;
    size_t total = 0;
    for (uint32_t sent = 0; sent < size;) {
        uint32_t length = size - sent < CHUNK_SIZE ? size - sent : CHUNK_SIZE;
        pieces[count++] = sent ? (struct iovec){&continuation, 1} : (struct iovec){header, sizeof header};
        pieces[count++] = (struct iovec){(void *)(tag + TAG_HEADER + sent), length};
        total += length + (sent ? 1 : sizeof header);
        sent += length;
    }
    if (writev(descriptor, pieces, count) != (ssize_t)total) fail("writev");
}

static void sleep_until(struct timespec start, uint32_t milliseconds) {
    struct timespec due = {
        .tv_sec = start.tv_sec + milliseconds / 1000,
        .tv_nsec = start.tv_nsec + (long)(milliseconds % 1000) * 1000000,
    };
    if (due.tv_nsec >= 1000000000) {
        due.tv_sec += 1;
        due.tv_nsec -= 1000000000;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

int main(int count, char **arguments) {
    if (count != 7) {
        fprintf(stderr, "usage: limit fast|realtime CLIP.flv ADDRESS PORT APPLICATION STREAM\n");
        return 2;
    }
    int is_realtime = strcmp(arguments[1], "realtime") == 0;
    int file = open(arguments[2], O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) < 0) fail(arguments[2]);
    uint8_t *clip = malloc((size_t)status.st_size);
    for (off_t filled = 0; filled < status.st_size;) {
        ssize_t result = read(file, clip + filled, (size_t)(status.st_size - filled));
        if (result <= 0) fail(arguments[2]);
        filled += result;
    }

    int descriptor = open_stream(arguments[3], arguments[4], arguments[5], arguments[6]);
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    // After the file's header and the first PreviousTagSize.
    for (const uint8_t *tag = clip + 13, *end = clip + status.st_size; tag + TAG_HEADER <= end;) {
        uint32_t size = big_endian(tag + 1, 3);
        uint32_t timestamp = big_endian(tag + 4, 3) | (uint32_t)tag[7] << 24;
        if (is_realtime) sleep_until(start, timestamp);
        if (size > 0) send_tag(descriptor, tag, size, timestamp);
        tag += TAG_HEADER + size + 4;
    }
    shutdown(descriptor, SHUT_WR);
    // The server's other messages; unread, they would make the close a reset.
    static char rest[65536];
    while (read(descriptor, rest, sizeof rest) > 0) {}
    return 0;
}
