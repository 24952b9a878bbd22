import Bitstream
import LinuxIO
import Media
import RTMP
import Transport
import WireSupport

/// A publisher on any stream, served by the test's own thread.
final class ScriptedPublisher {
    let stream: any ByteStream
    private var session: PublishSession
    private var outgoing: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private(set) var receivedByteCount = 0
    /// Bytes sent, including chunk headers.
    private(set) var sentByteCount = 0
    private(set) var actions: [PublishSession.Action] = []
    private(set) var hasLostConnection = false
    var isPublishing: Bool { session.isPublishing }
    var isWritten: Bool { outgoing.isEmpty }

    init(_ stream: any ByteStream) {
        self.stream = stream
        session = PublishSession(
            configuration: PublishConfiguration(
                url: RTMPURL(scheme: .rtmp, host: "live.example", application: "live", streamName: "secret"),
                encoderName: "Tests", randomBytes: [UInt8](repeating: 1, count: 1528), metadata: nil,
                acceptsReconnectRequest: true))
        perform(session.connectionOpened(now: MonotonicClock.now()))
    }

    /// The error code of the session's failure.
    var failure: Int? {
        for case .failed(let error) in actions { return error.code }
        return nil
    }

    func send(_ tag: FLVTag) { append(session.chunk(tag)) }

    private func append(_ message: ChunkedMediaMessage) {
        message.withSlices(from: 0) { slices in outgoing += slices.joined() }
    }

    func stop() { perform(session.stopRequested()) }

    /// Writes what fits and reads what is available.
    func serve() {
        guard !hasLostConnection else { return }
        do {
            let written = outgoing.isEmpty ? 0 : try stream.write(outgoing)
            outgoing.removeFirst(written)
            sentByteCount += written
            switch try stream.read(into: &buffer) {
            case .wouldBlock: break
            case .closed:
                hasLostConnection = true
                perform(session.connectionClosed())
            case .bytes(let count):
                receivedByteCount += count
                let now = MonotonicClock.now()
                perform(
                    buffer.withUnsafeBytes {
                        session.bytesReceived(UnsafeRawBufferPointer(rebasing: $0[..<count]), now: now)
                    })
            }
        } catch {
            hasLostConnection = true
        }
    }

    private func perform(_ new: [PublishSession.Action]) {
        for case .send(let bytes) in new { outgoing += bytes }
        actions += new.filter { if case .send = $0 { false } else { true } }
    }
}

/// A video header and 20 frames at 50 per second; the first is a keyframe.
let tags: [FLVTag] = {
    var tags = [FLVTag(kind: .video, timestamp: 0, body: [0x17, 0, 0, 0, 0, 1, 2, 3])]
    for number in 0..<20 {
        let start: [UInt8] = [number == 0 ? 0x17 : 0x27, 1, 0, 0, 0]
        let payload = [UInt8](repeating: UInt8(number), count: 500)
        tags.append(FLVTag(kind: .video, timestamp: UInt32(number) * 20, body: start + payload))
    }
    return tags
}()
