import DevicePorts
import Media
import SoftwareEncoding
import Testing

@Suite struct ColorConverterTests {
    private static let size = FrameSize(width: 64, height: 48)
    private static let layout = FrameLayout(packed: .i420, size: size)

    /// A uniform gray in full range.
    private static func converted(within place: Letterbox?) throws -> [UInt8] {
        let converter = try ColorConverter(layout, within: place)
        var frame = layout.black(isFullRange: true)
        for index in 0..<size.pixelCount { frame[index] = 255 }
        try frame.withUnsafeMutableBytes { try converter.convert($0, from: .jpeg) }
        return frame
    }

    @Test func wholeFramesAreConverted() throws {
        #expect(try Self.converted(within: nil).prefix(Self.size.pixelCount).allSatisfy { abs(Int($0) - 235) <= 1 })
    }

    @Test(arguments: [
        FrameSize(width: 10, height: 40), FrameSize(width: 90, height: 30), FrameSize(width: 64, height: 48),
    ])
    func barsStayUnchanged(source: FrameSize) throws {
        let place = Letterbox(source, into: Self.size)
        let frame = try Self.converted(within: place)
        for row in 0..<Self.size.height {
            for column in 0..<Self.size.width {
                let isInside =
                    (place.left..<place.left + place.size.width).contains(column)
                    && (place.top..<place.top + place.size.height).contains(row)
                let sample = Int(frame[row * Self.size.width + column])
                try #require(isInside ? abs(sample - 235) <= 1 : sample == 255, "\(column), \(row)")
            }
        }
        #expect(frame.dropFirst(Self.size.pixelCount).allSatisfy { $0 == 128 })
    }

    @Test func areaOutsideTheFrameIsRefused() {
        let place = Letterbox(FrameSize(width: 4, height: 3), into: FrameSize(width: 128, height: 96))
        #expect(throws: VideoEncodingError.self) { _ = try ColorConverter(Self.layout, within: place) }
    }

    @Test func blackMatchesTheRange() {
        for (isFullRange, luma) in [(false, UInt8(16)), (true, 0)] {
            let frame = Self.layout.black(isFullRange: isFullRange)
            #expect(frame.count == Self.layout.byteCount)
            #expect(frame.prefix(Self.size.pixelCount).allSatisfy { $0 == luma })
            #expect(frame.dropFirst(Self.size.pixelCount).allSatisfy { $0 == 128 })
        }
    }
}
