import Controls

extension UnitControl {
    func status(_ statuses: [ControlStatus]) -> ControlStatus? {
        statuses.first { $0.offer.name == name && $0.offer.absence == nil }
    }

    /// The class's range of numbers; `nil` if the camera lacks the control.
    func range(_ statuses: [ControlStatus]) -> ClosedRange<Int>? {
        guard let offer = status(statuses)?.offer else { return nil }
        switch scale {
        case .parts:
            guard let range = offer.range, let parts = parts(statuses) else { return nil }
            let lowest = number(range.lowerBound * parts, rounded: .up)
            let highest = number(range.upperBound * parts, rounded: .down)
            return lowest <= highest ? lowest...highest : nil
        case .words(let words):
            let numbers = words.filter { offer.words.contains($0.value) }.keys.sorted()
            guard let first = numbers.first, let last = numbers.last, first < last else { return nil }
            return first...last
        }
    }

    /// The current number; the usual one if the current value is unknown.
    func current(_ statuses: [ControlStatus]) -> Int? {
        guard let range = range(statuses) else { return nil }
        let value = isSetByHand(statuses) ? manual : status(statuses)?.value.flatMap { number(of: $0, statuses) }
        return min(max(range.lowerBound, value ?? usual(in: range, statuses)), range.upperBound)
    }

    /// The driver's default, because its numbers may mean anything; otherwise the description's.
    /// - Returns: the middle of the range if there is no usual value.
    func usual(in range: ClosedRange<Int>, _ statuses: [ControlStatus]) -> Int {
        switch scale {
        case .words(let words):
            return words.first { ["auto", "continuous"].contains($0.value) }?.key ?? range.lowerBound
        case .parts:
            let parts = parts(statuses) ?? 1
            func number(_ value: Double) -> Int { self.number(value * parts, rounded: .toNearestOrEven) }
            if let own = status(statuses)?.offer.usual.map(number) {
                return min(max(range.lowerBound, own), range.upperBound)
            }
            let usual = ControlDescription.of(name).usual.flatMap(Double.init).map(number)
            let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
            return usual.flatMap { range.contains($0) ? $0 : nil } ?? middle
        }
    }

    /// - Returns: `nil` for a number without a meaning.
    func change(to number: Int, _ statuses: [ControlStatus]) -> ControlChange? {
        guard let range = range(statuses), range.contains(number) else { return nil }
        switch scale {
        case .words(let words): return words[number].map { ControlChange(name, .word($0)) }
        case .parts:
            guard let parts = parts(statuses) else { return nil }
            let value = Double(number) / parts
            return ControlChange(name, name == .whiteBalance ? .temperature(value) : .number(value))
        }
    }

    /// For modes, one bit per available mode; otherwise the step.
    func resolution(in range: ClosedRange<Int>) -> Int {
        guard selector == 2, unit == .camera, case .words(let words) = scale else { return 1 }
        return words.keys.reduce(0, |)
    }

    private func number(of value: ControlValue, _ statuses: [ControlStatus]) -> Int? {
        switch (value, scale) {
        case (.number(let value), .parts), (.temperature(let value), .parts):
            parts(statuses).map { number(value * $0, rounded: .toNearestOrEven) }
        case (.word(let word), .words(let words)) where words.values.contains(word):
            words.first { $0.value == word }?.key
        // A temperature, gains or a kind of light all mean that it is not automatic.
        case (_, .words(let words)) where name == .whiteBalance: words.first { $0.value == "locked" }?.key
        default: nil
        }
    }

    /// How many of the class's steps make one of this camera's units; `nil` for a control without numbers.
    private func parts(_ statuses: [ControlStatus]) -> Double? {
        guard case .parts(let choices) = scale, let range = status(statuses)?.offer.range else { return nil }
        // No scale makes negative values fit into an unsigned field.
        let lowest = isSigned ? range.lowerBound : max(0, range.lowerBound)
        let fitting = choices.first { field.contains(lowest * $0) && field.contains(range.upperBound * $0) }
        return fitting ?? choices.last
    }

    /// The values that fit into the class's field.
    private var field: ClosedRange<Double> {
        let bits = 8 * byteCount
        return isSigned ? Double(-(1 << (bits - 1)))...Double(1 << (bits - 1) - 1) : 0...Double(1 << bits - 1)
    }

    private func number(_ value: Double, rounded rule: FloatingPointRoundingRule) -> Int {
        guard value.isFinite else { return Int(field.lowerBound) }
        return Int(min(max(field.lowerBound, value.rounded(rule)), field.upperBound))
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

// MARK: Automatic control

extension UnitControl {
    /// The control by which the computer takes over this number, or returns it to the camera; `nil` if there is none.
    private var automatic: UnitControl? {
        guard case .parts = scale else { return nil }
        let name: ControlName? =
            switch self.name {
            case .exposureTime, .gain: .exposure
            case .lens: .focus
            case .whiteBalance: .whiteBalance
            default: nil
            }
        return Self.all.first { $0.name == name && $0 != self }
    }

    /// The mode in which the computer sets the number.
    private var manual: Int? {
        guard case .words(let words) = scale else { return nil }
        return words.first { ["locked", "manual"].contains($0.value) }?.key
    }

    /// Whether the camera currently controls the number itself, so that setting it has no effect. Follows the mode that the
    /// computer reads, so that the computer can always take the number over.
    func isAutomatic(_ statuses: [ControlStatus]) -> Bool {
        guard let automatic, let mode = automatic.current(statuses), mode != automatic.manual,
            let status = status(statuses)
        else { return false }
        switch name {
        // One of the two may have been set manually, or the camera controls only the other.
        case .exposureTime, .gain: return status.offer.isFoundByExposure && !status.isNumber
        default: return true
        }
    }

    /// For the class, a fixed exposure time means manual exposure, whatever controls the gain (UVC 1.5, section 4.2.2.1.2). A
    /// camera that does not report its exposure counts as automatic.
    private func isSetByHand(_ statuses: [ControlStatus]) -> Bool {
        guard name == .exposure else { return false }
        return statuses.contains { $0.offer.name == .exposureTime && $0.offer.isFoundByExposure && $0.isNumber }
    }
}

extension ControlStatus {
    fileprivate var isNumber: Bool { if case .number = value { true } else { false } }
}

extension ControlOffer {
    /// Whether automatic exposure can control it.
    var isFoundByExposure: Bool { [.exposureTime, .gain].contains(name) && words.contains("auto") }
}
