import Encoding
import LinuxIO
import StreamLogic

/// The parts of a stream that its sources, encoders and their threads share.
public struct StreamContext: Sendable {
    public let hub: PacketHub
    public let counters: SharedCounters
    /// What the stream asks of sources and encoders.
    public let requests: EncoderRequests
    /// To the thread `stream`.
    public let reports: Mailbox<TrackEvent>
    /// Once signalled, every source ends at once. It is not drained.
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
