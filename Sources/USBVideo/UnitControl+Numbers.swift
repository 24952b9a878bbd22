import Controls

extension UnitControl {
    func status(_ statuses: [ControlStatus]) -> ControlStatus? {
        statuses.first { $0.offer.name == name && $0.offer.absence == nil }
    }

    /// The numbers that the camera takes; `nil` where it lacks the control.
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

    /// What the control is now; where nobody knows, what it usually is.
    func current(_ statuses: [ControlStatus]) -> Int? {
        guard let range = range(statuses) else { return nil }
        let value = isSetByHand(statuses) ? manual : status(statuses)?.value.flatMap { number(of: $0, statuses) }
        return min(max(range.lowerBound, value ?? usual(in: range, statuses)), range.upperBound)
    }

    /// The driver's own, as its numbers may mean anything; else the description's.
    /// - Returns: the middle of the range for what has no usual value.
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

    /// - Returns: `nil` for a number that stands for nothing.
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

    /// Of modes it is a bit for each that there is; else the step.
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
        // A temperature, gains or a kind of light is anything but automatic.
        case (_, .words(let words)) where name == .whiteBalance: words.first { $0.value == "locked" }?.key
        default: nil
        }
    }

    /// How many of the class's number are one of this camera's unit; `nil` for what has no number here.
    private func parts(_ statuses: [ControlStatus]) -> Double? {
        guard case .parts(let choices) = scale, let range = status(statuses)?.offer.range else { return nil }
        // No scale makes a field without a sign hold what is below 0.
        let lowest = isSigned ? range.lowerBound : max(0, range.lowerBound)
        let fitting = choices.first { field.contains(lowest * $0) && field.contains(range.upperBound * $0) }
        return fitting ?? choices.last
    }

    /// What the class's field holds.
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

// MARK: What the camera finds by itself

extension UnitControl {
    /// By which the computer hands this control's number to the camera, or takes it back; `nil` where there is none.
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

    /// What leaves its number to the computer.
    private var manual: Int? {
        guard case .words(let words) = scale else { return nil }
        return words.first { ["locked", "manual"].contains($0.value) }?.key
    }

    /// Whether the camera finds the number by itself now: to set it means nothing. By what the computer reads of the automatic, so
    /// that it can always be taken back.
    func isAutomatic(_ statuses: [ControlStatus]) -> Bool {
        guard let automatic, let mode = automatic.current(statuses), mode != automatic.manual,
            let status = status(statuses)
        else { return false }
        switch name {
        // One of the two may have been set by hand, or the camera finds only the other one.
        case .exposureTime, .gain: return status.offer.isFoundByExposure && !status.isNumber
        default: return true
        }
    }

    /// A time that was set by hand is manual exposure for the class, whoever finds the gain (UVC 1.5, section 4.2.2.1.2); a camera
    /// that says nothing of its exposure is taken for automatic.
    private func isSetByHand(_ statuses: [ControlStatus]) -> Bool {
        guard name == .exposure else { return false }
        return statuses.contains { $0.offer.name == .exposureTime && $0.offer.isFoundByExposure && $0.isNumber }
    }
}

extension ControlStatus {
    fileprivate var isNumber: Bool { if case .number = value { true } else { false } }
}

extension ControlOffer {
    /// An automatic exposure finds it, where the camera can.
    var isFoundByExposure: Bool { [.exposureTime, .gain].contains(name) && words.contains("auto") }
}
