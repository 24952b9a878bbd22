import DevicePorts
import Filters
import FrameFiltering
import LinuxIO
import Media
import StreamLogic
import Testing

@testable import MediaPipeline

@Suite struct StreamFiltersTests {
    private let layout = FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48))

    private func filters(_ texts: String...) throws -> LoadedFilters { try LoadedFilters(FilterChain(parsing: texts)) }

    /// Coloured all over.
    private func memory() -> PooledFrame { PooledFrame([UInt8](repeating: 90, count: layout.byteCount)) }

    private func frame(_ memory: any FrameMemory, isRepetition: Bool = false) -> CapturedFrame {
        CapturedFrame(
            layout: layout, captureTime: MonotonicClock.now(), memory: memory, isRepetition: isRepetition)
    }

    private func chroma(_ memory: PooledFrame) -> UInt8 { memory.withBytes { $0[layout.planes[1].offset] } }

    @Test func framesAreChangedWhereTheyAre() throws {
        let stream = StreamFilters(try filters("grey"), reports: try Mailbox())
        let memory = memory()
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        #expect(chroma(memory) == 128)
        #expect(stream.readings.map(\.filter) == [FilterID(.grey)] && stream.readings.map(\.frames) == [1])
    }

    @Test func anEmptyChainLooksAtNothing() throws {
        let stream = StreamFilters(LoadedFilters(), reports: try Mailbox())
        let memory = memory()
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        #expect(stream.isIdle && !memory.takeModification())
    }

    @Test func aRepetitionIsNotFilteredAgain() throws {
        let stream = StreamFilters(try filters("mirror"), reports: try Mailbox())
        let memory = memory()
        func first() -> UInt8 { memory.withBytes { $0[0] } }
        _ = memory.modify { $0[0] = 7 }
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        #expect(first() == 90)
        stream.apply(to: frame(memory, isRepetition: true), colors: nil, FilterStatus())
        #expect(first() == 90, "it was mirrored back")
        // What follows is a frame of its own.
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        #expect(first() == 7)
    }

    @Test func aRepetitionOfWhatNoFilterHasSeenIsFilteredOnce() throws {
        let stream = StreamFilters(LoadedFilters(), reports: try Mailbox())
        let memory = memory()
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        stream.use(try filters("grey"))
        stream.apply(to: frame(memory, isRepetition: true), colors: nil, FilterStatus())
        stream.apply(to: frame(memory, isRepetition: true), colors: nil, FilterStatus())
        #expect(chroma(memory) == 128 && stream.readings.map(\.frames) == [1])
    }

    @Test func whatCannotBeWrittenGoesOutAsItIs() throws {
        final class ReadOnly: FrameMemory {
            let bytes: [UInt8]
            init(_ bytes: [UInt8]) { self.bytes = bytes }
            func withBytes<Value, Failure: Error>(
                _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
            ) throws(Failure) -> Value { try bytes.withBytes(body) }
        }
        let stream = StreamFilters(try filters("grey"), reports: try Mailbox())
        let memory = ReadOnly([UInt8](repeating: 90, count: layout.byteCount))
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        #expect(memory.bytes.allSatisfy { $0 == 90 } && stream.readings.map(\.frames) == [0])
    }
}
