import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import Testing

/// Leased buffers return through the thread that owns the device.
@Suite struct LeasedBufferTests {
    private let wakeup: EventFD
    private let all = BufferNumbers(0..<6)

    init() throws { wakeup = try EventFD() }

    /// Leases that any thread may drop.
    private final class Held: Sendable {
        private let leases: Mutex<[Int: LeasedBuffer]>

        init(_ leases: [Int: LeasedBuffer]) { self.leases = Mutex(leases) }

        func drop(_ number: Int) { _ = leases.withLock { $0.removeValue(forKey: number) } }
    }

    private func lease(_ numbers: [Int], of leased: inout LeasedBuffers) -> [Int: LeasedBuffer] {
        var leases: [Int: LeasedBuffer] = [:]
        for number in numbers {
            leases[number] = leased.lease(ArrayFrame([UInt8(number), 7, 8]), index: number, byteCount: 2)
        }
        return leases
    }

    /// - Returns: the buffers that the device gets.
    private func takenBack(by leased: inout LeasedBuffers) -> (numbers: [Int], isShort: Bool) {
        var numbers: [Int] = []
        let isShort = leased.takeBack(of: all) { numbers.append($0) }
        return (numbers, isShort)
    }

    @Test func ownerReturnsToTheDeviceWhatOtherThreadsDropped() throws {
        var leased = LeasedBuffers(wakeup: wakeup)
        let held = Held(lease([2, 0, 5], of: &leased))
        let thread = try NamedThread("holder") { for number in [2, 0, 5] { held.drop(number) } }
        thread.join()
        #expect(takenBack(by: &leased) == ([0, 2, 5], false))
        #expect(takenBack(by: &leased) == ([], false))
        #expect(!wakeup.drain(), "the device has other buffers, so nobody waits")
    }

    @Test func leaseEndsWithItsLastHolder() {
        var leased = LeasedBuffers(wakeup: wakeup)
        var leases = lease([3], of: &leased)
        var other = leases[3]
        leases = [:]
        #expect(takenBack(by: &leased).numbers == [])
        #expect(other?.withBytes { Array($0) } == [3, 7], "the rest of the buffer is not the frame")
        #expect(leased.mappedCount == 1)
        other = nil
        #expect(takenBack(by: &leased).numbers == [3])
    }

    @Test func ownerIsWokenOnceWhenTheDeviceRunsShort() {
        var leased = LeasedBuffers(wakeup: wakeup)
        var leases = lease([0, 1, 2, 3], of: &leased)
        #expect(takenBack(by: &leased) == ([], true))
        leases[1] = nil
        leases[2] = nil
        #expect(wakeup.drain())
        #expect(takenBack(by: &leased) == ([1, 2], false))
        leases[0] = nil
        #expect(!wakeup.drain())
    }

    @Test func bufferReturnedBeforeTheWaitIsGivenAtOnce() {
        var leased = LeasedBuffers(wakeup: wakeup)
        var leases = lease(Array(0..<6), of: &leased)
        var numbers: [Int] = []
        // Buffer 1 comes back while the owner gives the device buffer 4.
        leases[4] = nil
        let isShort = leased.takeBack(of: all) { number in
            numbers.append(number)
            if number == 4 { leases[1] = nil }
        }
        #expect(numbers == [4, 1] && isShort)
    }

    /// As with a camera's second stream: its buffers do not help while the first one is on.
    @Test func buffersThatTheDeviceDoesNotUseDoNotCount() {
        var leased = LeasedBuffers(wakeup: wakeup)
        let leases = lease([0, 1, 2], of: &leased)
        #expect(leased.takeBack(of: BufferNumbers(3..<6)) { _ in } == false)
        #expect(leased.takeBack(of: BufferNumbers(0..<3)) { _ in })
        withExtendedLifetime(leases) {}
    }

    @Test func manyThreadsReturnEachBufferOnce() throws {
        var leased = LeasedBuffers(wakeup: wakeup)
        for _ in 0..<200 {
            let held = Held(lease(Array(all), of: &leased))
            let threads = try all.map { number in JoinableThread(try NamedThread("holder") { held.drop(number) }) }
            var numbers: [Int] = []
            while numbers.count < all.count {
                let back = takenBack(by: &leased)
                numbers += back.numbers
                guard back.isShort else { continue }
                var entries = [PollEntry(wakeup.fileDescriptor)]
                let count = try poll(&entries, until: MonotonicClock.now() + .seconds(60))
                try #require(count > 0, "the owner was not woken")
                wakeup.drain()
            }
            for thread in threads { thread.join() }
            #expect(numbers.sorted() == Array(all))
        }
    }
}
