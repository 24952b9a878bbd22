import Bitstream
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import RecordingLogic
import Synchronization

@testable import Recording

/// Collects events of any thread.
final class RecordedEvents: Sendable {
    private let events = Mutex<[RecordingEvent]>([])
    private let wakeup: EventFD

    init() throws { wakeup = try EventFD() }

    var all: [RecordingEvent] { events.withLock { $0 } }

    func add(_ event: RecordingEvent) {
        events.withLock { $0.append(event) }
        wakeup.signal()
    }

    /// Waits for an event.
    func wait(for isWanted: (RecordingEvent) -> Bool) -> Bool {
        let deadline = MonotonicClock.now() + .patience
        while true {
            wakeup.drain()
            if all.contains(where: isWanted) { return true }
            guard wakeup.isSignaled(until: deadline) else { return false }
        }
    }

    func wait(for event: RecordingEvent) -> Bool { wait { $0 == event } }

    var finished: [RecordingAssembler.RecordedFile] {
        all.compactMap { if case .fileFinished(_, let file, _) = $0 { file } else { nil } }
    }
}

/// A real folder whose calls can fail, hang, or stop as at a power cut.
final class ScriptedDisk: RecordingDisk {
    struct State {
        var failures: [String: Int32] = [:]
        /// Steps that are still performed; after them, the power is off.
        var stepsLeft: Int?
        var openCount = 0
        var space: RecordingFolder.Space?
        /// `nil` for the kernel's.
        var mountPoints: [String]?
    }

    let state = Mutex(State())
    /// Held while folders and writes must hang.
    let gate = Mutex(())
    private let hangingCount = Atomic(0)
    private let disk = LinuxRecordingDisk()

    fileprivate func check(_ call: String, _ path: String) throws(SystemCallError) {
        let number = state.withLock { state -> Int32? in
            if let left = state.stepsLeft {
                guard left > 0 else { return EIO }
                state.stepsLeft = left - 1
            }
            return state.failures[call]
        }
        if let number { throw SystemCallError(call, number: number, subject: path) }
    }

    /// Whether a call waits at the gate. Exact for its holder.
    var isHanging: Bool { hangingCount.load(ordering: .relaxed) > 0 }

    fileprivate func passGate() {
        hangingCount.add(1, ordering: .relaxed)
        gate.withLock { _ in hangingCount.subtract(1, ordering: .relaxed) }
    }

    func fail(_ call: String, _ number: Int32?) { state.withLock { $0.failures[call] = number } }

    func mountPoints(in folder: String) throws(SystemCallError) -> [String] {
        if let points = state.withLock({ $0.mountPoints }) { return points }
        return try disk.mountPoints(in: folder)
    }

    func unmount(_ path: String) throws(SystemCallError) {
        try check("umount", path)
        state.withLock { state in state.mountPoints?.removeAll { $0 == path } }
    }

    func prepare(_ folder: String) throws(SystemCallError) {
        passGate()
        try check("mkdir", folder)
        try disk.prepare(folder)
    }

    func recordings(in folder: String) throws(SystemCallError) -> [RecordingFolder.File] {
        try disk.recordings(in: folder)
    }

    func space(of folder: String) throws(SystemCallError) -> RecordingFolder.Space {
        if let space = state.withLock({ $0.space }) { return space }
        return try disk.space(of: folder)
    }

    func create(_ path: String) throws(SystemCallError) -> any RecordingFile {
        try check("open", path)
        return ScriptedFile(try disk.create(path), path, self)
    }

    func open(_ path: String) throws(SystemCallError) -> any RecordingFile {
        state.withLock { $0.openCount += 1 }
        try check("open", path)
        return ScriptedFile(try disk.open(path), path, self)
    }

    func synchronize(_ folder: String) throws(SystemCallError) { try disk.synchronize(folder) }
    func remove(_ path: String) throws(SystemCallError) { try disk.remove(path) }

    func append(_ bytes: [UInt8], to path: String, creates: Bool) throws(SystemCallError) {
        try disk.append(bytes, to: path, creates: creates)
    }
}

private final class ScriptedFile: RecordingFile {
    private let file: any RecordingFile
    private let path: String
    private let disk: ScriptedDisk

    init(_ file: any RecordingFile, _ path: String, _ disk: ScriptedDisk) {
        self.file = file
        self.path = path
        self.disk = disk
    }

    var byteCount: Int { get throws(SystemCallError) { try file.byteCount } }

    func read(at offset: Int, count: Int) throws(SystemCallError) -> [UInt8] { try file.read(at: offset, count: count) }

    func perform(_ step: MP4FileStep) throws(SystemCallError) {
        disk.passGate()
        switch step {
        case .write(let pieces, let offset):
            do throws(SystemCallError) {
                try disk.check("pwrite", path)
            } catch {
                // Half of it is there, as when the disk is full.
                let bytes = pieces.flatMap { $0 }
                try file.perform(.write([Array(bytes.prefix(bytes.count / 2))], at: offset))
                throw error
            }
        case .truncate: try disk.check("ftruncate", path)
        case .synchronize: try disk.check("fdatasync", path)
        }
        try file.perform(step)
    }
}

/// A stream of small frames, 25 a second, and audio.
enum SampleStream {
    static let videoHeader: [UInt8] = header(66)
    static let otherHeader: [UInt8] = header(77)

    private static func header(_ profile: UInt8) -> [UInt8] {
        let set: [UInt8] = [
            0x67, profile, 0xC0, 0x1E, 0x8C, 0x68, 0x0A, 0x03, 0xDA, 0x01, 0xE1, 0x10, 0x8D, 0x40,
        ]
        return [1, profile, 0xC0, 0x1E, 0xFF, 0xE1, 0, UInt8(set.count)] + set + [1, 0, 4, 0x68, 0xCE, 0x3C, 0x80]
    }

    static let headers = [
        EncodedPacket(kind: .videoHeader, decodeTime: .zero, payload: videoHeader),
        EncodedPacket(kind: .audioHeader, decodeTime: .zero, payload: [0x11, 0x90]),
    ]

    static func frame(at milliseconds: Int64, byteCount: Int = 200) -> EncodedPacket {
        let length = (0..<4).reversed().map { UInt8(truncatingIfNeeded: byteCount >> (8 * $0)) }
        return EncodedPacket(
            kind: .video(isKeyframe: milliseconds % 1000 == 0), decodeTime: MediaTimestamp(milliseconds: milliseconds),
            payload: length + [UInt8](repeating: 0x65, count: byteCount))
    }

    static func audio(at milliseconds: Int64) -> EncodedPacket {
        EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: milliseconds), payload: [0x21, 3, 4])
    }

    /// One after the other, as the hub brings them.
    static func packets(_ times: Range<Int64>, frameByteCount: Int = 200) -> [EncodedPacket] {
        stride(from: times.lowerBound, to: times.upperBound, by: 20).flatMap { time -> [EncodedPacket] in
            let sound = audio(at: time + 10)
            return time % 40 == 0 ? [frame(at: time, byteCount: frameByteCount), sound] : [sound]
        }
    }
}

extension RecordingSink {
    func bring(_ packets: [EncodedPacket]) {
        for packet in packets {
            let events = append([packet], now: packet.decodeTime)
            wake(events)
        }
    }
}

extension RecordingClock {
    /// 2026-11-26T13:39:05Z at time zero.
    static let fixed = RecordingClock {
        Reading(wallClock: MP4WallClock(offset: 1_795_700_345_000_000_000), error: .milliseconds(20))
    }
}
