"""Similarity of frames: SSIM (Wang et al., 2004) of luma, computed by ffmpeg's filter `ssim` (windows of 8x8, four pixels
apart)."""

import re
import subprocess
import tempfile
from collections.abc import Iterable


class SSIMFailed(Exception):
    """ffmpeg could not compare; the text is its output."""


def ssim(pairs: Iterable[tuple[bytes, bytes]], width: int, height: int) -> list[float]:
    """The SSIM of each pair of luma planes: 1 if they are identical.

    Both planes of a pair go through one pipe, one above the other, as two pipes would have to be fed at the same time.
    """
    filters = (
        f"split[all][more];[all]crop={width}:{height}:0:0[shown];[more]crop={width}:{height}:0:{height}[source];"
        "[shown][source]ssim=stats_file=-"
    )
    words = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{width}x{2 * height}", "-i", "-"]
    with tempfile.TemporaryFile() as stats, tempfile.TemporaryFile("w+", errors="replace") as log:
        process = subprocess.Popen(
            ["ffmpeg", "-v", "error", *words, "-lavfi", filters, "-f", "null", "/dev/null"],
            stdin=subprocess.PIPE, stdout=stats, stderr=log,
        )  # fmt: skip
        count = 0
        try:
            for pair in pairs:
                for luma in pair:
                    process.stdin.write(luma)
                count += 1
            process.stdin.close()
        except BrokenPipeError:
            pass
        status = process.wait()
        stats.seek(0)
        values = [float(found[1]) for line in stats if (found := re.search(rb" Y:([\d.]+)", line))]
        if status != 0 or len(values) != count:
            log.seek(0)
            raise SSIMFailed(f"{len(values)} of {count} pairs compared, status {status}: {log.read()}")
        return values
