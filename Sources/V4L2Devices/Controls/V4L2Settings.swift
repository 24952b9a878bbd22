import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

extension V4L2Device {
    /// - Returns: the format as adjusted by the driver; its size may differ.
    func setFormat(_ mode: V4L2Mode) throws(V4L2Error) -> v4l2_format {
        var format = v4l2_format()
        format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        format.fmt.pix.width = UInt32(mode.size.width)
        format.fmt.pix.height = UInt32(mode.size.height)
        format.fmt.pix.pixelformat = mode.format.rawValue
        format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        try request("VIDIOC_S_FMT", clinux_vidioc_s_fmt, &format)
        guard format.fmt.pix.pixelformat == mode.format.rawValue else {
            throw .noUsableFormat(
                path: path, asked: "format \(mode.format)",
                offered: "\(FourCC(rawValue: format.fmt.pix.pixelformat)) instead")
        }
        return format
    }

    /// - Returns: the rate that the driver chose, rounded; `nil` if it cannot set one.
    func setFrameRate(_ rate: FrameRate) throws(V4L2Error) -> FrameRate? {
        var parameters = v4l2_streamparm()
        parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        parameters.parm.capture.timeperframe = v4l2_fract(numerator: 1, denominator: UInt32(rate.framesPerSecond))
        guard try requestUnless(ENOTTY, "VIDIOC_S_PARM", clinux_vidioc_s_parm, &parameters) else { return nil }
        let interval = parameters.parm.capture.timeperframe
        guard interval.numerator > 0, interval.denominator > 0 else { return nil }
        let framesPerSecond = (Double(interval.denominator) / Double(interval.numerator)).rounded()
        return FrameRate(framesPerSecond: Int(min(framesPerSecond, 240)))
    }

    /// Applies the low-light setting if the camera has controls for it. By default, many webcams lower the frame rate in the
    /// dark.
    func setExposure(_ settings: CameraSettings) {
        let chosen = Set(settings.controls.map(\.name))
        var defaults = [(name: "exposure_dynamic_framerate", value: settings.lowLight == .slow ? "on" : "off")]
        if let mains = settings.mains {
            defaults.append((name: "power_line_frequency", value: mains == .hertz50 ? "1" : "2"))
        }
        let offered = controls()
        for wanted in defaults where !chosen.contains(wanted.name) {
            guard let control = offered.first(where: { $0.name == wanted.name }),
                let value = control.value(wanted.value)
            else { continue }
            // A driver may refuse for a good reason, such as manual exposure. Leave it alone then.
            try? set(control, to: value)
        }
    }

    /// Sets controls by name after checking each value's type and range.
    func set(_ wanted: [CameraSettings.Control]) throws(V4L2Error) {
        guard !wanted.isEmpty else { return }
        let offered = controls()
        for setting in wanted {
            guard let control = offered.first(where: { $0.name == setting.name }) else {
                let names = offered.map(\.name).joined(separator: ", ")
                throw .unknownControl(path: path, name: setting.name, offered: names)
            }
            guard let value = control.value(setting.value) else {
                throw .badControlValue(
                    path: path, name: setting.name, value: setting.value, possible: control.possibleValues)
            }
            try set(control, to: value)
        }
    }

    private func set(_ control: V4L2Control, to value: Int64) throws(V4L2Error) {
        var entry = v4l2_ext_control()
        entry.id = control.id
        if control.kind == .integer64 { entry.value64 = value } else { entry.value = Int32(clamping: value) }
        try setControl(&entry)
    }
}

/// A control of a camera: focus, exposure, gain and so on.
public struct V4L2Control: Hashable, Sendable {
    public enum Kind: String, Sendable {
        case integer, boolean, menu, button, integer64
    }

    let id: UInt32
    /// The driver's name in lower case with underscores, as v4l2-ctl writes it: `focus_absolute`.
    public let name: String
    public let kind: Kind
    public let minimum: Int64
    public let maximum: Int64
    public let step: Int64
    public let defaultValue: Int64
    /// Whether the menu's entries are numbers themselves.
    private(set) var isIntegerMenu = false

