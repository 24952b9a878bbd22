"""FLV files, tag by tag (Adobe FLV 10.1, annex E), and the H.264 headers in them."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

AUDIO, VIDEO, SCRIPT = 8, 9, 18


class FLVError(Exception):
    """The file is not a complete FLV; the message says where it breaks."""


@dataclass(frozen=True)
class Tag:
    kind: int
    timestamp: int  # milliseconds, signed
    body: bytes

    @property
    def is_video_header(self) -> bool:
        return self.kind == VIDEO and self.body[0] & 0x0F == 7 and self.body[1] == 0

    @property
    def is_video_end(self) -> bool:
        return self.kind == VIDEO and self.body[0] & 0x0F == 7 and self.body[1] == 2

    @property
    def is_audio_header(self) -> bool:
        return self.kind == AUDIO and self.body[0] >> 4 == 10 and self.body[1] == 0

    @property
    def is_frame(self) -> bool:
        return self.kind == VIDEO and self.body[0] & 0x0F == 7 and self.body[1] == 1

    @property
    def is_audio(self) -> bool:
        return self.kind == AUDIO and self.body[0] >> 4 == 10 and self.body[1] == 1

    @property
    def is_keyframe(self) -> bool:
        return self.is_frame and self.body[0] >> 4 == 1


def read_tags(path: Path, is_growing: bool = False) -> list[Tag]:
    """All tags of a file. If the file is still being written, its complete tags."""
    data = Path(path).read_bytes()
    if is_growing and len(data) < 13:
        return []
    if data[:4] != b"FLV\x01":
        raise FLVError(f"{path} does not start with an FLV header: {data[:16].hex()}")
    at = int.from_bytes(data[5:9], "big") + 4
    tags = []
    while at < len(data):
        size = int.from_bytes(data[at + 1 : at + 4], "big")
        end = at + 11 + size
        if end + 4 > len(data):
            if is_growing:
                break
            raise FLVError(f"{path} is cut off within the tag at byte {at} of {len(data)}")
        if int.from_bytes(data[end : end + 4], "big") not in (11 + size, 0):
            raise FLVError(f"{path}: the tag at byte {at} is not followed by its own size")
        unsigned = data[at + 7] << 24 | int.from_bytes(data[at + 4 : at + 7], "big")
        tags.append(Tag(data[at] & 0x1F, unsigned - (unsigned >> 31 << 32), data[at + 11 : end]))
        at = end + 4
    return tags


def write_tags(path: Path, tags: list[Tag]) -> None:
    parts = [b"FLV\x01\x05", (9).to_bytes(4, "big"), bytes(4)]
    for tag in tags:
        stamp = tag.timestamp & 0xFFFFFFFF
        parts += [
            bytes([tag.kind]), len(tag.body).to_bytes(3, "big"),
            (stamp & 0xFFFFFF).to_bytes(3, "big"), bytes([stamp >> 24]), bytes(3),
            tag.body, (11 + len(tag.body)).to_bytes(4, "big"),
        ]  # fmt: skip
    Path(path).write_bytes(b"".join(parts))


class _Bits:
    """Exp-Golomb reader over an RBSP (H.264 section 9.1)."""

    def __init__(self, data: bytes):
        self.bits = "".join(f"{byte:08b}" for byte in data)
        self.at = 0

    def u(self, count: int) -> int:
        value = int(self.bits[self.at : self.at + count] or "0", 2)
        self.at += count
        return value

    def ue(self) -> int:
        zeros = 0
        while self.u(1) == 0:
            zeros += 1
            if zeros > 32:
                raise FLVError("no Exp-Golomb code here")
        return (1 << zeros) - 1 + self.u(zeros)

    def se(self) -> int:
        code = self.ue()
        return (code + 1) // 2 if code % 2 else -(code // 2)


@dataclass(frozen=True)
class SequenceParameterSet:
    profile: int
    constraints: int
    level: int
    width: int
    height: int
    frame_rate: Fraction | None

    @property
    def profile_name(self) -> str:
        return {66: "Baseline", 77: "Main", 100: "High"}.get(self.profile, str(self.profile))


def parse_sps(nal: bytes) -> SequenceParameterSet:
    """Reads an SPS of the 4:2:0 profiles (H.264 section 7.3.2.1.1)."""
    if nal[0] & 0x1F != 7:
        raise FLVError(f"NAL unit type {nal[0] & 0x1F} is not an SPS")
    bits = _Bits(nal[1:].replace(b"\x00\x00\x03", b"\x00\x00"))
    profile, constraints, level = bits.u(8), bits.u(8), bits.u(8)
    bits.ue()
    if profile == 100:
        if bits.ue() == 3:
            raise FLVError("4:4:4 is not expected here")
        bits.ue(), bits.ue(), bits.u(1)
        if bits.u(1):
            raise FLVError("scaling lists are not expected here")
    bits.ue()
    order = bits.ue()
    if order == 0:
        bits.ue()
    elif order == 1:
        bits.u(1), bits.se(), bits.se()
        for _ in range(bits.ue()):
            bits.se()
    bits.ue(), bits.u(1)
    columns, rows = bits.ue() + 1, bits.ue() + 1
    frames_only = bits.u(1)
    if not frames_only:
        bits.u(1)
    bits.u(1)
    left = right = top = bottom = 0
    if bits.u(1):
        left, right, top, bottom = bits.ue(), bits.ue(), bits.ue(), bits.ue()
    rate = _frame_rate(bits) if bits.u(1) else None
    lines = 2 - frames_only
    return SequenceParameterSet(
        profile, constraints, level,
        columns * 16 - 2 * (left + right), rows * 16 * lines - 2 * lines * (top + bottom), rate,
    )  # fmt: skip


def _frame_rate(bits: _Bits) -> Fraction | None:
    """Reads the VUI as far as its timing (H.264 annex E.1.1)."""
    if bits.u(1) and bits.u(8) == 255:
        bits.u(32)
    if bits.u(1):
        bits.u(1)
    if bits.u(1):
        bits.u(4)
        if bits.u(1):
            bits.u(24)
    if bits.u(1):
        bits.ue(), bits.ue()
    if not bits.u(1):
        return None
    tick, scale = bits.u(32), bits.u(32)
    return Fraction(scale, 2 * tick) if tick else None


def sps_of_header(tag: Tag) -> SequenceParameterSet:
    """The SPS in an AVCDecoderConfigurationRecord (ISO 14496-15 section 5.3.3.1)."""
    record = tag.body[5:]
    if record[0] != 1 or record[5] & 0x1F != 1:
        raise FLVError(f"no AVCDecoderConfigurationRecord with one SPS: {record[:16].hex()}")
    size = int.from_bytes(record[6:8], "big")
    sps = record[8 : 8 + size]
    if record[1:4] != sps[1:4]:
        raise FLVError(f"the record says {record[1:4].hex()}, its SPS {sps[1:4].hex()}")
    return parse_sps(sps)


def nal_types(tag: Tag) -> list[int]:
    """The NAL unit types of one frame."""
    data, at, types = tag.body[5:], 0, []
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if size == 0 or at + 4 + size > len(data):
            raise FLVError(f"a NAL unit of {size} bytes at {at} in a frame of {len(data)}")
        types.append(data[at + 4] & 0x1F)
        at += 4 + size
    return types
