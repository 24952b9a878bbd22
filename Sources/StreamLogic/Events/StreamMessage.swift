/// A message from a stream to its owner.
public enum StreamMessage: Sendable {
    /// - Parameter of: the target concerned; `nil` for the stream as a whole.
    case event(StreamEvent, of: TargetID? = nil)
    /// The quality follows this target from now on, and the stream is live when it is.
    case leads(TargetID)
    /// A line for people that is not an event: the answer to a command.
    case note(String)
    /// A line for people: warnings and progress.
    case log(String)
    /// The result of a command that a client waits for.
    case answer(CommandID, CommandOutcome)
    /// For those who watch it, about twice a second.
    case brightness(Brightness)
    /// For a live view; `nil` when the stream is over.
    case snapshot(StreamSnapshot?)
}

/// Forwards a stream's messages. Thread-safe.
public struct EventSink: Sendable {
    private let report: @Sendable (StreamMessage) -> Void
    /// The target of its events.
    private var target: TargetID?

    public init(_ report: @escaping @Sendable (StreamMessage) -> Void) { self.report = report }

    /// A sink for events of this target.
    public func of(_ target: TargetID) -> EventSink {
        var sink = self
        sink.target = target
        return sink
    }

    public func emit(_ event: StreamEvent) { report(.event(event, of: target)) }
    public func tell(leading target: TargetID) { report(.leads(target)) }
    public func note(_ text: String) { report(.note(text)) }
    public func log(_ text: String) { report(.log(text)) }
    public func answer(_ id: CommandID, _ outcome: CommandOutcome) { report(.answer(id, outcome)) }
    public func tell(_ brightness: Brightness) { report(.brightness(brightness)) }
    public func show(_ snapshot: StreamSnapshot?) { report(.snapshot(snapshot)) }
}
