/// Something that happened, as people (`text`) and scripts (the rest) read it: docs/reference/events.md.
///
/// Each part is rendered when somebody asks for it. Many events come ten times a second, and most of them nobody reads.
public protocol Event: Sendable {
    /// `nil` when the event has none; scripts get a 0.
    var code: EventCode? { get }
    var name: String { get }
    /// One line, without secrets; `nil` for what people need no line of.
    var text: String? { get }
    /// What the event carries besides code and name. Times are in seconds, rates per second.
    var fields: [EventField] { get }
}

public typealias EventField = (name: String, value: EventValue)

public enum EventValue: Hashable, Sendable {
    case integer(Int)
    case number(Double)
    case text(String)
    case flag(Bool)
    /// One for each of several; `nil` where there is none.
    case numbers([Double?])
    case texts([String])
}