    public init(
        id: UInt32, name: String, kind: Kind, minimum: Int64, maximum: Int64, step: Int64, defaultValue: Int64
    ) {
        self.id = id
        self.name = Self.normalized(name)
        self.kind = kind
        self.minimum = minimum
        self.maximum = maximum
        self.step = max(1, step)
        self.defaultValue = defaultValue
    }

    init?(_ query: v4l2_query_ext_ctrl) {
        let unusable = UInt32(V4L2_CTRL_FLAG_DISABLED) | UInt32(V4L2_CTRL_FLAG_READ_ONLY)
        guard query.flags & unusable == 0, query.nr_of_dims == 0 else { return nil }
        let kind: Kind
        switch query.type {
        case clinux_v4l2_ctrl_integer: kind = .integer
        case clinux_v4l2_ctrl_boolean: kind = .boolean
        case clinux_v4l2_ctrl_menu, clinux_v4l2_ctrl_integer_menu: kind = .menu
        case clinux_v4l2_ctrl_button: kind = .button
        case clinux_v4l2_ctrl_integer64: kind = .integer64
        default: return nil
        }
        self.init(
            id: query.id, name: withUnsafeBytes(of: query.name) { text($0) }, kind: kind, minimum: query.minimum,
            maximum: query.maximum, step: Int64(clamping: query.step), defaultValue: query.default_value)
        isIntegerMenu = query.type == clinux_v4l2_ctrl_integer_menu
    }

    /// Turns every run of characters other than letters and digits into one underscore.
    static func normalized(_ name: String) -> String {
        name.lowercased().utf8.split { !(97...122).contains($0) && !(48...57).contains($0) }
            .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "_")
    }

    /// Parses a value; `nil` if the control does not accept it.
    public func value(_ text: String) -> Int64? {
        let number: Int64? =
            switch (kind, text) {
            case (.boolean, "on"), (.boolean, "true"): 1
            case (.boolean, "off"), (.boolean, "false"): 0
            default: Int64(text)
            }
        guard let number, number >= minimum, number <= maximum else { return nil }
        // The range may span 64 bits.
        let (distance, overflows) = number.subtractingReportingOverflow(minimum)
        guard kind == .menu || kind == .button || overflows || distance % step == 0 else { return nil }
        return number
    }

    public var possibleValues: String {
        switch kind {
        case .boolean: "on or off"
        case .button: "0"
        default:
            "a whole number from \(minimum) to \(maximum)" + (step > 1 ? " in steps of \(step)" : "")
        }
    }
}

/// A camera's description, available without starting the camera.
public struct V4L2CameraDescription: Sendable {
    public let path: String
    public let name: String
    public let modes: [V4L2Mode]
    public let controls: [V4L2Control]
    /// False for nodes that deliver frames only as part of a larger device, which libcamera handles.
    public let isCameraOfItsOwn: Bool

    /// If one node hangs, others often do too, so later nodes get less time.
    private static let laterAnswerTimeout = Duration.milliseconds(300)

    /// Queries all video nodes in numerical order.
    /// - Parameter unanswered: receives `blocked` for each node whose driver does not answer.
    /// - Returns: the cameras that deliver frames by themselves.
    public static func all(unanswered: (V4L2Error) -> Void = { _ in }) -> [V4L2CameraDescription] {
        var timeout = V4L2Error.answerTimeout
        var found: [V4L2CameraDescription] = []
        for number in 0..<64 {
            let path = "/dev/video\(number)"
            guard access(path, F_OK) == 0 else { continue }
            do {
                found.append(try V4L2CameraDescription(at: path, timeout: timeout))
            } catch {
                guard case .blocked = error else { continue }
                timeout = laterAnswerTimeout
                unanswered(error)
            }
        }
        return found.filter(\.isCameraOfItsOwn)
    }

    private init(at path: String, timeout: Duration) throws(V4L2Error) {
        self = try V4L2Error.bounded(path, timeout: timeout) {
            Result { () throws(V4L2Error) in try V4L2CameraDescription(V4L2Device(capturingAt: path)) }
        }
    }

    private init(_ device: V4L2Device) throws(V4L2Error) {
        path = device.path
        isCameraOfItsOwn = device.isCameraOfItsOwn
        name = device.name
        modes = try device.modes(near: FrameSize(width: 1280, height: 720))
        controls = device.controls()
    }
}
