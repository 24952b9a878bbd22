import Media

/// What was asked of a camera so far: to tell a person, and the camera again after it was lost.
public struct WishedControls: Hashable, Sendable {
    private var values: [ControlName: ControlValue] = [:]

    public init() {}

    public subscript(name: ControlName) -> ControlValue? { values[name] }

    /// The newest value of each control counts, and what it takes the place of no more.
    public mutating func take(_ changes: [ControlChange]) {
        for change in changes {
            for rival in change.rivals { values[rival] = nil }
            // A lens that is set stands still.
            if change.name == .lens { values[.focus] = .word("manual") }
            values[change.name] = change.value
        }
    }

    public mutating func forget(_ names: [ControlName]) {
        for name in names { values[name] = nil }
    }

    /// For a camera that starts anew: what was locked has the values that it had, since a new start has found none yet.
    /// - Parameter report: the last one before.
    public func changes(asFound report: CameraReport) -> [ControlChange] {
        changes.flatMap { change -> [ControlChange] in
            switch (change.name, change.value) {
            case (.exposure, .word("locked")):
                let time = report.exposureTime.map { ControlChange(.exposureTime, .number($0.inSeconds * 1000)) }
                let gain = report.gain.map { ControlChange(.gain, .number($0)) }
                return [change] + [time, gain].compactMap { $0 }
            case (.whiteBalance, .word("locked")):
                return [
                    report.colorGains.map { ControlChange(.whiteBalance, .gains(red: $0.red, blue: $0.blue)) } ?? change
                ]
            case (.focus, .word("manual")) where self[.lens] == nil:
                return [change] + (report.lens.map { [ControlChange(.lens, .number($0))] } ?? [])
            default: return [change]
            }
        }
    }

    /// In the table's order.
    public var changes: [ControlChange] {
        ControlName.allCases.compactMap { name in values[name].map { ControlChange(name, $0) } }
    }
}

extension ControlChange {
    /// Controls that say of the same thing something else.
    var rivals: [ControlName] {
        switch (name, value) {
        case (.focus, .word("manual")): []
        case (.focus, _): [.lens]
        case (.focusPoint, _): [.lens]
        case (.exposure, _): [.exposureTime, .gain]
        case (.exposureTime, _), (.gain, _): [.exposure]
        default: []
        }
    }
}
