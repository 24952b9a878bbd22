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

    /// A frame of one color.
    private func memory() -> PooledFrame { PooledFrame([UInt8](repeating: 90, count: layout.byteCount)) }

    /// - Parameter repeats: capture time of the repeated frame, in milliseconds.
    private func frame(_ memory: any FrameMemory, at time: Int64 = 0, repeats: Int64? = nil) -> CapturedFrame {
        CapturedFrame(
            layout: layout, captureTime: MediaTimestamp(milliseconds: time), memory: memory,
            repeats: repeats.map { MediaTimestamp(milliseconds: $0) })
    }

    private func chroma(_ memory: PooledFrame) -> UInt8 { memory.withBytes { $0[layout.planes[1].offset] } }

    @Test func framesAreModifiedInPlace() throws {
        let stream = StreamFilters(try filters("gray"), reports: try Mailbox())
        let memory = memory()
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        #expect(chroma(memory) == 128)
        #expect(stream.readings.map(\.filter) == [FilterID(.gray)] && stream.readings.map(\.frames) == [1])
    }

    @Test func emptyChainDoesNotTouchFrames() throws {
        let stream = StreamFilters(LoadedFilters(), reports: try Mailbox())
        let memory = memory()
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        #expect(stream.isIdle && !memory.takeModification())
    }

    @Test func repetitionIsNotFilteredAgain() throws {
        let stream = StreamFilters(try filters("mirror"), reports: try Mailbox())
        let memory = memory()
        func first() -> UInt8 { memory.withBytes { $0[0] } }
        _ = memory.modify { $0[0] = 7 }
        stream.apply(to: frame(memory, at: 10), colors: nil, FilterStatus())
        #expect(first() == 90)
        stream.apply(to: frame(memory, at: 20, repeats: 10), colors: nil, FilterStatus())
        stream.apply(to: frame(memory, at: 30, repeats: 10), colors: nil, FilterStatus())
        #expect(first() == 90, "it was mirrored back")
        // The next one is a separate frame.
        stream.apply(to: frame(memory, at: 40), colors: nil, FilterStatus())
        #expect(first() == 7)
    }

    /// The chain is switched on while the camera is missing; encoder and screen already have the frame.
    @Test func frameSentWithoutFiltersStaysUnchanged() throws {
        let stream = StreamFilters(LoadedFilters(), reports: try Mailbox())
        let (memory, next) = (memory(), memory())
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        stream.use(try filters("gray"))
        for time: Int64 in [10, 20] {
            stream.apply(to: frame(memory, at: time, repeats: 0), colors: nil, FilterStatus())
        }
        #expect(!memory.takeModification() && stream.readings.map(\.frames) == [0])
        stream.apply(to: frame(next, at: 30), colors: nil, FilterStatus())
        #expect(chroma(next) == 128 && stream.readings.map(\.frames) == [1])
    }

    /// If a camera delivers more frames than are encoded, any of them may be repeated after its loss.
    @Test func repetitionOfADroppedFrameIsFilteredOnce() throws {
        let stream = StreamFilters(try filters("gray"), reports: try Mailbox())
        let (encoded, leftOut) = (memory(), memory())
        stream.apply(to: frame(encoded, at: 0), colors: nil, FilterStatus())
        for time: Int64 in [100, 200] {
            stream.apply(to: frame(leftOut, at: time, repeats: 33), colors: nil, FilterStatus())
        }
        #expect(chroma(leftOut) == 128 && stream.readings.map(\.frames) == [2])
    }

    /// The filter takes microseconds; without it, the encoder would be just as slow.
    @Test func slowEncoderDoesNotDropFilters() throws {
        let reports = try Mailbox<TrackEvent>()
        let stream = StreamFilters(try filters("gray"), reports: reports)
        for tenth: Int64 in 0..<60 {
            stream.apply(to: frame(memory(), at: tenth * 130), colors: nil, FilterStatus())
            stream.frameDone(after: .milliseconds(130), at: MediaTimestamp(milliseconds: tenth * 130))
        }
        #expect(!stream.isIdle && stream.readings.map(\.isDropped) == [false])
    }

    /// The frames are so large that the filter takes a ninth of the time.
    @Test func slowFilterIsDroppedAndRetried() throws {
        let layout = FrameLayout(packed: .i420, size: FrameSize(width: 8192, height: 4096))
        let (reports, memory) = (
            try Mailbox<TrackEvent>(), PooledFrame([UInt8](repeating: 90, count: layout.byteCount))
        )
        let stream = StreamFilters(try filters("smooth"), reports: reports)
        var time = MediaTimestamp.zero
        func encode() -> [String] {
            time = time + .seconds(1)
            let before = stream.readings[0].nanoseconds
            let frame = CapturedFrame(layout: layout, captureTime: time, memory: memory)
            stream.apply(to: frame, colors: nil, FilterStatus())
            stream.frameDone(after: .nanoseconds(9 * (stream.readings[0].nanoseconds - before)), at: time)
            return reports.takeAll().compactMap {
                switch $0 {
                case .video(.changed(.filterDropped(let filter))): "without \(filter)"
                case .video(.changed(.filterRestored(let filter))): "with \(filter)"
                default: nil
                }
            }
        }
        var events: [String] = []
        for _ in 0..<60 where events.isEmpty { events = encode() }
        #expect(events == ["without smooth"] && stream.isIdle && stream.readings[0].isDropped)
        for _ in 0..<29 { #expect(encode() == []) }
        #expect(encode() == ["with smooth"] && !stream.isIdle)
    }

    @Test func unwritableFrameIsSentUnchanged() throws {
        final class ReadOnly: FrameMemory {
            let bytes: [UInt8]
            init(_ bytes: [UInt8]) { self.bytes = bytes }
            func withBytes<Value, Failure: Error>(
                _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
            ) throws(Failure) -> Value { try bytes.withBytes(body) }
        }
        let reports = try Mailbox<TrackEvent>()
        let stream = StreamFilters(try filters("gray"), reports: reports)
        let memory = ReadOnly([UInt8](repeating: 90, count: layout.byteCount))
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        #expect(memory.bytes.allSatisfy { $0 == 90 } && stream.readings.map(\.frames) == [0])
        stream.apply(to: frame(memory), colors: nil, FilterStatus())
        let reasons = reports.takeAll().compactMap {
            if case .video(.filtersFailed(let reason)) = $0 { reason } else { nil }
        }
        #expect(reasons == ["their memory is read-only"])
    }
}
