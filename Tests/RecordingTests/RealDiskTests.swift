import Bitstream
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import RecordingLogic
import Testing

@testable import Recording

/// A file system in memory, which is full soon.
private final class SmallDisk {
    let path: String

    init(_ directory: TemporaryDirectory, megabytes: Int) throws {
        path = directory.file("disk")
        guard mkdir(path, 0o755) == 0 else { throw SystemCallError("mkdir", subject: path) }
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(megabytes)m") == 0 else {
            throw SystemCallError("mount", subject: path)
        }
    }

    func makeReadOnly() throws {
        guard mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            throw SystemCallError("mount", subject: path)
        }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}

@Suite(.serialized) struct RealDiskTests {
    private let directory: TemporaryDirectory
    private let events: RecordedEvents

    init() throws {
        directory = try TemporaryDirectory()
        events = try RecordedEvents()
    }

    private func recorder() throws -> Recorder {
        try Recorder(clock: .fixed, report: { [events] in events.add($0) })
    }

    /// A minute with a keyframe each second, 50 kB a frame: 75 MB.
    private func recordAMinute(_ recorder: Recorder) {
        for second in 0..<60 as Range<Int64> {
            recorder.sink.bring(SampleStream.packets(second * 1000..<second * 1000 + 1000, frameByteCount: 50_000))
            while recorder.sink.byteCount > 4 << 20, !hasFailed { usleep(1000) }
        }
    }

    private var hasFailed: Bool {
        events.all.contains { if case .stateChanged(.failed) = $0 { true } else { false } }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root to mount a disk"))
    func oldestGoesWhenTheDiskIsFull() throws {
        let disk = try SmallDisk(directory, megabytes: 100)
        let recorder = try recorder()
        recorder.start(RecordingPlan(in: .folder("\(disk.path)/r"), RecordingSettings(length: .seconds(10), share: 95)))
        #expect(events.wait(for: .stateChanged(.recording)))
        recorder.sink.bring(SampleStream.headers)
        recordAMinute(recorder)
        #expect(recorder.end(within: .patience))
        #expect(!hasFailed)
        #expect(events.finished.map(\.frameCount) == [250, 250, 250, 250, 250, 250])
        let names = try fileNames(in: "\(disk.path)/r").filter { $0.hasSuffix(".mp4") }.sorted()
        #expect(names.count == 4 || names.count == 5)
        #expect(names.last == "000006_20261126T133955Z.mp4")
        #expect(freeByteCount(at: disk.path) ?? 0 >= RecordingFolder.reserve / 2)
    }

    @Test(.enabled(if: geteuid() == 0, "needs root to mount a disk"))
    func keptRecordingsFillTheDiskAndSayIt() throws {
        let disk = try SmallDisk(directory, megabytes: 78)
        let recorder = try recorder()
        recorder.start(
            RecordingPlan(
                in: .folder("\(disk.path)/r"), RecordingSettings(length: .seconds(10), share: 95, keepsAll: true)))
        #expect(events.wait(for: .stateChanged(.recording)))
        recorder.sink.bring(SampleStream.headers)
        recordAMinute(recorder)
        #expect(
            events.wait { if case .stateChanged(.failed(let failure)) = $0 { failure.kind == .noSpace } else { false } }
        )
        recorder.diskChanged()
        // The file that was being written is finished all the same.
        #expect(events.wait { if case .repaired = $0 { true } else { false } })
        #expect(recorder.end(within: .patience))
        #expect(!events.all.contains { if case .removedOldest = $0 { true } else { false } })
    }

    @Test(.enabled(if: geteuid() == 0, "needs root to mount a disk"))
    func readOnlyDiskIsReported() throws {
        let disk = try SmallDisk(directory, megabytes: 50)
        try disk.makeReadOnly()
        let recorder = try recorder()
        recorder.start(RecordingPlan(in: .folder("\(disk.path)/r"), RecordingSettings()))
        #expect(
            events.wait {
                if case .stateChanged(.failed(let failure)) = $0 { failure.kind == .readOnly } else { false }
            })
        #expect(recorder.end(within: .patience))
    }

    /// What ffmpeg encodes is recorded, cut into files, and decoded by ffmpeg without a complaint, to the frame.
    @Test func filesPlayWithoutAComplaint() throws {
        let clip = directory.file("clip.flv")
        try FFmpeg.runProgram(
            [
                "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=24", "-f", "lavfi",
                "-i", "sine=r=48000:d=24", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g",
                "50",
                "-pix_fmt", "yuv420p", "-c:a", "aac", clip,
            ], log: directory.file("log"))
        let recorder = try recorder()
        recorder.start(RecordingPlan(in: .folder(directory.file("r")), RecordingSettings(length: .seconds(10))))
        #expect(events.wait(for: .stateChanged(.recording)))
        for tag in try recordedTags(clip) {
            if let packet = try tag.packet(base: .zero) { recorder.sink.bring([packet]) }
        }
        #expect(recorder.end(within: .patience))
        #expect(events.finished.map(\.frameCount) == [250, 250, 100])
        let names = try fileNames(in: directory.file("r")).filter { $0.hasSuffix(".mp4") }.sorted()
        for (name, frames) in zip(names, [250, 250, 100]) {
            let raw = directory.file("\(name).raw")
            try FFmpeg.runProgram(
                [
                    "ffmpeg", "-nostdin", "-v", "error", "-xerror", "-err_detect", "explode", "-i",
                    directory.file("r/\(name)"), "-map", "0:v", "-fps_mode", "passthrough", "-pix_fmt", "gray", "-s",
                    "8x8", "-f", "rawvideo", raw, "-map", "0:a", "-f", "null", "-",
                ], log: directory.file("\(name).log"))
            #expect(try readFile(raw, limit: 1 << 20).count == frames * 64)
        }
    }
}
