"""The module that imitates a Raspberry Pi's camera, by itself: its nodes and links, v4l2-compliance, loading and unloading."""

import re

import pytest
from pi_camera import IMX708, PARAMETERS, is_loaded, load, nodes, set_parameters, shoot, unload

pytestmark = [
    pytest.mark.slow, pytest.mark.takes(minutes=0.8, processors=0.45), pytest.mark.usefixtures("camera_probe"),
]  # fmt: skip

# v4l2-compliance finds these in the real drivers, too: YUV's default color space is JPEG's, which it permits for JPEG only,
# and the tests after that request buffers of the largest size.
YUV_FAILURES = {
    "VIDIOC_G_FMT", "VIDIOC_TRY_FMT", "VIDIOC_S_FMT", "VIDIOC_REQBUFS/CREATE_BUFS/QUERYBUF", "CREATE_BUFS maximum buffers",
    "blocking wait",
}  # fmt: skip
FAILURES = {
    "bcm2835-isp0-output0": set(),
    "bcm2835-isp0-capture1": YUV_FAILURES,
    "bcm2835-isp0-capture2": YUV_FAILURES,
    "bcm2835-isp0-capture3": set(),
    "unicam-image": set(),
    "unicam-embedded": set(),
    "imx708": set(),
    "dw9807 10-000c": set(),
}


@pytest.mark.parametrize("name", FAILURES)
def test_v4l2_compliance_has_the_same_findings_as_with_the_real_drivers(pi_camera, name):
    text = pi_camera.run(f"v4l2-compliance -d {nodes(pi_camera)[name]} 2>&1", check=False, timeout=120).text
    failed = set(re.findall(r"^\s*test (.*?): FAIL$", text, re.MULTILINE))
    assert "Succeeded:" in text and failed == FAILURES[name], text[-4000:]


def test_media_devices_match_what_the_pipeline_expects(pi_camera):
    text = pi_camera.run("for media in /dev/media*; do media-ctl -d $media -p; done").text
    assert len(re.findall(r"^driver\s+bcm2835-isp$", text, re.MULTILINE)) == 2
    assert len(re.findall(r"^driver\s+unicam$", text, re.MULTILINE)) == 1
    for link in ('"unicam-image":0 [ENABLED,IMMUTABLE]', '"unicam-embedded":0 [ENABLED,IMMUTABLE]'):
        assert link in text
    # As on a board.
    assert nodes(pi_camera)["bcm2835-isp0-output0"] == "/dev/video13"


def test_a_flipped_sensor_changes_the_order_of_its_bytes(pi_camera):
    node = nodes(pi_camera)["imx708"]
    orders = []
    for flips in ("horizontal_flip=0,vertical_flip=0", "horizontal_flip=1,vertical_flip=0", "horizontal_flip=1,vertical_flip=1"):
        text = pi_camera.run(f"v4l2-ctl -d {node} -c {flips} --get-subdev-fmt pad=0").text
        orders.append(re.search(r"MEDIA_BUS_FMT_S(\w{4})10", text)[1])
    assert orders == ["RGGB", "GRBG", "BGGR"]


def test_the_module_can_be_unloaded_and_loaded_again(pi_camera):
    for _ in range(3):
        unload(pi_camera)
        assert not is_loaded(pi_camera) and not nodes(pi_camera)
        assert pi_camera.run("ls /dev/dma_heap 2>/dev/null", check=False).text == ""
        load(pi_camera)
        assert shoot(pi_camera, 3).last["status"] in (0, 3)


def test_the_module_stays_while_it_is_open(pi_camera):
    holder = pi_camera.start(f"exec tallycam capture --video libcamera:{IMX708} --frames 400 --dimension 640x360")
    pi_camera.run("sleep 2")
    assert pi_camera.run("rmmod virtual_pi_camera", check=False).status != 0 and is_loaded(pi_camera)
    holder.end()


@pytest.mark.parametrize("device", ["unicam.0", "bcm2835-isp.0", "bcm2835-isp.1"])
def test_a_driver_is_unbound_during_a_stream_and_bound_again(pi_camera, device):
    """Programs that have it open merely get errors; leased buffers outlive it."""
    holder = pi_camera.start(f"exec tallycam capture --video libcamera:{IMX708} --frames 4000 --dimension 640x360")
    pi_camera.run("sleep 2")
    driver = f"/sys/bus/platform/drivers/{device.partition('.')[0]}"
    pi_camera.run(f"cd {driver} && echo {device} > unbind && sleep 1 && echo {device} > bind")
    holder.end()
    pi_camera.run("sleep 0.5")
    assert shoot(pi_camera, 3).frames
    unload(pi_camera)


def test_invalid_parameters_are_refused(pi_camera):
    unload(pi_camera)
    assert pi_camera.run("insmod /board/pi-camera.ko rotation=90", check=False).status != 0
    load(pi_camera, "rotation=0")
    set_parameters(pi_camera, light=100)
    assert pi_camera.run(f"cat {PARAMETERS}/light").text.strip() == "100"
    assert shoot(pi_camera, 1).description["properties"]["Rotation"] == 0
