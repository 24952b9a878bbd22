import LinuxIO
import Media
import RTMP
import StreamLogic
import Transport

/// The properties of a new connection. Its thread works out the exact address, because that may need the card.
struct ConnectionPlan: Sendable {
    let destination: PublishDestination
    /// Where the server asked the stream to move; `nil` for where the settings say.
    var requestedURL: RTMPURL?
    var timeouts = StepTimeouts()
    var card = CardCalls.onCallingThread

    /// - Parameter cancellation: a descriptor: once it is readable, the card is waited for no longer.
    func configuration(cancellation: Int32) throws -> PublishConfiguration {
        var url = try destination.connectionURL(savedBy: card, cancellation: cancellation)
        if var requestedURL {
            // The stream name keeps its own, fresh signature.
            requestedURL.streamName = url.streamName
            url = requestedURL
        }
        return PublishConfiguration(
            url: url, encoderName: "Tallycam/\(Program.version)", randomBytes: try randomBytes(count: 1528),
            metadata: nil,
            timeouts: timeouts.session, acceptsReconnectRequest: true, md5: { MD5.digest(of: $0) })
    }
}
