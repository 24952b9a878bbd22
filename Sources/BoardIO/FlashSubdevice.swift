import CLinux
import Glibc
import LinuxIO

/// The torch of a V4L2 flash, which is a subdevice of the camera. It goes dark when the object goes away. Used from one thread.
public final class FlashSubdevice {
    private let node: OwnedFileDescriptor
    private let path: String

    /// - Parameter name: the subdevice's name in /sys/class/video4linux.
    public init(name: String) throws(BoardIOError) {
        let number = (0..<64).first { number in
            let text = try? readFile("/sys/class/video4linux/v4l-subdev\(number)/name", limit: 256)
            return text.map { String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) } == name
        }
        guard let number else { throw .noSuchSubdevice(name: name) }
        path = "/dev/v4l-subdev\(number)"
        do throws(SystemCallError) {
            node = try OwnedFileDescriptor(opening: path, flags: O_RDWR)
            try setMode(clinux_v4l2_flash_led_mode_none)
        } catch {
            throw .failed(error)
        }
    }

    deinit { try? setMode(clinux_v4l2_flash_led_mode_none) }

    /// False if the driver is gone: its node then answers nothing.
    public var isThere: Bool { (try? mode()) != nil }

    public func set(isLit: Bool) throws(BoardIOError) {
        do throws(SystemCallError) {
            try setMode(isLit ? clinux_v4l2_flash_led_mode_torch : clinux_v4l2_flash_led_mode_none)
        } catch {
            throw .failed(error)
        }
    }

    private func setMode(_ mode: Int32) throws(SystemCallError) {
        var control = v4l2_control(id: clinux_v4l2_cid_flash_led_mode, value: mode)
        guard ioctl(node.rawValue, clinux_vidioc_s_ctrl, &control) == 0 else {
            throw SystemCallError("VIDIOC_S_CTRL", subject: path)
        }
    }

    private func mode() throws(SystemCallError) -> Int32 {
        var control = v4l2_control(id: clinux_v4l2_cid_flash_led_mode, value: 0)
        guard ioctl(node.rawValue, clinux_vidioc_g_ctrl, &control) == 0 else {
            throw SystemCallError("VIDIOC_G_CTRL", subject: path)
        }
        return control.value
    }
}
