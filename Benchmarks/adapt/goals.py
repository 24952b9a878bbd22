"""The goals, and which participants reach them."""

from dataclasses import dataclass

import analysis
import screen
from participants import Participant

Script = list[tuple[int, float]]

FRESH_SHARE = 0.93
WORST_AGE_CONNECTED = 2.0  # seconds
FREEZE_CONNECTED = 0.6  # seconds
USE = 0.9
SECONDS_TO_FRAME = 0.4
SECONDS_TO_FULL = 12.0
# Natural content: frames per second at a rate in kbit/s, and after the blackout.
FRAMES_AT = {300: 12.0}
FRAMES_AFTER = 26.0
# By this much a changing size may be worse than the best of the fixed ones.
SSIM_ALLOWANCE = 0.01
# Out of 12 frames per second at the lowest quality.
FRAMES_AT_LOWEST = 8.0
# The kbit/s of High3 and its audio: a better link cannot be full.
TOP = 2128


@dataclass(frozen=True)
class Result:
    participant: Participant
    verdict: analysis.Verdict
    parts: list[screen.View]
    total: screen.View
    complaints: int
    # The kbit/s on the link in each part, once it has settled.
    link_rates: list[float]
    # From the link's return to full size and rate; `None` for never, and where it is unknown.
    seconds_to_full: float | None
    # Changes of the operating point, and those that restarted the stream.
    changes: int
    restarts: int


@dataclass(frozen=True)
class Check:
    goal: str
    value: str
    is_met: bool


def check(result: Result, others: list[Result], script: Script, is_natural: bool) -> list[Check]:
    """others: all results with the same content, for comparison with fixed sizes and the other programs."""
    verdict = result.verdict
    checks = [
        Check(f"a frame under 3 s old >= {FRESH_SHARE:.0%}", f"{verdict.fresh_share:.1%}", verdict.fresh_share >= FRESH_SHARE),
        at_most(f"worst age outside <= {WORST_AGE_CONNECTED} s", verdict.worst_age_connected, WORST_AGE_CONNECTED),
        at_most(f"longest freeze outside <= {FREEZE_CONNECTED} s", verdict.longest_freeze_connected, FREEZE_CONNECTED),
        Check("no corrupt frame", str(verdict.corrupt), verdict.corrupt == 0),
        Check("no complaint of the decoder", str(result.complaints), result.complaints == 0),
    ]  # fmt: skip
    if analysis.link_return(script) is not None:
        checks += [
            at_most(f"first fresh frame <= {SECONDS_TO_FRAME} s", verdict.seconds_to_frame, SECONDS_TO_FRAME),
            at_most(f"full size and rate <= {SECONDS_TO_FULL:.0f} s", result.seconds_to_full, SECONDS_TO_FULL),
        ]
    checks += [
        Check(f"use of {kilobits} kbit/s >= {USE:.0%}", f"{rate / kilobits:.1%}", rate >= USE * kilobits)
        for rate, (kilobits, _) in zip(result.link_rates, script) if 0 < kilobits < TOP
    ]  # fmt: skip
    if is_natural:
        checks += frame_rate_checks(result, script)
    return checks + ssim_checks(result, others, script)


def at_most(goal: str, seconds: float | None, most: float) -> Check:
    return Check(goal, "never" if seconds is None else f"{seconds:.2f} s", seconds is not None and seconds <= most)


def frame_rate_checks(result: Result, script: Script) -> list[Check]:
    checks, before = [], None
    for (kilobits, _), view in zip(script, result.parts):
        least = FRAMES_AFTER if before == 0 else FRAMES_AT.get(kilobits)
        where = "after the blackout" if before == 0 else f"at {kilobits} kbit/s"
        rate = view.frames_per_second
        if least is not None:
            checks.append(Check(f"frames a second {where} >= {least:.0f}", f"{rate:.1f}", rate >= least))
        before = kilobits
    return checks


def ssim_checks(result: Result, others: list[Result], script: Script) -> list[Check]:
    checks = []
    for index, (kilobits, _) in enumerate(script):
        own = result.parts[index].ssim or 0.0
        fixed = [other.parts[index].ssim or 0.0 for other in others if other.participant.is_fixed]
        peers = [other.parts[index].ssim or 0.0 for other in others if not other.participant.is_ours]
        where = f"screen SSIM in part {index + 1} ({kilobits} kbit/s)"
        if fixed:
            least = max(fixed) - SSIM_ALLOWANCE
            checks.append(Check(f"{where} >= {least:.3f}, the best fixed size's less {SSIM_ALLOWANCE}", f"{own:.3f}", own >= least))
        if peers:
            checks.append(Check(f"{where} > {max(peers):.3f}, the best peer's", f"{own:.3f}", own > max(peers)))
    return checks
