import DevicePorts
import Synchronization

/// A device's buffer on lease. The last holder may be on any thread. It leaves the buffer's number for the thread that owns the
/// device and does not call the driver itself.
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

/// A device's leased buffers, as the thread that owns the device sees them.
///
/// ```
///  with the device ── lease ──▶ on lease ── last holder, any thread ──▶ its number waits ── takeBack ──▶ with the device
/// ```
public struct LeasedBuffers {
    private let leases: BufferLeases
    private var leased = BufferNumbers()

    /// - Parameter wakeup: signaled when an awaited buffer comes back; `nil` if the owner never waits.
    public init(wakeup: EventFD? = nil) { leases = BufferLeases(wakeup: wakeup) }

    /// How often the CPU has mapped a leased buffer so far.
    public var mappedCount: Int { leases.mappedCount.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - memory: the buffer's memory. It must outlive the device if frames do.
    ///   - index: the buffer's number at the device, below `BufferNumbers.limit`; `takeBack` returns it.
    ///   - byteCount: length of the frame, from the start of the memory.
    public mutating func lease(_ memory: any FrameMemory, index: Int, byteCount: Int = .max) -> LeasedBuffer {
        leased.insert(index)
        return LeasedBuffer(memory, index: index, byteCount: byteCount, leases)
    }

    /// Hands the returned buffers to the device. Call it before each wait for the device.
    ///
    /// The device usually holds other buffers, so those returned meanwhile can wait for its next frame. Nobody is woken for
    /// them.
    /// - Parameters:
    ///   - all: the buffers of which the device needs some.
    ///   - give: hands one buffer to the device.
    /// - Returns: whether the caller should wait for `wakeup` too, because the device has few buffers or none.
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

/// Carries returned numbers from the holders to the thread that owns the device. Never blocks.
private final class BufferLeases: Sendable {
    /// Set in place of a number when the owner wants to be woken.
    private static let isAwaited = UInt64(1) << UInt64(BufferNumbers.limit)

    private let returned = Atomic<UInt64>(0)
    let mappedCount = Atomic(0)
    private let wakeup: EventFD?

    init(wakeup: EventFD?) { self.wakeup = wakeup }

    // MARK: Any thread

    func bufferMapped() { mappedCount.add(1, ordering: .relaxed) }

    func ended(_ index: Int) {
        let former = returned.bitwiseOr(1 << UInt64(index), ordering: .acquiringAndReleasing).oldValue
        // If another buffer came back first, the owner has been woken already.
        if former == Self.isAwaited { wakeup?.signal() }
    }

    // MARK: The owner's thread

    var isAwaitable: Bool { wakeup != nil }

    func takeAll() -> BufferNumbers {
        BufferNumbers(bits: returned.exchange(0, ordering: .acquiringAndReleasing) & ~Self.isAwaited)
    }

    /// Makes the next returned buffer signal `wakeup`.
    /// - Returns: false if a buffer has already come back.
    func wakeForNext() -> Bool {
        returned.compareExchange(expected: 0, desired: Self.isAwaited, ordering: .acquiringAndReleasing).exchanged
    }
}

/// A set of buffer numbers.
public struct BufferNumbers: Sequence, IteratorProtocol, Sendable {
    /// Upper bound of a number: each is one bit of a word, whose last bit has another use.
    public static let limit = 63

    private var bits: UInt64

    public init() { self.init(bits: 0) }
    public init(_ numbers: some Sequence<Int>) { self.init(bits: numbers.reduce(0) { $0 | 1 << UInt64($1) }) }
    fileprivate init(bits: UInt64) { self.bits = bits }

    public var count: Int { bits.nonzeroBitCount }
    mutating func insert(_ number: Int) { bits |= 1 << UInt64(number) }
    mutating func remove(_ number: Int) { bits &= ~(1 << UInt64(number)) }
    func subtracting(_ other: BufferNumbers) -> BufferNumbers { BufferNumbers(bits: bits & ~other.bits) }

    /// Removes and returns the lowest number.
    public mutating func next() -> Int? {
        guard bits != 0 else { return nil }
        defer { bits &= bits - 1 }
        return bits.trailingZeroBitCount
    }
}
