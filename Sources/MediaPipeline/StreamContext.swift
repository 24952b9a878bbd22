import Encoding
import LinuxIO
import StreamLogic

/// The parts shared by a stream's sources, encoders and their threads.
public struct StreamContext: Sendable {
    public let hub: PacketHub
    public let counters: SharedCounters
    /// Requests from the stream to sources and encoders.
    public let requests: EncoderRequests
    /// Reports to the thread `stream`.
    public let reports: Mailbox<TrackEvent>
    /// Ends all sources when signaled. It is not drained.
    public let stop: EventFD
    public let reporter: EventSink

    public init(
        hub: PacketHub, counters: SharedCounters, requests: EncoderRequests, reports: Mailbox<TrackEvent>,
        stop: EventFD, reporter: EventSink
    ) {
        self.hub = hub
        self.counters = counters
        self.requests = requests
        self.reports = reports
        self.stop = stop
        self.reporter = reporter
    }
}
