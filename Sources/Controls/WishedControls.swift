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
