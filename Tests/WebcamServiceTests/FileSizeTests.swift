import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import SeededNumbers
import Testing
import USBVideo

@testable import WebcamService

/// JPEG sizes compared with the bus's capacity.
@Suite struct FileSizeTests: WebcamSuite {
    let time = VirtualTime()
    let computer: FakeComputer
    let reports: Mailbox<WebcamReport>

    init() throws {
        computer = try FakeComputer()
        reports = try Mailbox()
    }

    /// Gray with noise; more noise makes larger files.
    /// - Parameter amplitude: up to 127.
    private static func noise(_ amplitude: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: 7)
        return (0..<layout.byteCount).map { _ in UInt8(128 + Int.random(in: -amplitude...amplitude, using: &generator))
        }
    }

    /// - Returns: the sizes of the files sent for this many noisy frames.
    private func files(
        _ count: Int, _ amplitude: Int, frame: UInt8 = 1, at speed: USBSpeed = .high, on bus: IsochronousBudget
    ) throws -> [Int] {
        try withWebcam(on: bus) { webcam in
            look(1, frame, at: speed)
            sleep(.milliseconds(10))
            offer(count, of: Self.noise(amplitude), to: webcam)
            let (sent, lost) = (webcam.statistics.sentFrames, webcam.statistics.lostFrames)
            #expect(sent + lost == count && sent == frames.count { $0.byteCount > 0 })
        }
        return frames.map(\.byteCount).filter { $0 > 0 }
    }

    @Test func fastBusGetsFilesOfTheUsualQuality() throws {
        let fast = try files(20, 40, on: IsochronousBudget())
        #expect(fast.count == 20 && fast.allSatisfy { $0 > 40_000 }, "\(fast)")
    }

    /// A slow port's buffers hold no more than the bus carries per frame. Even a file of quality 20 would be larger, as the
    /// last test shows.
    @Test func filesFitIntoASlowPortsBuffers() throws {
        let bus = IsochronousBudget(packetBytes: 1024, interval: 4)
        let small = try files(30, 90, on: bus)
        #expect(small.count >= 20 && small.allSatisfy { $0 <= bus.bytesPerFrame(at: 30) }, "\(small)")
    }

    /// One megabyte per second leaves 31,593 bytes for each of thirty frames.
    @Test func fullSpeedBusGetsSmallerFiles() throws {
        let slow = try files(20, 40, at: .full, on: IsochronousBudget())
        #expect(slow.count >= 17 && slow.allSatisfy { $0 <= 31_593 }, "\(slow)")
    }

    /// No acceptable quality makes the files small enough, so the computer gets large ones at a lower rate.
    @Test func fullSpeedBusGetsLargeFilesRatherThanNone() throws {
        let large = try files(20, 90, at: .full, on: IsochronousBudget())
        #expect(large.count >= 17 && large.dropFirst().allSatisfy { $0 > 31_593 }, "\(large)")
    }
}
