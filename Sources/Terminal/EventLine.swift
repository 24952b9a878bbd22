import JSONText
import StreamLogic

/// An event as one line with a JSON object, for programs: docs/reference/events.md.
/// - Parameter seconds: since the program's start.
public func jsonLine(_ event: some Event, at seconds: Double) -> [UInt8] {
    var writer = JSONLineWriter()
    return writer.line { object in
        object.write("t", (seconds * 1e6).rounded() / 1e6)
        object.write("code", event.code?.rawValue ?? 0)
        object.write("name", event.name)
        for (name, value) in event.fields { object.write(name, value) }
    }
}

extension JSONObjectWriter {
    /// Numbers are rounded to four decimals.
    fileprivate func write(_ name: String, _ value: EventValue) {
        switch value {
        case .integer(let value): write(name, value)
        case .number(let value): write(name, (value * 1e4).rounded() / 1e4)
        case .text(let value): write(name, value)
        case .flag(let value): write(name, value)
        case .texts(let values): write(name, values)
        case .numbers(let values): write(name, values.map { $0.map { ($0 * 1e4).rounded() / 1e4 } })
        }
    }
}
