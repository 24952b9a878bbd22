import Media

/// All control values requested of a camera so far: for display, and to set them again after the camera was lost.
public struct WishedControls: Hashable, Sendable {
    private var values: [ControlName: ControlValue] = [:]

    public init() {}

    public subscript(name: ControlName) -> ControlValue? { values[name] }

    /// Keeps the newest value of each control and removes the values that it replaces.
    public mutating func take(_ changes: [ControlChange]) {
        for change in changes {
            for rival in change.rivals { values[rival] = nil }
            // Setting the lens position stops autofocus.
            if change.name == .lens { values[.focus] = .word("manual") }
            values[change.name] = change.value
        }
    }

    public mutating func forget(_ names: [ControlName]) {
        for name in names { values[name] = nil }
    }

    /// The changes for a camera that restarts. Locked controls get their earlier values explicitly, since a restarted
    /// camera has not measured any yet.
    /// - Parameter report: the last one before the restart.
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
    /// Controls whose values this change replaces.
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
