import Controls
import Media

/// How the device introduces itself to a computer.
public struct GadgetIdentity: Hashable, Sendable {
    public let name: String
    /// Distinguishes two cameras on one computer.
    public let serialNumber: String

    /// The texts are cut to the kernel's limit for a name, 31 bytes.
    public init(name: String, serialNumber: String) {
        self.name = Self.cut(name)
        self.serialNumber = Self.cut(serialNumber)
    }

    private static func cut(_ text: String) -> String {
        var text = text
        while text.utf8.count > 31 { text.removeLast() }
        return text
    }
}

/// The entries to create in the kernel's configfs below usb_gadget/NAME, in order: a camera and a microphone in one device
/// (Documentation/usb/gadget_uvc.rst, gadget-testing.rst).
public struct GadgetTree: Hashable, Sendable {
    public enum Step: Hashable, Sendable {
        case directory(String)
        case file(String, String)
        /// A binary file.
        case bytes(String, [UInt8])
        /// A symbolic link from the first path to the second, both relative to the gadget.
        case link(String, to: String)
    }

    public private(set) var steps: [Step] = []
    public static let video = "functions/uvc.0"
    public static let audio = "functions/uac2.0"
    /// macOS ignores a device whose only configuration is not the first.
    private static let configuration = "configs/c.1"

    /// - Parameter statuses: the camera's controls. The units announce them once, in their descriptors.
    public init(
        _ identity: GadgetIdentity, _ offer: VideoOffer, on bus: IsochronousBudget, controls statuses: [ControlStatus]
    ) {
        describeDevice(identity)
        describeVideo(identity, on: bus, controls: statuses)
        let headers = offer.formats.map { describe($0) }
        describeStreamingHeader(headers)
        describeAudio()
        steps += [
            .link("\(Self.configuration)/uvc.0", to: Self.video), .link("\(Self.configuration)/uac2.0", to: Self.audio),
        ]
    }

    private mutating func describeDevice(_ identity: GadgetIdentity) {
        steps += [
            // The Linux Foundation's vendor number, and its product number for multifunction devices.
            .file("idVendor", "0x1d6b"), .file("idProduct", "0x0104"),
            .file("bcdUSB", "0x0200"), .file("bcdDevice", "0x0100"),
            // Interface association descriptors group the interfaces (USB ECN, section 2).
            .file("bDeviceClass", "0xef"), .file("bDeviceSubClass", "0x02"), .file("bDeviceProtocol", "0x01"),
            .directory("strings/0x409"), .file("strings/0x409/manufacturer", "Tallycam"),
            .file("strings/0x409/product", identity.name), .file("strings/0x409/serialnumber", identity.serialNumber),
            .directory(Self.configuration), .file("\(Self.configuration)/MaxPower", "500"),
            .directory("\(Self.configuration)/strings/0x409"),
            .file("\(Self.configuration)/strings/0x409/configuration", "Camera and microphone"),
        ]
    }

    private mutating func describeVideo(
        _ identity: GadgetIdentity, on bus: IsochronousBudget, controls statuses: [ControlStatus]
    ) {
        let control = "\(Self.video)/control"
        func text(_ mask: [UInt8]) -> String { mask.map { "\($0)" }.joined(separator: "\n") }
        steps += [
            .directory(Self.video), .file("\(Self.video)/streaming_maxpacket", "\(bus.packetBytes)"),
            .file("\(Self.video)/streaming_interval", "\(bus.interval)"),
            .file("\(Self.video)/function_name", identity.name),
            .file(
                "\(control)/terminal/camera/default/bmControls", text(UnitControl.mask(of: .camera, having: statuses))),
            .file(
                "\(control)/processing/default/bmControls",
                text([UInt8](UnitControl.mask(of: .processing, having: statuses).prefix(2)))),
            .directory("\(control)/header/h"),
        ]
        steps += ["fs", "ss"].map { .link("\(control)/class/\($0)/h", to: "\(control)/header/h") }
    }

    /// - Returns: the format's directory.
    private mutating func describe(_ format: VideoOffer.Format) -> String {
        let kind = format.coding == .mjpeg ? "mjpeg" : "uncompressed"
        let path = "\(Self.video)/streaming/\(kind)/\(format.coding.rawValue)"
        steps.append(.directory(path))
        if let bits = format.coding.bitsPerPixel {
            steps += [.bytes("\(path)/guidFormat", format.coding.guid), .file("\(path)/bBitsPerPixel", "\(bits)")]
        }
        for (index, mode) in format.modes.enumerated() {
            let frame = "\(path)/\(index + 1)"
            let intervals = mode.intervals.map { "\($0)\n" }.joined()
            steps += [
                .directory(frame), .file("\(frame)/wWidth", "\(mode.size.width)"),
                .file("\(frame)/wHeight", "\(mode.size.height)"),
                .file("\(frame)/dwMaxVideoFrameBufferSize", "\(mode.largestFrame)"),
                // Without it, some computers read 640x360 at 15 fps.
                .file("\(frame)/dwDefaultFrameInterval", "\(mode.usualInterval)"),
                .file("\(frame)/dwFrameInterval", intervals),
                .file("\(frame)/dwMinBitRate", "\(mode.bitRate(at: mode.intervals.last ?? mode.usualInterval))"),
                .file("\(frame)/dwMaxBitRate", "\(mode.bitRate(at: mode.usualInterval))"),
            ]
        }
        return path
    }

    private mutating func describeStreamingHeader(_ formats: [String]) {
        let streaming = "\(Self.video)/streaming"
        steps.append(.directory("\(streaming)/header/h"))
        for path in formats {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            steps.append(.link("\(streaming)/header/h/\(name)", to: path))
        }
        steps += ["fs", "hs", "ss"].map { .link("\(streaming)/class/\($0)/h", to: "\(streaming)/header/h") }
    }

    /// A microphone for the computer: the function plays audio, and nothing comes back.
    private mutating func describeAudio() {
        steps += [
            .directory(Self.audio), .file("\(Self.audio)/c_chmask", "0"), .file("\(Self.audio)/p_chmask", "3"),
            .file("\(Self.audio)/p_srate", "48000"), .file("\(Self.audio)/p_ssize", "2"),
            // People adjust the camera's own volume instead.
            .file("\(Self.audio)/p_volume_present", "0"), .file("\(Self.audio)/p_mute_present", "0"),
            .file("\(Self.audio)/function_name", "Microphone"),
        ]
    }
}

extension VideoCoding {
    /// Of a raw format: its four characters and the common suffix of such numbers.
    var guid: [UInt8] {
        let characters = self == .nv12 ? "NV12" : "YUY2"
        let ending: [UInt8] = [0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
        return Array(characters.utf8) + ending
    }
}
