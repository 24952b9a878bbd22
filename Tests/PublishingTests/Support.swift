import Bitstream
import DevicePorts
import Encoding
import LinuxIO
import Media
import MediaPipeline
import MediaTestSupport
import PipelineSupport
import RTMP
import SoftwareEncoding
import StreamLogic
import StreamQuality
import Synchronization
import Transport
import WireSupport

@testable import Publishing

let testURL = RTMPURL(scheme: .rtmp, host: "live.example", application: "live", streamName: "key")

extension ScriptedServer {
    /// The way to several servers, each with a host of its own.
    static func network(_ servers: [String: ScriptedServer]) -> PublisherNetwork {
        PublisherNetwork(connect: { (request) throws(TransportError) in
            guard let server = servers[request.url.host] else { throw .timedOut(peer: request.url.host, .connect) }
            return try server.connect(cancellation: request.cancellation)
        })
    }

    /// The way to this server, whatever the URL.
    func network(links: ScriptedLinks? = nil) -> PublisherNetwork {
        PublisherNetwork(
            connect: { [self] (request) throws(TransportError) in try connect(cancellation: request.cancellation) },
            watchLinks: { links.map { ScriptedLinkWatch($0) } })
    }
}

extension StreamMetadata {
    static let ofTests = StreamMetadata(
        video: .init(
            size: FrameSize(width: 64, height: 48), frameRate: FrameRate(framesPerSecond: 30),
            bitrate: Bitrate(kilobitsPerSecond: 100)), audio: nil)
}

extension ConnectionPlan {
    static let ofTests = ConnectionPlan(destination: PublishDestination(url: testURL))
}

extension PublishConfiguration {
    static func ofTests(timeout: Duration = .seconds(5)) -> PublishConfiguration {
        PublishConfiguration(
            url: testURL, encoderName: "Tests", randomBytes: [UInt8](repeating: 1, count: 1528), metadata: .ofTests,
            timeouts: .init(handshake: timeout, answer: timeout), acceptsReconnectRequest: true)
    }
}

/// Packets as an encoder of 50 frames a second gives them, from a time on; the payload says which frame it is.
struct Packets {
    let start: MediaTimestamp

    var header: EncodedPacket { EncodedPacket(kind: .videoHeader, decodeTime: start, payload: [1, 2, 3]) }

    func frame(_ number: Int, isKeyframe: Bool = false, byteCount: Int = 10) -> EncodedPacket {
        EncodedPacket(
            kind: .video(isKeyframe: isKeyframe), decodeTime: start + .milliseconds(20) * number,
            payload: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: byteCount))
    }
}

/// What a server got of video, in short: "header", "key 0", "frame 1".
func shortForm(_ tags: [FLVTag]) -> [String] {
    tags.filter { $0.kind == .video }.map { tag in
        guard tag.body[1] == 1 else { return "header" }
        return "\(tag.body[0] >> 4 == 1 ? "key" : "frame") \(tag.body.last ?? 0)"
    }
}

/// Links that a test brings up and down. Any thread.
final class ScriptedLinks: Sendable {
    struct Content: Sendable {
        var events: [LinkEvent] = []
        var linksUp: Set<String> = ["eth0"]
        var hasAddress = true
    }

    let content = Mutex(Content())
    let wakeup: EventFD

    init() throws { wakeup = try EventFD() }

    func happens(_ event: LinkEvent, _ change: (inout Content) -> Void = { _ in }) {
        content.withLock { content in
            change(&content)
            content.events.append(event)
        }
        wakeup.signal()
    }
}

final class ScriptedLinkWatch: LinkWatch {
    private let links: ScriptedLinks

    init(_ links: ScriptedLinks) { self.links = links }

    var fileDescriptor: Int32 { links.wakeup.fileDescriptor }

    func takeEvents() throws(SystemCallError) -> [LinkEvent] {
        links.wakeup.drain()
        return links.content.withLock { content in
            defer { content.events = [] }
            return content.events
        }
    }

    func forgetUnresolvedNeighbors() throws(SystemCallError) {}
    var linksUp: Set<String> { links.content.withLock { $0.linksUp } }
    func hasAddress(_ link: String) -> Bool { links.content.withLock { $0.hasAddress } }
    func link(holding address: SocketAddress) -> String? { links.content.withLock { $0.hasAddress ? "eth0" : nil } }
}

extension FakeCameraChoice {
    /// Frames as they are asked for.
    static let asAsked = FakeCameraChoice { wish in
        FakeCamera.Script(
            layout: FrameLayout(packed: .i420, size: wish.size), frameRate: wish.frameRate, stop: wish.stop)
    }

    /// As `asAsked`, with a change of its script.
    static func changed(_ change: @escaping @Sendable (inout FakeCamera.Script.Content) -> Void) -> FakeCameraChoice {
        FakeCameraChoice { wish in
            let script = FakeCamera.Script(
                layout: FrameLayout(packed: .i420, size: wish.size), frameRate: wish.frameRate, stop: wish.stop)
            script.content.withLock { change(&$0) }
            return script
        }
    }

    /// As of a sensor that reads a frame for two frames' time; the processor makes others of them.
    static let slow = FakeCameraChoice { wish in
        let script = FakeCamera.Script(
            layout: FrameLayout(packed: .nv12, size: wish.size), frameRate: wish.frameRate, stop: wish.stop)
        script.content.withLock { $0.age = .milliseconds(66) }
        return script
    }
}

extension FakeEncoderChoice {
    /// OpenH264, whatever the machine has.
    static let software = FakeEncoderChoice(mayUseSoftware: true) { configuration, needs in
        try SoftwareVideoEncoder(configuration, needs) { try OpenH264Encoder(configuration: $0) }
    }
}
