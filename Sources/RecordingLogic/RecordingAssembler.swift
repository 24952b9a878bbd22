import Bitstream
import Media

/// Decides where recordings start and end, and which bytes are written.
///
/// A file starts at a keyframe. The next one starts at the first keyframe after its length or size is reached, after other
/// headers, after an epoch, and after packets that were dropped. A fragment holds one GOP; GOPs of less than 0.4 s share one, and
/// longer than 5 s or 4 MB have several.
public struct RecordingAssembler: Sendable {
    public enum Action: Sendable {
        /// Creates a file.
        case create(start: MediaTimestamp, steps: [MP4FileStep])
        /// Adds a fragment.
        /// - Parameters:
        ///   - finishByteCount: bytes that finishing the file takes, at most.
        case append(steps: [MP4FileStep], finishByteCount: Int)
        /// Finishes the file.
        case finish(steps: [MP4FileStep], RecordedFile)
        /// Nothing is recorded until other headers come.
        case refuse(BitstreamError)
    }

    /// The contents of a finished file.
    public struct RecordedFile: Hashable, Sendable {
        /// Capture times of the first and of the last packet.
        public let start: MediaTimestamp
        public let end: MediaTimestamp
        public let frameCount: Int
        public let audioPacketCount: Int
    }

    static let shortestFragment = Duration.milliseconds(400)
    static let longestFragment = Duration.seconds(5)
    static let largestFragment = 4 << 20

    private let hasVideo: Bool
    private let length: Duration
    private let largestFile: Int
    private var order: PacketOrder
    private var writer: MP4RecordingWriter?
    private var videoHeader: [UInt8]?
    private var audioHeader: [UInt8]?
    private var needsNewFile = false
    /// The present file cannot decode the next frames: they wait for a keyframe and its file.
    private var isVideoVoid = false
    /// The present headers cannot be recorded, which was said.
    private var isRefused = false
    private var fragmentStart = MediaTimestamp.zero
    private var newest = MediaTimestamp.zero
    /// Packets that no file could take: from before the first keyframe, or later than a second after their time.
    public private(set) var unusedPacketCount = 0

    /// - Parameters:
    ///   - hasVideo: whether files start at keyframes.
    ///   - hasAudio: whether video waits for audio of the same time, for a second at most.
    public init(
        hasVideo: Bool, hasAudio: Bool, length: Duration, largestFile: Int = RecordingSettings.largestFile
    ) {
        self.hasVideo = hasVideo
        self.length = length
        self.largestFile = largestFile
        order = PacketOrder(expectsVideo: hasVideo, expectsAudio: hasAudio)
    }

    /// Bytes of packets that are in no file yet.
    public var heldByteCount: Int { order.byteCount + (writer?.openByteCount ?? 0) }

    /// - Parameter clock: the time of day; `nil` if the clock is not set.
    public mutating func add(_ item: RecordingBuffer.Item, clock: MP4WallClock?) -> [Action] {
        switch item {
        case .packet(let packet): return order.append(packet).flatMap { add($0, clock) }
        case .newFile:
            let actions = order.flush().flatMap { add($0, clock) }
            (needsNewFile, isVideoVoid) = (true, true)
            return actions
        case .gap:
            let actions = order.flush().flatMap { add($0, clock) } + finish(nextFrame: nil, clock)
            (needsNewFile, isVideoVoid) = (true, true)
            return actions
        }
    }

    /// No more packets follow.
    public mutating func end(clock: MP4WallClock?) -> [Action] {
        order.flush().flatMap { add($0, clock) } + finish(nextFrame: nil, clock)
    }

    /// The file could not be written. The next one starts at the next keyframe.
    public mutating func fileFailed() { writer = nil }

    private mutating func add(_ packet: EncodedPacket, _ clock: MP4WallClock?) -> [Action] {
        switch packet.kind {
        case .videoHeader:
            if packet.payload != videoHeader { (needsNewFile, isVideoVoid, isRefused) = (true, true, false) }
            videoHeader = packet.payload
            return []
        case .audioHeader:
            if packet.payload != audioHeader { (needsNewFile, isRefused) = (true, false) }
            audioHeader = packet.payload
            return []
        case .video, .audio: break
        }
        let isStart = hasVideo ? packet.kind == .video(isKeyframe: true) : !packet.isVideo
        var actions: [Action] = []
        if isStart, isFileDue(at: packet.decodeTime) {
            actions += finish(nextFrame: packet.decodeTime, clock)
            actions += start(at: packet.decodeTime, clock)
        } else if isFragmentDue(at: packet, isStart: isStart) {
            actions += endFragment(before: packet, clock)
        }
        guard !(isVideoVoid && packet.isVideo), writer?.append(packet) == true else {
            unusedPacketCount += 1
            return actions
        }
        newest = max(newest, packet.decodeTime)
        return actions
    }

    private func isFileDue(at time: MediaTimestamp) -> Bool {
        guard let writer, !needsNewFile else { return true }
        return time - writer.start >= length || writer.byteCount + writer.openByteCount >= largestFile
    }

    private func isFragmentDue(at packet: EncodedPacket, isStart: Bool) -> Bool {
        guard let writer, !writer.isOpenEmpty, packet.isVideo || !hasVideo else { return false }
        let age = packet.decodeTime - fragmentStart
        let least = hasVideo ? Self.shortestFragment : .seconds(2)
        return (isStart && age >= least) || age >= Self.longestFragment || writer.openByteCount >= Self.largestFragment
    }

    private mutating func endFragment(before packet: EncodedPacket, _ clock: MP4WallClock?) -> [Action] {
        fragmentStart = packet.decodeTime
        return endFragment(nextFrame: packet.isVideo ? packet.decodeTime : nil, clock)
    }

    private mutating func endFragment(nextFrame: MediaTimestamp?, _ clock: MP4WallClock?) -> [Action] {
        guard var writer else { return [] }
        let steps = writer.endFragment(nextFrame: nextFrame, clock: clock)
        self.writer = writer
        return steps.isEmpty ? [] : [.append(steps: steps, finishByteCount: writer.finishByteCount)]
    }

    private mutating func start(at time: MediaTimestamp, _ clock: MP4WallClock?) -> [Action] {
        guard !hasVideo || videoHeader != nil, hasVideo || audioHeader != nil else { return [] }
        do throws(BitstreamError) {
            let tracks = try MP4RecordedTracks(videoHeader: hasVideo ? videoHeader : nil, audioHeader: audioHeader)
            let creation = clock.map { (time.nanoseconds &+ $0.offset) / 1_000_000_000 }
            var writer = MP4RecordingWriter(tracks, start: time, creation: creation)
            let steps = writer.begin()
            self.writer = writer
            (needsNewFile, isVideoVoid) = (false, false)
            fragmentStart = time
            newest = time
            return [.create(start: time, steps: steps)]
        } catch {
            guard !isRefused else { return [] }
            isRefused = true
            return [.refuse(error)]
        }
    }

    private mutating func finish(nextFrame: MediaTimestamp?, _ clock: MP4WallClock?) -> [Action] {
        guard writer != nil else { return [] }
        // A gap does not count as a frame's duration.
        var actions = endFragment(nextFrame: isVideoVoid ? nil : nextFrame, clock)
        guard let writer else { return actions }
        let file = RecordedFile(
            start: writer.start, end: newest, frameCount: writer.frameCount, audioPacketCount: writer.audioPacketCount)
        actions.append(.finish(steps: writer.finish(), file))
        self.writer = nil
        return actions
    }
}
