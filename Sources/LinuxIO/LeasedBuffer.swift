import DevicePorts
import Synchronization

/// A device's buffer on lease. Its last holder may be on any thread, and leaves the buffer's number for the thread that owns the
/// device; no call of the driver is made for it.
public final class LeasedBuffer: FrameMemory {
    private let memory: any FrameMemory
    private let index: Int
    private let byteCount: Int
    private let leases: BufferLeases

    fileprivate init(_ memory: any FrameMemory, index: Int, byteCount: Int, _ leases: BufferLeases) {
        self.memory = memory
        self.index = index
        self.byteCount = byteCount
        self.leases = leases
    }

    deinit { leases.ended(index) }

    public var dmabuf: Int32? { memory.dmabuf }
    public func detached() -> (any FrameMemory)? { memory.detached() }

    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        leases.bufferMapped()
        return try memory.withBytes { bytes throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes.prefix(byteCount)))
        }
    }

    public func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool {
        leases.bufferMapped()
        return memory.modify { body(UnsafeMutableRawBufferPointer(rebasing: $0.prefix(byteCount))) }
    }
}

/// A device's buffers that are on lease, seen by the thread that owns the device.
///
/// ```
///  with the device ── lease ──▶ on lease ── last holder, any thread ──▶ its number waits ── takeBack ──▶ with the device
/// ```
public struct LeasedBuffers {
    private let leases: BufferLeases
    private var leased = BufferNumbers()

    /// - Parameter wakeup: signalled when a buffer has come back that is waited for; `nil` where the owner never waits.
    public init(wakeup: EventFD? = nil) { leases = BufferLeases(wakeup: wakeup) }

    /// How often the processor has looked into a buffer on lease so far.
    public var mappedCount: Int { leases.mappedCount.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - memory: of the buffer. It stays usable without the device where frames are to outlive that.
    ///   - index: of the buffer, which the device has given and gets again by `takeBack`; below `BufferNumbers.limit`.
    ///   - byteCount: from the start of the memory, which are the frame.
    public mutating func lease(_ memory: any FrameMemory, index: Int, byteCount: Int = .max) -> LeasedBuffer {
        leased.insert(index)
        return LeasedBuffer(memory, index: index, byteCount: byteCount, leases)
    }

    /// Gives the device what has come back. To be called before each wait for the device.
    ///
    /// As a rule the device has others at that time, and its next frame is soon enough for those that come back meanwhile:
    /// nobody is woken for them.
    /// - Parameters:
    ///   - all: of which the device has to have some.
    ///   - give: gives the device one.
    /// - Returns: whether `wakeup` is to be waited for as well, as the device has few or none.
    @discardableResult
    public mutating func takeBack<Failure: Error>(
        of all: BufferNumbers, _ give: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        repeat {
            for index in leases.takeAll() {
                leased.remove(index)
                try give(index)
            }
            let isShort = all.subtracting(leased).count < max(2, all.count / 2)
            guard isShort, leases.isAwaitable else { return false }
        } while !leases.wakeForNext()
        return true
    }
}

/// What the holders of leases leave for the thread that owns the device. Never waits.
private final class BufferLeases: Sendable {
    /// In place of a number: the owner is to be woken.
    private static let isAwaited = UInt64(1) << UInt64(BufferNumbers.limit)

    private let returned = Atomic<UInt64>(0)
    let mappedCount = Atomic(0)
    private let wakeup: EventFD?

    init(wakeup: EventFD?) { self.wakeup = wakeup }

    // MARK: Any thread

    func bufferMapped() { mappedCount.add(1, ordering: .relaxed) }

    func ended(_ index: Int) {
        let former = returned.bitwiseOr(1 << UInt64(index), ordering: .acquiringAndReleasing).oldValue
        // A second one finds the owner on its way.
        if former == Self.isAwaited { wakeup?.signal() }
    }

    // MARK: The owner's thread

    var isAwaitable: Bool { wakeup != nil }

    func takeAll() -> BufferNumbers {
        BufferNumbers(bits: returned.exchange(0, ordering: .acquiringAndReleasing) & ~Self.isAwaited)
    }

    /// The next lease that ends signals `wakeup`.
    /// - Returns: false when one has ended by now.
    func wakeForNext() -> Bool {
        returned.compareExchange(expected: 0, desired: Self.isAwaited, ordering: .acquiringAndReleasing).exchanged
    }
}

/// A set of buffers' numbers.
public struct BufferNumbers: Sequence, IteratorProtocol, Sendable {
    /// Each is below this: they are the bits of a word, one of which has another meaning.
    public static let limit = 63

    private var bits: UInt64

    public init() { self.init(bits: 0) }
    public init(_ numbers: some Sequence<Int>) { self.init(bits: numbers.reduce(0) { $0 | 1 << UInt64($1) }) }
    fileprivate init(bits: UInt64) { self.bits = bits }

    public var count: Int { bits.nonzeroBitCount }
    mutating func insert(_ number: Int) { bits |= 1 << UInt64(number) }
    mutating func remove(_ number: Int) { bits &= ~(1 << UInt64(number)) }
    func subtracting(_ other: BufferNumbers) -> BufferNumbers { BufferNumbers(bits: bits & ~other.bits) }

    /// The lowest number, which is removed.
    public mutating func next() -> Int? {
        guard bits != 0 else { return nil }
        defer { bits &= bits - 1 }
        return bits.trailingZeroBitCount
    }
}
