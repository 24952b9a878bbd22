import Media
import Testing

@testable import V4L2Devices

@Suite struct OutputAssemblyTests {
    private static let start: [UInt8] = [0, 0, 0, 1]
    /// SPS and PPS of OpenH264, 640x480, Baseline 3.0.
    private static let headers: [UInt8] =
        start + [0x67, 0x42, 0xC0, 0x1E, 0x8C, 0x68, 0x0A, 0x03, 0xDA, 0x01, 0xE1, 0x10, 0x8D, 0x40] + start + [
            0x68, 0xCE, 0x3C, 0x80,
        ]
    private static let key: [UInt8] = start + [0x65, 0x88, 0x84, 0x00, 0x10]
    private static let other: [UInt8] = start + [0x41, 0x9A, 0x02, 0x04]

    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    private func give(
        _ assembly: inout OutputAssembly, _ milliseconds: Int64, _ bytes: [UInt8], isBroken: Bool = false,
        isFull: Bool = false
    ) -> [EncodedPacket.Kind] {
        bytes.withUnsafeBytes { bytes in
            assembly.outputArrived(
                OutputAssembly.Output(time: time(milliseconds), isBroken: isBroken, isFull: isFull), bytes
            ).map(\.kind)
        }
    }

    private func submitted(_ count: Int64) -> OutputAssembly {
        var assembly = OutputAssembly()
        for index in 0..<count { assembly.frameSubmitted(time(index * 40)) }
        return assembly
    }

    @Test func streamStartsWithHeadersAndAKeyframe() {
        var assembly = submitted(2)
        #expect(give(&assembly, 0, Self.headers + Self.key) == [.videoHeader, .video(isKeyframe: true)])
        #expect(give(&assembly, 40, Self.other) == [.video(isKeyframe: false)])
        #expect(assembly.inFlight.count == 0 && assembly.faultCount == 0 && !assembly.takeKeyframeWish())
    }

    @Test func framesBeforeTheFirstKeyframeAreWithheld() {
        var assembly = submitted(2)
        #expect(give(&assembly, 0, Self.other) == [])
        #expect(give(&assembly, 40, Self.headers + Self.key) == [.videoHeader, .video(isKeyframe: true)])
        #expect(assembly.inFlight.count == 0)
    }

    @Test func framesAfterABrokenOneAreWithheldUntilAKeyframe() {
        var assembly = submitted(4)
        _ = give(&assembly, 0, Self.headers + Self.key)
        #expect(give(&assembly, 40, [], isBroken: true) == [])
        #expect(assembly.takeKeyframeWish() && !assembly.takeKeyframeWish())
        #expect(give(&assembly, 80, Self.other) == [])
        #expect(give(&assembly, 120, Self.headers + Self.key) == [.video(isKeyframe: true)])
        #expect(assembly.faultCount == 1 && assembly.inFlight.count == 0)
    }

    @Test func frameInSeveralBuffersIsJoined() {
        var assembly = submitted(1)
        let bytes = Self.headers + Self.key
        #expect(give(&assembly, 0, Array(bytes[..<9]), isFull: true) == [])
        #expect(give(&assembly, 0, Array(bytes[9...])) == [.videoHeader, .video(isKeyframe: true)])
    }

    @Test func frameWithoutItsRestIsLost() {
        var assembly = submitted(3)
        _ = give(&assembly, 0, Self.headers + Self.key)
        #expect(give(&assembly, 40, Self.other, isFull: true) == [])
        #expect(give(&assembly, 80, Self.other) == [])
        #expect(assembly.faultCount == 1 && assembly.takeKeyframeWish() && assembly.inFlight.count == 0)
    }

    @Test func separateHeadersAreNotAFaultIfAFrameFollows() {
        var assembly = submitted(1)
        #expect(give(&assembly, 0, Self.headers) == [.videoHeader])
        #expect(give(&assembly, 0, Self.key) == [.video(isKeyframe: true)])
        #expect(assembly.faultCount == 0)
    }

    @Test func headersInsteadOfAFrameAreAFault() {
        var assembly = submitted(3)
        _ = give(&assembly, 0, Self.headers + Self.key)
        #expect(give(&assembly, 40, Self.headers) == [])
        #expect(give(&assembly, 80, Self.other) == [])
        #expect(assembly.faultCount == 1 && assembly.takeKeyframeWish())
    }

    @Test func restartedEncoderMustSendAKeyframe() {
        var assembly = submitted(2)
        _ = give(&assembly, 0, Self.headers + Self.key)
        assembly.encoderStopped()
        #expect(assembly.inFlight.count == 0)
        assembly.frameSubmitted(time(80))
        #expect(give(&assembly, 80, Self.other) == [])
    }
}
