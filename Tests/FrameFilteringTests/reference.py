"""The filters once more, by numpy in floating point and over whole frames at once, for the tests to compare with.

    reference.py FILTER WIDTH HEIGHT INPUT OUTPUT [NUMBER...]

Frames are I420 of even sides in limited range, by the matrix of BT.601."""

import sys

import numpy as np

KR, KB = 0.299, 0.114


def box(plane, radius):
    """Means over windows; beyond the edge, the outermost samples go on."""
    radius = int(radius)
    padded = np.pad(plane, radius, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2 * radius + 1, 2 * radius + 1))
    return windows.mean(axis=(2, 3))


def doubled(plane):
    """Twice as large: between two samples, three quarters of the nearer one."""
    for axis in (0, 1):
        rows = np.moveaxis(plane, axis, 0)
        before, after = np.concatenate([rows[:1], rows[:-1]]), np.concatenate([rows[1:], rows[-1:]])
        both = np.stack([0.75 * rows + 0.25 * before, 0.75 * rows + 0.25 * after], axis=1)
        plane = np.moveaxis(both.reshape(-1, *rows.shape[1:]), 0, axis)
    return plane


def skin(u, v):
    """From 0 to 1: Chai and Ngan's rectangle, soft from 4 steps outside to 4 inside."""
    inside = np.minimum.reduce([u - 73, 131 - u, v - 129, 177 - v])
    return np.clip(inside, 0, 8) / 8


def smooth(y, u, v, strength, radius, variance):
    """The guided filter at half the size."""
    half = y.reshape(y.shape[0] // 2, 2, y.shape[1] // 2, 2).mean(axis=(1, 3))
    mean = box(half, radius)
    spread = box(half * half, radius) - mean * mean
    taken = strength * skin(u, v) * variance / (spread + variance)
    gain, offset = doubled(box(1 - taken, radius)), doubled(box(taken * mean, radius))
    return gain * y + offset, u, v


def whiten(y, u, v, strength):
    light = np.clip((y - 16) / 219, 0, 1)
    return y + 219 * strength * light * (1 - light), u, v


def redden(y, u, v, strength):
    """A gray of each luma with gains of red and blue, as the matrix has it."""
    gain = 0.15 * strength
    light = np.maximum(y.reshape(y.shape[0] // 2, 2, y.shape[1] // 2, 2).mean(axis=(1, 3)) - 16, 0) / 219
    red, green, blue = light * (1 + gain), light, light * (1 - gain)
    luma = KR * red + (1 - KR - KB) * green + KB * blue
    return y, u + 224 * (blue - luma) / (2 * (1 - KB)), v + 224 * (red - luma) / (2 * (1 - KR))


def image(y, u, v, path, width, height, left, top, opacity):
    """RGBA laid over; chroma of four pixels together."""
    pixels = np.fromfile(path, np.uint8).reshape(int(height), int(width), 4) / 255
    alpha = pixels[..., 3] * opacity
    red, green, blue = (pixels[..., channel] for channel in range(3))
    luma = KR * red + (1 - KR - KB) * green + KB * blue
    left, top = int(left), int(top)
    rows, columns = slice(top, top + luma.shape[0]), slice(left, left + luma.shape[1])
    y[rows, columns] = y[rows, columns] * (1 - alpha) + (16 + 219 * luma) * alpha

    def quarter(plane):
        return plane.reshape(plane.shape[0] // 2, 2, plane.shape[1] // 2, 2).mean(axis=(1, 3))

    rows, columns = slice(top // 2, (top + luma.shape[0]) // 2), slice(left // 2, (left + luma.shape[1]) // 2)
    for plane, channel, share in ((u, blue, KB), (v, red, KR)):
        chroma = 128 + 224 * (channel - luma) / (2 * (1 - share))
        plane[rows, columns] = plane[rows, columns] * (1 - quarter(alpha)) + quarter(chroma * alpha)
    return y, u, v


def main():
    name, width, height, source, target, *words = sys.argv[1:]
    width, height = int(width), int(height)
    data = np.fromfile(source, np.uint8).astype(float)
    y = data[: width * height].reshape(height, width)
    u, v = data[width * height :].reshape(2, height // 2, width // 2)
    values = [word if "/" in word else float(word) for word in words]
    planes = {"smooth": smooth, "whiten": whiten, "redden": redden, "image": image}[name](y, u, v, *values)
    result = np.concatenate([np.clip(np.rint(plane), 0, 255).astype(np.uint8).ravel() for plane in planes])
    result.tofile(target)


main()
