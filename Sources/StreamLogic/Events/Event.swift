/// Something that happened, for people (`text`) and for scripts (the rest): docs/reference/events.md.
///
/// Each part is rendered only on demand: many events occur ten times a second, and most are never read.
public protocol Event: Sendable {
    /// `nil` if the event has no code; scripts then get 0.
    var code: EventCode? { get }
    var name: String { get }
    /// One line, without secrets; `nil` if people need no line.
    var text: String? { get }
    /// The event's data besides code and name. Times are in seconds, rates per second.
    var fields: [EventField] { get }
}

public typealias EventField = (name: String, value: EventValue)

public enum EventValue: Hashable, Sendable {
    case integer(Int)
    case number(Double)
    case text(String)
    case flag(Bool)
    /// One for each of several sources; `nil` where a source has no value.
    case numbers([Double?])
    case texts([String])
}
