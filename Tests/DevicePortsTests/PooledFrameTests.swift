import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import Testing

@Suite struct PooledFrameTests {
    private static func isSignaled(_ event: EventFD, within timeout: Duration) -> Bool {
        var entries = [PollEntry(event.fileDescriptor)]
        let count = try? poll(&entries, until: MonotonicClock.now() + timeout)
        return count ?? 0 > 0
    }

    /// Each of the two readers continues only while the other one reads.
    @Test func readersDoNotWaitForEachOther() throws {
        let frame = PooledFrame([1, 2, 3])
        let (first, second) = (try EventFD(), try EventFD())
        let other = JoinableThread(
            try NamedThread("reader") {
                frame.withBytes { _ in
                    second.signal()
                    #expect(Self.isSignaled(first, within: .seconds(60)))
                }
            })
        frame.withBytes { bytes in
            first.signal()
            #expect(Self.isSignaled(second, within: .seconds(60)))
            #expect(Array(bytes) == [1, 2, 3])
        }
        other.join()
    }

    @Test func readersSeeNothingHalfWritten() throws {
        let frame = PooledFrame([UInt8](repeating: 0, count: 4096))
        let hasEnded = Atomic(false)
        let writer = JoinableThread(
            try NamedThread("writer") {
                for value in 1...2000 {
                    _ = frame.modify { $0.initializeMemory(as: UInt8.self, repeating: UInt8(value % 256)) }
                }
                hasEnded.store(true, ordering: .relaxed)
            })
        var seen = 0
        repeat {
            frame.withBytes { bytes in
                let first = bytes[0]
                if !bytes.allSatisfy({ $0 == first }) { Issue.record("two frames at once") }
            }
            seen += 1
        } while !hasEnded.load(ordering: .relaxed)
        writer.join()
        #expect(seen > 0)
    }

    @Test func readerKeepsItsVersionOfAChangedFrame() {
        let frame = PooledFrame([1, 2, 3])
        frame.withBytes { bytes in
            #expect(frame.modify { $0[0] = 9 } && Array(bytes) == [1, 2, 3])
            #expect(frame.withBytes { Array($0) } == [9, 2, 3])
        }
        #expect(frame.takeModification() && !frame.takeModification())
    }

    /// Without readers, the frame is written in place.
    @Test func memoryStaysInPlace() {
        let frame = PooledFrame([1, 2, 3])
        func address() -> UInt { frame.withBytes { UInt(bitPattern: $0.baseAddress) } }
        let before = address()
        _ = frame.modify { $0[0] = 9 }
        frame.withMutableBytes { $0[1] = 8 }
        #expect(address() == before && frame.withBytes { Array($0) } == [9, 8, 3])
    }

    @Test func errorOfAReaderEndsItsReading() {
        struct Failure: Error {}
        let frame = PooledFrame([])
        #expect(throws: Failure.self) {
            try frame.withBytes { bytes throws(Failure) in
                #expect(bytes.isEmpty)
                throw Failure()
            }
        }
        frame.withBytes { #expect($0.isEmpty) }
    }
}
