import CLibcamera

/// A control that a camera offers, under libcamera's name.
public struct CameraControl: Hashable, Sendable {
    public enum Kind: String, Sendable {
        case boolean, integer, real
        /// One of the values that the camera lists.
        case choice
        /// A part of the frame: left, top, width, height.
        case rectangle
        /// Text and similar: can be listed but not set.
        case other
    }

    /// A value with a name. Without a name, its number serves as one.
    public struct Choice: Hashable, Sendable {
        public let name: String
        public let value: Double

        public init(name: String, value: Double) {
            self.name = name
            self.value = value
        }
    }

    struct Rectangle: Hashable, Sendable {
        let left, top, width, height: Double

        init(_ left: Double, _ top: Double, _ width: Double, _ height: Double) {
            (self.left, self.top, self.width, self.height) = (left, top, width, height)
        }

        fileprivate func contains(_ other: Rectangle) -> Bool {
            other.left >= left && other.top >= top && other.left + other.width <= left + width
                && other.top + other.height <= top + height
        }

        var text: String { [left, top, width, height].map { "\(Int64(clamping: $0))" }.joined(separator: "/") }
    }

    struct RectangleRange: Hashable, Sendable {
        let least: Rectangle
        /// The area that the rectangle must lie in.
        let bounds: Rectangle
    }

    private(set) var id: UInt32 = 0
    public let name: String
    public let kind: Kind
    /// How many values it takes; `nil` for any number.
    public let count: Int?
    /// Limits of each number.
    public let minimum: Double
    public let maximum: Double
    public let choices: [Choice]
    let rectangles: RectangleRange?

    /// `minimum` and `maximum`; `nil` for rectangles and text, whose possible values are not a range of numbers.
    public var range: (minimum: Double, maximum: Double)? {
        switch kind {
        case .boolean, .integer, .real, .choice: (minimum, maximum)
        case .rectangle, .other: nil
        }
    }

    init(
        name: String, kind: Kind, count: Int? = 1, minimum: Double = 0, maximum: Double = 0,
        choices: [Choice] = [], rectangles: RectangleRange? = nil
    ) {
        self.name = name
        self.kind = kind
        self.count = count
        self.minimum = minimum
        self.maximum = maximum
        self.choices = choices
        self.rectangles = rectangles
    }
}

extension CameraControl {
    init(_ control: clibcamera_control) {
        let choices = UnsafeBufferPointer(start: control.values, count: control.value_count).map { value in
            Choice(
                name: value.name.map { String(cString: $0) } ?? "\(Int64(clamping: value.value))", value: value.value)
        }
        let kind: Kind =
            switch control.type {
            case CLIBCAMERA_BOOL: .boolean
            case CLIBCAMERA_INTEGER: choices.isEmpty ? .integer : .choice
            case CLIBCAMERA_FLOAT: .real
            case CLIBCAMERA_RECTANGLE: .rectangle
            default: .other
            }
        let (least, most) = (control.minimum, control.maximum)
        self.init(
            name: String(cString: control.name), kind: kind,
            count: control.count == 0 ? nil : control.count, minimum: least.0, maximum: most.0, choices: choices,
            rectangles: RectangleRange(
                least: Rectangle(least.0, least.1, least.2, least.3),
                bounds: Rectangle(most.0, most.1, most.2, most.3)))
        id = control.id
    }

    /// Collects the controls that a function of the bridge reports. The second parameter is its context.
    static func collect(
        _ tell: (clibcamera_control_taker, UnsafeMutableRawPointer) -> Int32
    ) -> [CameraControl] {
        let collected = Collected<CameraControl>()
        let taker: clibcamera_control_taker = { context, control in
            guard let control = control?.pointee else { return }
            Collected<CameraControl>.from(context)?.items.append(CameraControl(control))
        }
        _ = tell(taker, collected.context)
        return collected.items
    }

    static let horizontalFlip = CameraControl(name: "HorizontalFlip", kind: .boolean, maximum: 1)
    static let verticalFlip = CameraControl(name: "VerticalFlip", kind: .boolean, maximum: 1)

    /// In libcamera, flips are not controls but part of the configuration.
    var isFlip: Bool { self == .horizontalFlip || self == .verticalFlip }

    static func flips(of camera: OpaquePointer) -> [CameraControl] {
        var horizontal = false
        var vertical = false
        guard clibcamera_camera_flips(camera, &horizontal, &vertical) == 0 else { return [] }
        return (horizontal ? [.horizontalFlip] : []) + (vertical ? [.verticalFlip] : [])
    }
}

extension CameraControl {
    /// Parses a text into numbers, separated by `/`; `nil` if the control does not accept them.
    public func values(_ text: String) -> [Double]? {
        let words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let each = kind == .rectangle ? 4 : 1
        guard words.count % each == 0, count.map({ words.count == $0 * each }) ?? true else { return nil }
        var values: [Double] = []
        for word in words {
            guard let value = value(word) else { return nil }
            values.append(value)
        }
        return rectanglesFit(values) ? values : nil
    }

    private func value(_ word: String) -> Double? {
        switch kind {
        case .boolean:
            let value: Double? = ["on": 1, "true": 1, "off": 0, "false": 0][word]
            return value.flatMap { inRange($0) }
        case .integer: return Int64(word).map(Double.init).flatMap { inRange($0) }
        case .real: return Double(word).flatMap { inRange($0) }
        case .choice:
            // "Auto" is accepted for AfModeAuto too.
            let named = choices.first { $0.name == word || $0.name == name + word }
            return (named ?? Int64(word).flatMap { number in choices.first { $0.value == Double(number) } })?.value
        case .rectangle: return Int32(word).map(Double.init)
        case .other: return nil
        }
    }

    private func inRange(_ number: Double) -> Double? {
        number >= minimum && number <= maximum ? number : nil
    }

    private func rectanglesFit(_ values: [Double]) -> Bool {
        guard kind == .rectangle, let rectangles else { return kind != .rectangle }
        return stride(from: 0, to: values.count, by: 4).allSatisfy { index in
            let asked = Rectangle(values[index], values[index + 1], values[index + 2], values[index + 3])
            return asked.width >= max(1, rectangles.least.width) && asked.height >= max(1, rectangles.least.height)
                && rectangles.bounds.contains(asked)
        }
    }

    public var possibleValues: String {
        let one =
            switch kind {
            case .boolean: minimum < maximum ? "on or off" : minimum > 0 ? "on" : "off"
            case .integer: "a whole number from \(Int64(clamping: minimum)) to \(Int64(clamping: maximum))"
            case .real: "a number from \(minimum) to \(maximum)"
            case .choice: "one of " + choices.map(\.name).joined(separator: ", ")
            case .rectangle:
                "LEFT/TOP/WIDTH/HEIGHT within \(rectangles?.bounds.text ?? ""), at least "
                    + "\(Int64(clamping: rectangles?.least.width ?? 0)) wide and "
                    + "\(Int64(clamping: rectangles?.least.height ?? 0)) high"
            case .other: "not to be set here"
            }
        return switch count {
        case 1: one
        case nil: "\(one); several with / between them"
        case let count?: "\(count) times \(one), with / between them"
        }
    }
}

extension Int64 {
    /// The nearest integer in range; zero for NaN.
    fileprivate init(clamping value: Double) {
        self = Int64(exactly: value.rounded()) ?? (value > 0 ? .max : value < 0 ? .min : 0)
    }
}
