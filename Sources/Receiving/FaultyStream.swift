import Glibc
import LinuxIO
import Media
import Transport

/// A connection that mistreats its data, for `--fault` of `tallycam receive`.
final class FaultyStream: ByteStream {
    /// S0, S1 and S2.
    private static let handshakeByteCount = 3073
    private static let portionByteCount = 61
    private static let portionInterval = Duration.milliseconds(20)

    private let stream: any ByteStream
    private let handshake: ReceiverFault.Handshake?
    private var writtenByteCount = 0
    private var nextWriteTime = MediaTimestamp.zero
    private var readsAgain = MediaTimestamp.zero

    init(over stream: any ByteStream, faults: ConnectionFaults) {
        self.stream = stream
        handshake = faults.handshake
        if faults.closesWindow {
            // The kernel must not buffer much unread data, or the window never closes.
            var byteCount: Int32 = 4096
            setsockopt(
                stream.fileDescriptor, SOL_SOCKET, SO_RCVBUF, &byteCount, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    var fileDescriptor: Int32 { stream.fileDescriptor }
    var peer: String { stream.peer }
    var unsentByteCount: Int { stream.unsentByteCount }
    var unacknowledgedByteCount: Int { stream.unacknowledgedByteCount }
    var localAddress: SocketAddress? { stream.localAddress }
    var isUnanswered: Bool { stream.isUnanswered }

    /// Reads nothing before `time`.
    func stopReading(until time: MediaTimestamp) { readsAgain = time }

    /// When data that is held back can continue.
    var nextTime: MediaTimestamp? {
        let now = MonotonicClock.now()
        return [nextWriteTime, readsAgain].filter { $0 > now }.min()
    }

    func pollEvents(hasBytesToWrite: Bool) -> PollEvents {
        let now = MonotonicClock.now()
        var events = stream.pollEvents(hasBytesToWrite: hasBytesToWrite && now >= nextWriteTime)
        if now < readsAgain { events.remove(.readable) }
        return events
    }

    func write(_ slices: UnsafeBufferPointer<UnsafeRawBufferPointer>) throws(TransportError) -> Int {
        guard let handshake, writtenByteCount < Self.handshakeByteCount else { return try stream.write(slices) }
        let bytes = slices.flatMap { Array($0) }.prefix(Self.handshakeByteCount - writtenByteCount)
        switch handshake {
        case .missing: return slices.reduce(0) { $0 + $1.count }
        case .garbage: return noteWritten(try stream.write(bytes.map { $0 ^ 0x55 }))
        case .dribbled:
            guard MonotonicClock.now() >= nextWriteTime else { return 0 }
            let portion = bytes.prefix(writtenByteCount == 0 ? 1 : Self.portionByteCount)
            nextWriteTime = MonotonicClock.now() + Self.portionInterval
            return noteWritten(try stream.write(Array(portion)))
        }
    }

    private func noteWritten(_ byteCount: Int) -> Int {
        writtenByteCount += byteCount
        return byteCount
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> ReadResult {
        MonotonicClock.now() < readsAgain ? .wouldBlock : try stream.read(into: buffer)
    }

    func finishSending() { stream.finishSending() }
    func close() { stream.close() }
    func abort() { stream.abort() }
}
