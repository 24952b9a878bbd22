"""The build root's scheduler (scripts/build-root, scripts/lib/steps.sh) with steps that only log their names, and the table of
the real steps."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from swift_source import CHECKOUT

RECIPE = CHECKOUT / "scripts/build-root.d"
# Ends a test only if it hangs.
HUNG = 60

TABLE = """
# Parts and steps, as in the real table.
part compiler
part x86_64 compiler
part tests x86_64
part aarch64 x86_64
part program compiler
base             compiler  10   5
left:amd64       x86_64    20  30  base
right            x86_64    30   0  base
last             x86_64     5   0  left:amd64 right
arm              aarch64   15 100  right
checkers         tests     25 200  last arm
"""
NAMES = ["base", "left", "right", "last", "arm", "checkers"]


class Recipe:
    """A recipe of stubs, and a cache for its results."""

    def __init__(self, folder: Path):
        self.folder = folder / "recipe"
        self.cache = folder / "cache"
        self.folder.mkdir()
        (self.folder / "steps").write_text(TABLE)
        for name in NAMES:
            self.write(name, "")

    def write(self, name: str, script: str) -> None:
        """Writes the step's script, which logs its arguments when it ends."""
        (self.folder / name).write_text(f'{script}\necho "{name} $*" | sed "s/ *$//" >>"$root/order"\n')

    def start(self, *words: str) -> subprocess.Popen:
        # unshare requires a root that is a mount, which the build root is not.
        here = self.folder.parent / "root"
        here.mkdir(exist_ok=True)
        mounted = 'mount --make-rprivate / 2>/dev/null; mount --rbind / "$0" && exec chroot "$0" "$@"'
        return subprocess.Popen(
            ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", mounted, here, CHECKOUT / "scripts/build-root", *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env=os.environ | {"TALLYCAM_RECIPE": str(self.folder), "TALLYCAM_CACHE": str(self.cache)},
            # A shell that started the tests in the background ignores SIGINT for all of them.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    def run(self, *words: str, status: int = 0) -> str:
        child = self.start(*words)
        output = child.communicate(timeout=HUNG)[0]
        assert child.returncode == status, output
        return output

    @property
    def root(self) -> Path:
        return Path(self.run("--path").strip())

    def order(self) -> list[str]:
        path = self.root / "order"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def recipe(tmp_path) -> Recipe:
    return Recipe(tmp_path)


def wait_for(condition) -> None:
    deadline = time.monotonic() + HUNG
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def processes_with(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found


def mounts_in_any_process(path: str) -> list[Path]:
    """Processes that still see a mount there, in any namespace."""
    found = []
    for mounts in Path("/proc").glob("[0-9]*/mounts"):
        try:
            if path in mounts.read_text():
                found.append(mounts)
        except OSError:
            continue
    return found


def test_only_the_requested_part_is_made(recipe):
    assert "35 MB to download" in recipe.run()
    assert sorted(recipe.order()) == ["base", "last", "left amd64", "right"]
    assert "100 MB to download" in recipe.run("aarch64")
    assert recipe.order()[4:] == ["arm"]
    recipe.run("tests")
    assert recipe.order()[5:] == ["checkers"]


def test_a_step_starts_after_its_predecessors(recipe):
    recipe.run("tests", "aarch64")
    order = recipe.order()
    assert order[0] == "base" and order[-1] == "checkers"
    assert order.index("last") > max(order.index("left amd64"), order.index("right"))
    assert order.index("arm") > order.index("right")


def test_predecessors_of_unneeded_parts_are_not_waited_for(recipe):
    recipe.run("tests")
    assert recipe.order()[-1] == "checkers" and "arm" not in recipe.order()


def test_independent_steps_run_side_by_side(recipe):
    """Each of the two ends only after the other one has started."""
    for name, other in (("left", "right"), ("right", "left")):
        recipe.write(name, f'touch "$root/{name}-started"; until [ -e "$root/{other}-started" ]; do sleep 0.05; done')
    recipe.run()
    assert recipe.order()[-1] == "last"


def test_nothing_is_done_when_the_part_exists(recipe):
    recipe.run()
    assert recipe.run() == recipe.run("compiler") == recipe.run("x86_64") == ""
    assert len(recipe.order()) == 4


def test_a_failed_step_shows_its_last_lines_and_ends_the_others(recipe):
    recipe.write("left", f'until [ -e "$root/right-started" ]; do sleep 0.05; done; seq 100 130; echo "no {CHECKOUT}" >&2; exit 7')
    recipe.write("right", 'touch "$root/right-started"; sleep 98761')
    output = recipe.run(status=1)
    assert "step left:amd64 failed (status 7)" in output
    assert f"\n130\nno {CHECKOUT}\n" in output and "\n110\n" not in output
    assert not processes_with("sleep 98761")
    [log] = re.findall(r"whole output is in (\S+)", output)
    assert "100\n" in Path(log).read_text()


def test_an_interrupted_run_leaves_nothing_and_is_resumed(recipe):
    recipe.write("right", """
        if [ ! -e "$root/started" ]; then
            mkdir "$root/mounted"; mount -t tmpfs none "$root/mounted"
            touch "$root/started"; sleep 98762 & sleep 98762
        fi
    """)
    child = recipe.start()
    wait_for(lambda: all((recipe.root / name).exists() for name in ("started", ".done/left:amd64")))
    child.send_signal(signal.SIGINT)
    output = child.communicate(timeout=HUNG)[0]
    assert child.returncode == 1 and "interrupted; run it again" in output
    assert not processes_with("sleep 98762")
    assert not mounts_in_any_process(str(recipe.root / "mounted"))
    recipe.run()
    assert recipe.order() == ["base", "left amd64", "right", "last"]


def test_a_note_of_a_step_is_shown(recipe):
    recipe.write("left", "echo note: the mirror has newer packages; echo and more")
    output = recipe.run()
    assert "the mirror has newer packages\n" in output and "and more" not in output


def test_the_key_depends_on_the_steps_and_not_on_their_times(recipe):
    first = recipe.root
    (recipe.folder / "steps").write_text(TABLE.replace("  30   0", "  40   0"))
    assert recipe.root == first
    recipe.write("left", "true")
    assert recipe.root != first


def test_clean_old_removes_the_roots_of_other_recipes_only(recipe):
    recipe.run()
    (recipe.cache / "build-root-0123456789abcdef/usr").mkdir(parents=True)
    (recipe.cache / "archives/x.deb").write_text("")
    recipe.run("--clean-old")
    left = {path.name for path in recipe.cache.iterdir()}
    assert left == {recipe.root.name, recipe.root.name + ".logs", "archives", "build-root.lock"}


def seconds_left(recipe: Recipe, commands: str) -> int:
    """The remaining time in the progress line after these commands in the scheduler's shell."""
    script = f"""
        set -euo pipefail
        recipe={recipe.folder} root={recipe.cache}/none logs={recipe.cache}/logs
        . {CHECKOUT}/scripts/lib/steps.sh
        read_steps
        {commands}
        seconds_left
    """
    return int(subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout)


def test_the_estimate_is_the_longest_path_through_the_steps(recipe):
    assert seconds_left(recipe, "choose_steps x86_64") == 10 + 30 + 5
    assert seconds_left(recipe, "choose_steps tests") == 10 + 30 + 5 + 25
    assert seconds_left(recipe, "choose_steps tests aarch64") == 10 + 30 + 15 + 25


def test_the_estimate_follows_the_machine(recipe):
    """Ten seconds at the usual speed are assumed first, so that the first step alone does not decide."""
    base = "choose_steps x86_64; state[base]=ended took[base]"
    left = "state[left:amd64]=ended took[left:amd64]=20"
    assert seconds_left(recipe, f"{base}=10") == 30 + 5
    assert seconds_left(recipe, f"{base}=30") == 2 * (30 + 5)
    right = "state[right]=running started[right]=0"
    assert seconds_left(recipe, f"{base}=10; {left}; {right} SECONDS=20") == 10 + 5
    # Far beyond its usual time: at least a tenth of it is still expected, and the last step is expected to be slower, too.
    assert seconds_left(recipe, f"{base}=10; {left}; {right} SECONDS=100") == 1 + 10 + 10
    # Half the usual time makes the rest look faster.
    assert seconds_left(recipe, f"{base}=0") == 15 + 2


def real_table() -> tuple[dict[str, list[str]], dict[str, tuple[str, list[str]]]]:
    """The parts with their requirements, and the steps with their part and predecessors."""
    lines = [line.split() for line in (RECIPE / "steps").read_text().splitlines() if line and not line.startswith("#")]
    parts = {words[1]: words[2:] for words in lines if words[0] == "part"}
    return parts, {words[0]: (words[1], words[4:]) for words in lines if words[0] != "part"}


def test_the_steps_of_the_build_root_exist_in_order():
    parts, steps = real_table()
    seen = []
    for step, (part, predecessors) in steps.items():
        assert (RECIPE / step.split(":")[0]).is_file() and part in parts
        assert set(predecessors) <= set(seen), f"{step} waits for a step that is further down"
        seen.append(step)


def test_packages_are_never_installed_by_two_steps_at_once():
    _, steps = real_table()
    installing = [step for step in steps if step.startswith("packages:")]
    for earlier, later in zip(installing, installing[1:]):
        assert earlier in steps[later][1]


def test_the_program_is_compiled_when_its_whole_part_exists():
    _, steps = real_table()
    waited, rest = set(), ["program"]
    while rest:
        new = set(steps[rest.pop()][1]) - waited
        waited |= new
        rest += new
    assert waited == {step for step, (part, _) in steps.items() if part == "compiler"}


def test_every_kind_of_package_is_installed():
    _, steps = real_table()
    kinds = {line.split()[0] for line in (RECIPE / "package-list").read_text().splitlines() if line and not line.startswith("#")}
    assert kinds == {step.split(":")[1] for step in steps if step.startswith("packages:")} | {"library"}
