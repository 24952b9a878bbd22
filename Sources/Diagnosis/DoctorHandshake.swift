import LinuxIO
import Media
import RTMP
import Transport

/// The RTMP handshake with a server, as a publisher starts it. The connection ends before anything is published.
struct DoctorHandshake {
    private static let timeout = Duration.seconds(4)

    private enum Waited {
        case server
    }

    private let connection: any ByteStream
    private var handshake = ClientHandshake(randomBytes: [])
    private var unsent: [UInt8]
    private var buffer = [UInt8](repeating: 0, count: 4096)

    init(over connection: any ByteStream) {
        self.connection = connection
        unsent = handshake.firstBytes
    }

    /// - Returns: why this is not an RTMP server; `nil` if it is one.
    mutating func failure() throws(TransportError) -> PublishError? {
        let deadline = MonotonicClock.now() + Self.timeout
        while !handshake.isComplete {
            try send()
            switch try receive() {
            case .failed(let error): return error
            case .progress: continue
            case .nothing: break
            }
            guard MonotonicClock.now() < deadline else { return .timedOut(waitingFor: .handshake) }
            var waits = PollSet<Waited>()
            waits.add(.server, connection.fileDescriptor, for: connection.pollEvents(hasBytesToWrite: !unsent.isEmpty))
            do throws(SystemCallError) { _ = try waits.wait(until: deadline) } catch { throw .socketFailed(error) }
        }
        return nil
    }

    private mutating func send() throws(TransportError) {
        guard !unsent.isEmpty else { return }
        unsent.removeFirst(try connection.write(unsent))
    }

    private enum Received {
        case progress, nothing
        case failed(PublishError)
    }

    private mutating func receive() throws(TransportError) -> Received {
        switch try connection.read(into: &buffer) {
        case .closed: return .failed(.connectionLost(during: .handshake))
        case .wouldBlock: return .nothing
        case .bytes(let count):
            var offset = 0
            let result = buffer.withUnsafeBytes { bytes in
                Result { () throws(UnknownHandshakeVersion) in
                    try handshake.bytesReceived(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), from: &offset)
                }
            }
            switch result {
            case .success(let bytes): unsent += bytes
            case .failure(let error): return .failed(.handshakeFailed(version: error.version))
            }
            return .progress
        }
    }
}
