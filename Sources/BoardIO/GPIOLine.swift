import CGPIOD
import Glibc
import LinuxIO
import Media

/// One line of a GPIO chip, found by name and held until the value goes out of scope. Used from one thread.
struct GPIOLine: ~Copyable {
    let request: OpaquePointer
    let offset: UInt32
    let name: String

    enum Use {
        /// Reports both edges, with times on CLOCK_MONOTONIC.
        case input(pullsUp: Bool)
        case output
    }

    /// - Parameters:
    ///   - chip: the chip's name or label; `nil` to search all of them.
    ///   - isActiveLow: whether the low level means pressed or lit.
    init(name: String, chip: String?, isActiveLow: Bool, use: Use) throws(BoardIOError) {
        let found = try Self.find(name, chip: chip)
        defer { gpiod_chip_close(found.chip) }
        guard let settings = gpiod_line_settings_new(), let config = gpiod_line_config_new(),
            let requestConfig = gpiod_request_config_new()
        else { throw .failed(SystemCallError("gpiod_line_settings_new", subject: name)) }
        defer {
            gpiod_line_settings_free(settings)
            gpiod_line_config_free(config)
            gpiod_request_config_free(requestConfig)
        }
        gpiod_line_settings_set_active_low(settings, isActiveLow)
        switch use {
        case .input(let pullsUp):
            gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT)
            gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH)
            gpiod_line_settings_set_bias(settings, pullsUp ? GPIOD_LINE_BIAS_PULL_UP : GPIOD_LINE_BIAS_PULL_DOWN)
        case .output:
            gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT)
            gpiod_line_settings_set_output_value(settings, GPIOD_LINE_VALUE_INACTIVE)
        }
        gpiod_request_config_set_consumer(requestConfig, "tallycam")
        var offset = found.offset
        guard gpiod_line_config_add_line_settings(config, &offset, 1, settings) == 0 else {
            throw .failed(SystemCallError("gpiod_line_config_add_line_settings", subject: name))
        }
        guard let request = gpiod_chip_request_lines(found.chip, requestConfig, config) else {
            throw errno == EBUSY
                ? .busy(name: name) : .failed(SystemCallError("gpiod_chip_request_lines", subject: name))
        }
        self.request = request
        self.offset = offset
        self.name = name
    }

    deinit { gpiod_line_request_release(request) }

    /// Whether the chip still responds.
    var isThere: Bool { gpiod_line_request_get_value(request, offset) != GPIOD_LINE_VALUE_ERROR }

    /// The open chip that has the line. The caller must close it.
    private static func find(
        _ name: String, chip wanted: String?
    ) throws(BoardIOError) -> (chip: OpaquePointer, offset: UInt32) {
        for path in chipPaths() {
            guard let chip = gpiod_chip_open(path) else { continue }
            if wanted == nil || has(chip, name: wanted) {
                let offset = gpiod_chip_get_line_offset_from_name(chip, name)
                if offset >= 0 { return (chip, UInt32(offset)) }
            }
            gpiod_chip_close(chip)
        }
        throw .noSuchLine(name: name, chip: wanted)
    }

    private static func has(_ chip: OpaquePointer, name: String?) -> Bool {
        guard let info = gpiod_chip_get_info(chip) else { return false }
        defer { gpiod_chip_info_free(info) }
        return [gpiod_chip_info_get_name(info), gpiod_chip_info_get_label(info)]
            .contains { text in text.map { String(cString: $0) } == name }
    }

    static func chipPaths() -> [String] {
        // More than any board has. Unplugged chips leave gaps in the numbers.
        (0..<64).map { "/dev/gpiochip\($0)" }.filter { gpiod_is_gpiochip_device($0) }
    }
}

/// A push button. Used from one thread.
public final class GPIOButton {
    /// A change of the line. Times are on CLOCK_MONOTONIC and never decrease.
    public struct Edge: Hashable, Sendable {
        public let isPressed: Bool
        public let time: MediaTimestamp

        public init(isPressed: Bool, time: MediaTimestamp) {
            self.isPressed = isPressed
            self.time = time
        }
    }

    private static let bufferSize = 32
    private static let rounds = 4
    private let line: GPIOLine
    private let buffer: OpaquePointer
    /// Whether the button was already pressed when it was opened.
    public let wasPressedAtFirst: Bool

    /// A button to ground gets a pull-up, one to the supply a pull-down.
    public init(name: String, chip: String?, isActiveLow: Bool) throws(BoardIOError) {
        line = try GPIOLine(name: name, chip: chip, isActiveLow: isActiveLow, use: .input(pullsUp: isActiveLow))
        guard let buffer = gpiod_edge_event_buffer_new(Self.bufferSize) else {
            throw .failed(SystemCallError("gpiod_edge_event_buffer_new", subject: name))
        }
        self.buffer = buffer
        wasPressedAtFirst =
            gpiod_line_request_get_value(line.request, line.offset) == GPIOD_LINE_VALUE_ACTIVE
    }

    deinit { gpiod_edge_event_buffer_free(buffer) }

    /// Readable when `takeEdges` has something.
    public var fileDescriptor: Int32 { gpiod_line_request_get_fd(line.request) }

    public var isThere: Bool { line.isThere }

    /// The edges since the last call. Never blocks. If a line is faster than its reader (a wire that picks up noise), the rest
    /// is kept for the next call.
    /// - Throws: also if the chip is gone.
    public func takeEdges() throws(BoardIOError) -> [Edge] {
        var edges: [Edge] = []
        for _ in 0..<Self.rounds {
            guard gpiod_line_request_wait_edge_events(line.request, 0) == 1 else { break }
            let count = gpiod_line_request_read_edge_events(line.request, buffer, Self.bufferSize)
            guard count > 0 else {
                throw .failed(SystemCallError("gpiod_line_request_read_edge_events", subject: line.name))
            }
            for index in 0..<count {
                guard let event = gpiod_edge_event_buffer_get_event(buffer, UInt(index)) else { continue }
                edges.append(
                    Edge(
                        isPressed: gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE,
                        time: MediaTimestamp(nanoseconds: Int64(clamping: gpiod_edge_event_get_timestamp_ns(event)))))
            }
        }
        return edges
    }
}

/// An LED, or anything else that a line switches. It goes dark when the object goes away. Used from one thread.
public final class GPIOLamp {
    private let line: GPIOLine

    public init(name: String, chip: String?, isActiveLow: Bool) throws(BoardIOError) {
        line = try GPIOLine(name: name, chip: chip, isActiveLow: isActiveLow, use: .output)
    }

    deinit { gpiod_line_request_set_value(line.request, line.offset, GPIOD_LINE_VALUE_INACTIVE) }

    public var isThere: Bool { line.isThere }

    public func set(isLit: Bool) throws(BoardIOError) {
        let value = isLit ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE
        guard gpiod_line_request_set_value(line.request, line.offset, value) == 0 else {
            throw .failed(SystemCallError("gpiod_line_request_set_value", subject: line.name))
        }
    }
}
