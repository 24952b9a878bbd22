/// The contents of `board.json`: facts about the hardware, which come with the image and are not choices.
public struct BoardDescription: Hashable, Sendable {
    /// A line of a GPIO chip, identified by name.
    public struct Line: Hashable, Sendable {
        /// `nil` to search all chips for the name.
        public let chip: String?
        public let name: String
        /// Low level means pressed, or lit.
        public let isActiveLow: Bool
    }

    /// A light that can be switched.
    public enum Light: Hashable, Sendable {
        case line(Line)
        /// An LED of the kernel's LED class, by name.
        case led(String)
        /// A V4L2 flash, by the name of its driver's subdevice.
        case subdevice(String)

        var line: Line? { if case .line(let line) = self { line } else { nil } }
    }

    /// The capacity of the USB device port's controller.
    public struct DevicePort: Hashable, Sendable {
        /// Bytes per service interval; 1 to 3072.
        public let packetBytes: Int
        /// bInterval: 2^(interval-1) times 125 µs; 1 to 16.
        public let interval: Int
    }

    public enum Encoder: String, CaseIterable, Sendable {
        /// The hardware encoder if there is one, otherwise OpenH264.
        case auto
        case v4l2
        case openh264
    }

    public var name: String
    public var button: Line?
    public var statusLED: Line?
    public var flashLED: Light?
    public var encoder = Encoder.auto
    /// The machine may restart itself when nothing is live and the hardware encoder is dead.
    public var restartForEncoder = false
    /// The name of the lens driver's subdevice; `nil` for a fixed lens.
    public var lens: String?
    /// An ALSA device name.
    public var microphone: String?
    public var watchdog: String?
    /// Serial port of the console.
    public var console: String?
    /// For webcam mode; `nil` for the capacity known of Raspberry Pi's controllers.
    public var devicePort: DevicePort?
}

extension BoardDescription {
    /// A complete correct file.
    public static let example = #"{"name": "Raspberry Pi 4", "button": {"line": "GPIO17", "activeLow": true}}"#

    public static func decode(_ json: JSONValue) -> Decoded<BoardDescription> {
        json.decode(example: example) { reader in
            let name = reader.name("name", required: true, example: #""name": "Raspberry Pi 4""#)
            var board = BoardDescription(name: name ?? "")
            board.button = readLine("button", &reader)
            board.statusLED = readLine("statusLED", &reader)
            board.flashLED = readLight("flashLED", &reader)
            refuseSharedLines(board, &reader)
            let encoder = reader.choice(
                "encoder", of: Encoder.allCases.map(\.rawValue), example: #""encoder": "auto""#)
            board.encoder = encoder.flatMap(Encoder.init) ?? .auto
            board.restartForEncoder =
                reader.flag("restartForEncoder", example: #""restartForEncoder": true"#)?.value ?? false
            board.lens = reader.name("lens", example: #""lens": "dw9807 10-000c""#)
            board.microphone = reader.name("microphone", example: #""microphone": "hw:CARD=seeed2micvoicec""#)
            board.watchdog = readDevice("watchdog", example: #""watchdog": "/dev/watchdog""#, &reader)
            board.console = readDevice("console", example: #""console": "/dev/ttyAMA0""#, &reader)
            board.devicePort = readDevicePort(&reader)
            return board
        }
    }

    /// The lines used in docs/reference/hardware.md and in the boards' own files.
    private static let usualLines = ["button": "GPIO17", "statusLED": "GPIO27", "flashLED": "GPIO22"]

    /// - Parameter taken: lines that are already used.
    private static func lineExample(_ key: String, besides taken: [String] = []) -> String {
        let candidates = [usualLines[key]].compactMap { $0 } + ["GPIO23", "GPIO24", "GPIO25", "GPIO5"]
        let line = candidates.first { !taken.contains($0) } ?? "GPIO6"
        let activeLow = key == "button" ? ", \"activeLow\": true" : ""
        return "\"\(key)\": {\"line\": \"\(line)\"\(activeLow)}"
    }

    private static func readLine(_ key: String, _ reader: inout DescriptionReader) -> Line? {
        reader.object(key, example: lineExample(key)) { line in readLine(key, &line, isRequired: true) }
    }

    private static func readLine(_ key: String, _ line: inout DescriptionReader, isRequired: Bool) -> Line? {
        let chip = line.name("chip", example: #""chip": "pinctrl-bcm2835""#)
        let name = line.name("line", required: isRequired, example: "\"line\": \"\(usualLines[key] ?? "GPIO5")\"")
        let isActiveLow = line.flag("activeLow", example: #""activeLow": true"#)?.value ?? false
        return name.map { Line(chip: chip, name: $0, isActiveLow: isActiveLow) }
    }

    private static func readLight(_ key: String, _ reader: inout DescriptionReader) -> Light? {
        reader.object(key, example: lineExample(key)) { light in
            let led = light.name("led", example: #""led": "white:torch""#)
            let subdevice = light.name("subdevice", example: #""subdevice": "lm3643 0-0063""#)
            let line = readLine(key, &light, isRequired: led == nil && subdevice == nil)
            let given: [Light] = [line.map { .line($0) }, led.map { .led($0) }, subdevice.map { .subdevice($0) }]
                .compactMap { $0 }
            if given.count > 1 {
                light.report(
                    .invalidValue, led == nil ? "subdevice" : "led",
                    "names a different light than \"\(line == nil ? "led" : "line")\"; keep one of them",
                    example: lineExample(key))
            }
            return given.first
        }
    }

    private static func readDevicePort(_ reader: inout DescriptionReader) -> DevicePort? {
        let example = #""devicePort": {"packetBytes": 1024, "interval": 4}"#
        return reader.object("devicePort", example: example) { port in
            let packetBytes = port.integer("packetBytes", in: 1...3072, unit: "bytes", required: true, example: example)
            let interval = port.integer("interval", in: 1...16, example: example)
            guard let packetBytes else { return nil }
            if let interval, interval.value > 1, packetBytes.value > 1024 {
                port.report(
                    .invalidValue, "packetBytes", "must be 1024 or less with an interval above 1", example: example)
            }
            return DevicePort(packetBytes: packetBytes.value, interval: interval?.value ?? 1)
        }
    }

    private static func readDevice(_ key: String, example: String, _ reader: inout DescriptionReader) -> String? {
        guard let path = reader.name(key, example: example) else { return nil }
        guard path.hasPrefix("/dev/"), !path.split(separator: "/").contains("..") else {
            reader.report(.invalidValue, key, "must be a device file below /dev, without \"..\"", example: example)
            return nil
        }
        return path
    }

    private static func refuseSharedLines(_ board: BoardDescription, _ reader: inout DescriptionReader) {
        let uses = [("button", board.button), ("statusLED", board.statusLED), ("flashLED", board.flashLED?.line)]
        for (index, use) in uses.enumerated() {
            guard let line = use.1 else { continue }
            let earlier = uses[..<index].first { $0.1?.name == line.name && $0.1?.chip == line.chip }
            if let earlier {
                reader.report(
                    .invalidValue, use.0, "uses the same line as \"\(earlier.0)\"; assign another line",
                    example: lineExample(use.0, besides: uses.compactMap { $0.1?.name }))
            }
        }
    }
}
