import Controls

/// One of the class's camera and processing controls (UVC 1.5, sections 4.2.2.1 and 4.2.2.3), and what it is in the table of
/// controls.
public struct UnitControl: Hashable, Sendable {
    public enum Unit: UInt8, Sendable {
        /// The IDs that the kernel's function gives its units.
        case camera = 1
        case processing = 2
    }

    /// How a number of the class stands for a control's value.
    enum Scale: Hashable, Sendable {
        /// So many of it are one of the control's unit.
        case parts(Double)
        case words([Int: String])
    }

    public let name: ControlName
    public let unit: Unit
    let selector: UInt8
    /// Of bmControls, by which a unit's descriptor says that it has the control.
    public let bit: Int
    let byteCount: Int
    let isSigned: Bool
    let scale: Scale

    private init(
        _ name: ControlName, _ unit: Unit, selector: UInt8, bit: Int, bytes: Int, signed: Bool = false, _ scale: Scale
    ) {
        self.name = name
        self.unit = unit
        self.selector = selector
        self.bit = bit
        byteCount = bytes
        isSigned = signed
        self.scale = scale
    }

    public static let all: [UnitControl] = [
        // bAutoExposureMode: 1 is manual, 8 is automatic with the aperture as it is.
        UnitControl(.exposure, .camera, selector: 2, bit: 1, bytes: 1, .words([1: "locked", 8: "auto"])),
        // In 100 µs.
        UnitControl(.exposureTime, .camera, selector: 4, bit: 3, bytes: 4, .parts(10)),
        // Hundredths of dioptres, as webcams have a number that grows towards the near; the class says millimetres.
        UnitControl(.lens, .camera, selector: 6, bit: 5, bytes: 2, .parts(100)),
        UnitControl(.focus, .camera, selector: 8, bit: 17, bytes: 1, .words([0: "manual", 1: "continuous"])),
        UnitControl(.zoom, .camera, selector: 11, bit: 9, bytes: 2, .parts(100)),
        UnitControl(.brightness, .processing, selector: 2, bit: 0, bytes: 2, signed: true, .parts(100)),
        UnitControl(.contrast, .processing, selector: 3, bit: 1, bytes: 2, .parts(100)),
        UnitControl(.gain, .processing, selector: 4, bit: 9, bytes: 2, .parts(100)),
        UnitControl(.saturation, .processing, selector: 7, bit: 3, bytes: 2, .parts(100)),
        UnitControl(.sharpness, .processing, selector: 8, bit: 4, bytes: 2, .parts(100)),
        UnitControl(.whiteBalance, .processing, selector: 10, bit: 6, bytes: 2, .parts(1)),
        UnitControl(.whiteBalance, .processing, selector: 11, bit: 12, bytes: 1, .words([0: "locked", 1: "auto"])),
    ]

    /// The bytes of a unit's bmControls for what a camera has.
    public static func mask(of unit: Unit, having statuses: [ControlStatus]) -> [UInt8] {
        var mask = [UInt8](repeating: 0, count: 3)
        for control in all where control.unit == unit && control.range(statuses) != nil {
            mask[control.bit / 8] |= 1 << UInt8(control.bit % 8)
        }
        return mask
    }
}

extension UnitControl {
    func status(_ statuses: [ControlStatus]) -> ControlStatus? {
        statuses.first { $0.offer.name == name && $0.offer.absence == nil }
    }

    /// The numbers that the camera takes; `nil` where it lacks the control.
    func range(_ statuses: [ControlStatus]) -> ClosedRange<Int>? {
        guard let offer = status(statuses)?.offer else { return nil }
        switch scale {
        case .parts(let parts):
            guard let range = offer.range else { return nil }
            let lowest = number(range.lowerBound * parts, rounded: .up)
            let highest = number(range.upperBound * parts, rounded: .down)
            return lowest <= highest ? lowest...highest : nil
        case .words(let words):
            let numbers = words.filter { offer.words.contains($0.value) }.keys.sorted()
            guard let first = numbers.first, let last = numbers.last, first < last else { return nil }
            return first...last
        }
    }

    /// What the control is now; where nobody knows, what it usually is.
    func current(_ statuses: [ControlStatus]) -> Int? {
        guard let range = range(statuses) else { return nil }
        let value = status(statuses)?.value.flatMap { number(of: $0) }
        return min(max(range.lowerBound, value ?? usual(in: range, statuses)), range.upperBound)
    }

    /// The driver's own, as its numbers may mean anything; else the description's.
    /// - Returns: the middle of the range for what has no usual value.
    func usual(in range: ClosedRange<Int>, _ statuses: [ControlStatus]) -> Int {
        switch scale {
        case .words(let words):
            return words.first { ["auto", "continuous"].contains($0.value) }?.key ?? range.lowerBound
        case .parts(let parts):
            let known = status(statuses)?.offer.usual ?? ControlDescription.of(name).usual.flatMap(Double.init)
            let usual = known.map { number($0 * parts, rounded: .toNearestOrEven) }
            let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
            return usual.flatMap { range.contains($0) ? $0 : nil } ?? middle
        }
    }

    /// - Returns: `nil` for a number that stands for nothing.
    func change(to number: Int, _ statuses: [ControlStatus]) -> ControlChange? {
        guard let range = range(statuses), range.contains(number) else { return nil }
        switch scale {
        case .words(let words): return words[number].map { ControlChange(name, .word($0)) }
        case .parts(let parts):
            let value = Double(number) / parts
            return ControlChange(name, name == .whiteBalance ? .temperature(value) : .number(value))
        }
    }

    /// Of modes it is a bit for each that there is; else the step.
    func resolution(in range: ClosedRange<Int>) -> Int {
        guard selector == 2, unit == .camera, case .words(let words) = scale else { return 1 }
        return words.keys.reduce(0, |)
    }

    private func number(of value: ControlValue) -> Int? {
        switch (value, scale) {
        case (.number(let value), .parts(let parts)), (.temperature(let value), .parts(let parts)):
            number(value * parts, rounded: .toNearestOrEven)
        case (.word(let word), .words(let words)) where words.values.contains(word):
            words.first { $0.value == word }?.key
        // A temperature, gains or a kind of light is anything but automatic.
        case (_, .words(let words)) where name == .whiteBalance: words.first { $0.value == "locked" }?.key
        default: nil
        }
    }

    /// Within what the class's field holds.
    private func number(_ value: Double, rounded rule: FloatingPointRoundingRule) -> Int {
        let bits = 8 * byteCount
        let (lowest, highest) = isSigned ? (-(1 << (bits - 1)), 1 << (bits - 1) - 1) : (0, 1 << bits - 1)
        guard value.isFinite else { return lowest }
        return Int(min(max(Double(lowest), value.rounded(rule)), Double(highest)))
    }

    func bytes(of number: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    func number(from bytes: [UInt8]) -> Int? {
        guard bytes.count >= byteCount else { return nil }
        var reader = LittleEndianReader(bytes)
        return switch (byteCount, isSigned) {
        case (1, _): Int(reader.next(UInt8.self))
        case (2, true): Int(Int16(bitPattern: reader.next(UInt16.self)))
        case (2, false): Int(reader.next(UInt16.self))
        default: Int(reader.next(UInt32.self))
        }
    }
}
