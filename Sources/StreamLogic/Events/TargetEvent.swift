/// An event of one of several servers: its text and fields name the server.
public struct TargetEvent: Event {
    private let event: StreamEvent
    private let target: String

    /// - Returns: `nil` if the target has no name, since the stream has no other.
    public init?(_ event: StreamEvent, of target: TargetID?) {
        guard let name = target?.name else { return nil }
        self.event = event
        self.target = name
    }

    public var code: EventCode? { event.code }
    public var name: String { event.name }
    public var text: String? { event.text.map { "\(target): \($0)" } }
    public var fields: [EventField] { [("target", .text(target))] + event.fields }
}

extension StreamEvent {
    /// The event as one of the target, which is named if the stream has several.
    public func of(_ target: TargetID?) -> any Event { TargetEvent(self, of: target) ?? self as any Event }
}
