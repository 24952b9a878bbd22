import HTTP
import JSONText
import LinuxIO
import Media
import PageLogic
import Transport

/// One connection of a browser. Used from the thread "page".
final class PageClient {
    enum State {
        /// Reads a request, the first or another one.
        case reading
        /// The device is asked.
        case waiting(HTTPRequest)
        /// Sends the last answer of this connection.
        case closing
        /// Reads to the end: closing with unread input would cost the browser the answer.
        case draining
        case socket(PageSocket)
        case download(PageDownload)
    }

    /// A request must arrive in this time, and an answer must be taken.
    static let patience = Duration.seconds(10)
    /// An open connection may be unused for this long.
    static let idleTime = Duration.seconds(60)
    /// Bytes of answers on a WebSocket.
    private static let mostUnsent = 64 * 1024
    /// The device and the disk answer in this time, or never. A check-up takes longest.
    private static let deviceTime = Duration.seconds(90)
    private static let drainTime = Duration.seconds(2)
    private static let readByteCount = 16 * 1024

    let id: UInt64
    let connection: any ByteStream
    let place: PageGate.Connection
    /// The largest body is a file of the card.
    var reader = HTTPRequestReader(limits: HTTPRequestReader.Limits(bodyByteCount: SettingsFile.sizeLimit))
    var state = State.reading
    var output = PageOutput()
    /// The pass of the request that `reader` has begun.
    var pass: PageGate.Pass?
    /// The secret of a pairing attempt that the device is being told of.
    var newSecret: [UInt8]?
    var isDone = false
    /// That of its last request; `nil` for a stranger, who makes room for others.
    var key: BrowserKeys.Key?
    var isTrusted: Bool { key != nil }
    private(set) var lastProgress: MediaTimestamp

    init(_ id: UInt64, _ connection: any ByteStream, _ place: PageGate.Connection, now: MediaTimestamp) {
        self.id = id
        self.connection = connection
        self.place = place
        lastProgress = now
    }

    var pollEntry: PollEntry {
        var interest: PollEvents
        switch state {
        case .reading: interest = output.isEmpty ? .readable : .writable
        // Its next request stays in the kernel.
        case .waiting: interest = []
        case .download: interest = output.isEmpty ? [] : .writable
        case .closing: interest = .writable
        case .draining: interest = .readable
        // Whoever does not read its answers is not heard either: each of its pings would make the output longer.
        case .socket:
            interest =
                output.isEmpty ? .readable : output.byteCount < Self.mostUnsent ? [.readable, .writable] : .writable
        }
        if hasPendingRecord { interest.insert(.writable) }
        return PollEntry(connection.fileDescriptor, interest)
    }

    /// Whether TLS holds bytes that are not in `output` any more.
    private var hasPendingRecord: Bool { connection.pollEvents(hasBytesToWrite: false).contains(.writable) }

    /// When it has been silent for too long, or the device has.
    var deadline: MediaTimestamp {
        switch state {
        case .waiting: lastProgress + Self.deviceTime
        case .download: lastProgress + (output.isEmpty ? Self.deviceTime : Self.patience)
        case .reading where output.isEmpty && !reader.isWithinRequest && isTrusted: lastProgress + Self.idleTime
        case .reading, .closing: lastProgress + Self.patience
        case .draining: lastProgress + Self.drainTime
        case .socket(let socket): output.isEmpty ? socket.deadline : min(socket.deadline, lastProgress + Self.patience)
        }
    }

    /// Takes in what has arrived, a portion at a time.
    /// - Returns: the portion; `nil` without one.
    func receive(now: MediaTimestamp) -> [UInt8]? {
        do {
            let bytes = try [UInt8](unsafeUninitializedCapacity: Self.readByteCount) { buffer, count in
                switch try connection.read(into: UnsafeMutableRawBufferPointer(buffer)) {
                case .bytes(let number): count = number
                case .wouldBlock: count = 0
                case .closed:
                    count = 0
                    isDone = true
                }
            }
            guard !bytes.isEmpty else { return nil }
            // A request that trickles in does not get more time.
            if !reader.isWithinRequest, output.isEmpty { lastProgress = now }
            return bytes
        } catch {
            isDone = true
            return nil
        }
    }

    func send(_ parts: [UInt8]..., now: MediaTimestamp) {
        if output.isEmpty { lastProgress = now }
        for part in parts { output.append(part) }
        flush(now: now)
    }

    func flush(now: MediaTimestamp) {
        guard !output.isEmpty else { return flushRecord() }
        do throws(TransportError) {
            if try output.write(to: connection) { lastProgress = now }
        } catch {
            isDone = true
        }
        guard output.isEmpty, case .closing = state else { return }
        connection.finishSending()
        state = .draining
    }

    private func flushRecord() {
        guard hasPendingRecord else { return }
        if (try? connection.write([])) == nil { isDone = true }
    }
}
