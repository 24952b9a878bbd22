"""A computer at the virtual board's USB device port: usbip-vudc is the port, vhci_hcd the computer's, both in the guest, with a
Linux computer's own drivers for cameras and microphones behind it.

    host = UsbHost(board)
    host.plug()                                  # the board has a gadget on CONTROLLER, and its server runs
    host.video_node(), host.audio_card()         # the devices that the computer's drivers then provide
    host.unplug()
"""

from board import Board

PORT = "/sys/devices/platform/usbip-vudc.0"
CONTROLLER = "usbip-vudc.0"
HUB = "/sys/devices/platform/vhci_hcd.0"
MODULES = ("libcomposite", "usbip-vudc", "vhci-hcd", "uvcvideo", "snd-usb-audio")
# The kernel loads them when a gadget needs them.
FUNCTIONS = ("usb_f_uvc", "usb_f_uac2", "u_audio")
HIGH_SPEED = 3
# In usbip-vudc's numbers: a port without a cable.
AVAILABLE = "1"
# In vhci_hcd's numbers: a port without a device.
EMPTY = "004"
# The gadget's audio, as aplay and arecord name it.
RATE = 48_000
SAMPLES = f"-q -t raw -f S16_LE -c 2 -r {RATE}"
# For both programs on the computer. A blocking call gives up when a period takes longer than the ring's duration, which can
# happen on a busy machine.
HOST_RING = "--nonblock --period-time=20000 --buffer-time=2000000"


class UsbHost:
    def __init__(self, board: Board):
        self.board = board
        board.run(" && ".join(f"modprobe {module}" for module in MODULES))

    def close(self) -> None:
        """Removes all gadgets: the guest is as before."""
        self.unplug()
        names = " ".join((*FUNCTIONS, *reversed(MODULES)))
        self.board.run(f"for module in {names}; do [ ! -e /sys/module/$(echo $module | tr - _) ] || rmmod $module; done")

    def wait(self, condition: str, seconds: float = 20) -> str:
        """Waits for a script to succeed in the guest; returns its output."""
        script = f"n=0; until {condition}; do n=$((n+1)); [ $n -lt {int(seconds * 10)} ] || exit 1; sleep 0.1; done"
        return self.board.run(script, timeout=seconds * 4 + 20).text.strip()

    def plug(self) -> None:
        """Connects as soon as the gadget requests it. Both drivers take one end of a socket; socat creates it and hands it
        over."""
        self.wait(f"[ $(cat {PORT}/usbip_status) = {AVAILABLE} ] && [ -n \"$(head -c 1 {PORT}/dev_desc 2>/dev/null)\" ]")
        self.board.run(
            "rm -f /run/usb-cable; "
            f"socat UNIX-LISTEN:/run/usb-cable SYSTEM:'echo 0 > {PORT}/usbip_sockfd',nofork & "
            "until [ -S /run/usb-cable ]; do sleep 0.05; done; "
            f"socat UNIX-CONNECT:/run/usb-cable SYSTEM:'echo 0 0 1 {HIGH_SPEED} > {HUB}/attach',nofork; wait"
        )
        self.wait(f"[ -n \"$(cat {self._device()}/bConfigurationValue 2>/dev/null)\" ]")

    def unplug(self) -> None:
        """Pulls the cable, if it is connected."""
        self.board.run(f"echo 0 > {HUB}/detach 2>/dev/null; true")
        self.wait(f"[ $(sed -n 's/^hs  0000 \\([0-9]*\\) .*/\\1/p' {HUB}/status) = {EMPTY} ] && ! [ -e {self._device()} ]")
        self.wait(f"[ $(cat {PORT}/usbip_status) = {AVAILABLE} ]")

    def _device(self) -> str:
        return f"{HUB}/usb*/*-1"

    def descriptors(self) -> bytes:
        """Everything that the host has read of device and configuration."""
        return self.board.run(f"cat {self._device()}/descriptors").data

    def video_node(self) -> str:
        """The camera that the host sees."""
        return self.wait(
            "for node in /sys/class/video4linux/video*; do "
            "case $(readlink $node/device/driver) in */uvcvideo) [ $(cat $node/index) = 0 ] && echo /dev/${node##*/};; esac; "
            "done | grep ."
        )

    def audio_card(self) -> str:
        """The card that the host sees, in the notation of `hw:`."""
        return self.wait(
            "for card in /sys/class/sound/card*; do "
            "case $(readlink $card/device/driver) in */snd-usb-audio) echo ${card##*/card};; esac; done | grep ."
        )
