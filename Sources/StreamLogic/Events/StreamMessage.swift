/// What a stream says while it lives.
public enum StreamMessage: Sendable {
    /// - Parameter of: the target that it concerns; `nil` for what concerns the stream as a whole.
    case event(StreamEvent, of: TargetID? = nil)
    /// A line beside the events that is none itself: the answer to a command.
    case note(String)
    /// A line for people: warnings and progress.
    case log(String)
    /// What has become of a command that somebody waits for.
    case answer(CommandID, CommandOutcome)
    /// For whoever watches it, twice a second or so.
    case brightness(Brightness)
    /// For a live view; `nil` when nothing is live any more.
    case snapshot(StreamSnapshot?)
}

/// Passes on what a stream says. From any thread.
public struct EventSink: Sendable {
    private let report: @Sendable (StreamMessage) -> Void
    /// That its events concern.
    private var target: TargetID?

    public init(_ report: @escaping @Sendable (StreamMessage) -> Void) { self.report = report }

    /// Passes on events that concern this target.
    public func of(_ target: TargetID) -> EventSink {
        var sink = self
        sink.target = target
        return sink
    }

    public func emit(_ event: StreamEvent) { report(.event(event, of: target)) }
    public func note(_ text: String) { report(.note(text)) }
    public func log(_ text: String) { report(.log(text)) }
    public func answer(_ id: CommandID, _ outcome: CommandOutcome) { report(.answer(id, outcome)) }
    public func tell(_ brightness: Brightness) { report(.brightness(brightness)) }
    public func show(_ snapshot: StreamSnapshot?) { report(.snapshot(snapshot)) }
}
