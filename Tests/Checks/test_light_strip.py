"""The drawing of the tally light is what scripts/light-strip.py makes of the code."""

import shutil
import subprocess

import pytest
from swift_source import CHECKOUT

LOGIC = "Sources/ApplianceLogic"
NAMES = ("ButtonAndLights/LEDPattern", "Appliance/ApplianceState", "Faults/ApplianceFault")
READ = ["scripts/light-strip.py", *(f"{LOGIC}/{name}.swift" for name in NAMES)]


def check(folder) -> subprocess.CompletedProcess:
    return subprocess.run([folder / "scripts/light-strip.py", "--check"], capture_output=True, text=True, timeout=60)


def test_the_drawing_shows_what_the_code_says():
    result = check(CHECKOUT)
    assert result.returncode == 0, result.stderr


@pytest.fixture
def copy(tmp_path):
    for name in [*READ, "docs/images/light.svg"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    "file, old, new, problem",
    [
        ("ButtonAndLights/LEDPattern", "LEDPattern([125, 125])", "LEDPattern([120, 130])", "differs from the code"),
        ("ButtonAndLights/LEDPattern", "[250, 250], count", "[200, 300], count", "differs from the code"),
        ("Appliance/ApplianceState", "case .reconnecting: .shortShortShortLong", "case .reconnecting: .fast", "no state shows"),
        ("Appliance/ApplianceState", "case .paused: .longDark", "case .paused, .resting: .longDark", "resting"),
        ("Faults/ApplianceFault", "case camera = 4", "case lens = 12\n    case camera = 4", "lens"),
    ],
)
def test_a_change_of_the_code_is_seen(copy, file, old, new, problem):
    path = copy / LOGIC / f"{file}.swift"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    result = check(copy)
    assert result.returncode == 1 and problem in result.stderr
