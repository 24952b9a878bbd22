"""The output of `make bench-adapt`."""

import goals
from goals import Result, Script
from screen import View


def show(results: list[Result], script: Script, is_natural: bool) -> bool:
    """Prints tables of all runs with the same content, and the goals. Returns whether the judged runs reach them."""
    show_totals(results, script)
    heads = [str(kilobits) for kilobits, _ in script] + ["total"]
    for title, cell in [
        ("frames a second", lambda view: f"{view.frames_per_second:.1f}"),
        ("longest freeze, s", lambda view: f"{view.longest_freeze:.2f}"),
        ("size changes", lambda view: str(view.size_changes)),
        ("screen SSIM", likeness),
    ]:
        rows = [[item.participant.name, *map(cell, [*item.parts, item.total])] for item in results]
        show_table([[title, *heads], *rows])
    print("\nScreen SSIM: every tenth of a second the newest frame that has arrived, at the source's size, with the source's\n"
          "frame of that moment; luma, without the strip of the clock.")  # fmt: skip
    return show_goals(results, script, is_natural)


def show_totals(results: list[Result], script: Script) -> None:
    steady = [index for index, (kilobits, _) in enumerate(script) if kilobits]
    rows = [["", "< 3 s old", "worst age", "outside", "freeze", "corrupt", "complaints", "to frame", "to full", "changes", "restarts"]
            + [f"use of {script[part][0]}" for part in steady] + [f"media at {script[part][0]}" for part in steady]]  # fmt: skip
    for item in results:
        verdict, is_ours = item.verdict, item.participant.is_ours
        rows.append([
            item.participant.name, f"{verdict.fresh_share:.1%}", f"{verdict.worst_age:.2f} s",
            f"{verdict.worst_age_connected:.2f} s", f"{verdict.longest_freeze_connected:.2f} s", str(verdict.corrupt),
            str(item.complaints), seconds(verdict.seconds_to_frame), seconds(item.seconds_to_full) if is_ours else "-",
            str(item.changes) if is_ours else "-", str(item.restarts) if is_ours else "-",
            *(f"{item.link_rates[part] / script[part][0]:.0%}" for part in steady),
            *(f"{verdict.media_rates[part]:.0f}" for part in steady),
        ])  # fmt: skip
    show_table(rows)
    print("\n'outside', 'freeze': neither in the blackout nor in the second after it. 'to frame', 'to full': from the link's\n"
          "return to the first frame that was taken after it, and to full size and rate. 'use': bytes on the wire from the\n"
          f"10th second of each part on; a link that carries more than High3 with its audio ({goals.TOP} kbit/s) cannot be\n"
          "full. 'media': kbit/s of frames and audio that arrived then.")  # fmt: skip


def seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.2f} s"


def likeness(view: View) -> str:
    return "-" if view.ssim is None else f"{view.ssim:.3f}"


def word(is_met: bool) -> str:
    return "met   " if is_met else "MISSED"


def show_table(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows)]
    print()
    for row in rows:
        cells = [cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def show_goals(results: list[Result], script: Script, is_natural: bool) -> bool:
    judged = [item for item in results if item.participant.is_judged]
    # The other policies must be better than `never`: its misses are shown, but count only if it runs alone.
    counted = [item for item in judged if not item.participant.is_fixed] or judged
    all_met = True
    for item in judged:
        checks = goals.check(item, results, script, is_natural)
        missed = [check for check in checks if not check.is_met]
        all_met &= not missed or item not in counted
        print(f"\n{item.participant.name}: {len(checks) - len(missed)} goals met, {len(missed)} missed")
        for check in checks:
            print(f"  {word(check.is_met)}  {check.goal}: {check.value}")
    return all_met


def show_lowest(results: list[Result]) -> bool:
    """Frames per second at the lowest quality; returns whether the program reaches the goal by its own choices."""
    all_met = True
    print(f"\nLow1 (12 frames a second) at 640x480, natural content, a good link: goal {goals.FRAMES_AT_LOWEST:.0f}")
    for item in results:
        rate = item.total.frames_per_second
        is_met = rate >= goals.FRAMES_AT_LOWEST
        all_met &= is_met or not item.participant.is_judged
        print(f"  {word(is_met)}  {item.participant.name}: {rate:.1f} a second, screen SSIM {likeness(item.total)}")
    return all_met
