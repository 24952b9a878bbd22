import LinuxIO
import Media
import RTMP
import StreamLogic
import Transport

/// The properties of a new connection. Its thread determines the exact address, because that may need the card.
struct ConnectionPlan: Sendable {
    let destination: PublishDestination
    /// The address that the server asked the stream to move to; `nil` for the settings' address.
    var requestedURL: RTMPURL?
    var timeouts = StepTimeouts()
    var card = CardCalls.onCallingThread

    /// - Parameter cancellation: a descriptor that ends the wait for the card when it becomes readable.
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
