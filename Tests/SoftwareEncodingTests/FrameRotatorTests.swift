import DevicePorts
import Media
import SeededNumbers
import SoftwareEncoding
import Testing

@Suite struct FrameRotatorTests {
    private static let size = FrameSize(width: 4, height: 2)

    /// Luma 0 to 7, row by row; two samples of each chroma component.
    private static let frame: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 200, 201]

    private static func rotate(
        _ rotation: FrameRotation, _ frame: [UInt8] = frame, _ format: PixelFormat = .i420
    ) throws -> (FrameSize, [UInt8]) {
        let rotator = try FrameRotator(from: FrameLayout(packed: format, size: size), rotation)
        // Earlier contents must be overwritten.
        var rotated = [UInt8](repeating: 255, count: rotator.target.byteCount)
        try frame.withUnsafeBytes { bytes in
            try rotated.withUnsafeMutableBytes { try rotator.rotate(bytes, into: $0) }
        }
        return (rotator.target.size, rotated)
    }

    @Test func rotatesClockwise() throws {
        let (size, quarter) = try Self.rotate(FrameRotation(.clockwise90))
        #expect(size == FrameSize(width: 2, height: 4))
        #expect(quarter == [4, 0, 5, 1, 6, 2, 7, 3, 100, 101, 200, 201])
        #expect(try Self.rotate(FrameRotation(.half)).1 == [7, 6, 5, 4, 3, 2, 1, 0, 101, 100, 201, 200])
        #expect(try Self.rotate(FrameRotation(.clockwise270)).1 == [3, 7, 2, 6, 1, 5, 0, 4, 101, 100, 201, 200])
    }

    @Test func mirroringFollowsRotation() throws {
        let mirrored = try Self.rotate(FrameRotation(isMirrored: true)).1
        #expect(mirrored == [3, 2, 1, 0, 7, 6, 5, 4, 101, 100, 201, 200])
        let both = try Self.rotate(FrameRotation(.clockwise90, isMirrored: true)).1
        #expect(both == [0, 4, 1, 5, 2, 6, 3, 7, 100, 101, 200, 201])
    }

    @Test(arguments: FrameRotation.Angle.allCases, [false, true])
    func cameraFlipsLeaveTheRestOfTheRotation(angle: FrameRotation.Angle, isMirrored: Bool) throws {
        let rotation = FrameRotation(angle, isMirrored: isMirrored)
        let flips = rotation.flips
        // Flipping vertically equals mirroring plus half a turn.
        let byCamera = FrameRotation(
            flips.isVertical ? .half : .none, isMirrored: flips.isHorizontal != flips.isVertical)
        let flipped = try Self.rotate(byCamera).1
        #expect(try Self.rotate(rotation.rest(after: flips), flipped).1 == Self.rotate(rotation).1)
        #expect(rotation.rest(after: flips).isIdentity == rotation.isOfACamera)
        if flips != FrameFlips() { #expect(rotation.rest(after: FrameFlips()) == rotation) }
    }

    /// Compares with two rotators in a row.
    @Test(arguments: FrameRotation.Angle.allCases, FrameRotation.Angle.allCases)
    func rotationsCombine(first: FrameRotation.Angle, second: FrameRotation.Angle) throws {
        for (isMirrored, isMirroredAgain) in [(false, false), (false, true), (true, false), (true, true)] {
            let (first, second) = (
                FrameRotation(first, isMirrored: isMirrored), FrameRotation(second, isMirrored: isMirroredAgain)
            )
            let once = try Self.rotate(first)
            let turned = FrameLayout(packed: .i420, size: once.0)
            let rotator = try FrameRotator(from: turned, second)
            var twice = [UInt8](repeating: 255, count: rotator.target.byteCount)
            try once.1.withUnsafeBytes { bytes in
                try twice.withUnsafeMutableBytes { try rotator.rotate(bytes, into: $0) }
            }
            #expect(try Self.rotate(first.followed(by: second)).1 == twice)
        }
    }

    @Test func acceptsOtherLayouts() throws {
        let nv12: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 100, 200, 101, 201]
        #expect(try Self.rotate(FrameRotation(.half), nv12, .nv12).1 == [7, 6, 5, 4, 3, 2, 1, 0, 101, 100, 201, 200])
    }

    /// Each angle, mirrored or not, in each layout, sample by sample.
    @Test(arguments: FrameRotation.Angle.allCases, [false, true])
    func everySampleIsInItsPlace(angle: FrameRotation.Angle, isMirrored: Bool) throws {
        // Includes odd chroma widths, and planes smaller than the blocks that are rotated at once.
        for (width, height) in [(70, 36), (2, 2), (2, 90), (66, 2), (30, 34), (322, 146)] {
            try check(FrameRotation(angle, isMirrored: isMirrored), FrameSize(width: width, height: height))
        }
    }

    private func check(_ rotation: FrameRotation, _ size: FrameSize) throws {
        var random = SeededGenerator(seed: 4)
        let (luma, chroma) = (size.width * size.height, size.width * size.height / 4)
        let i420 = random.bytes(luma + 2 * chroma)
        var nv12 = Array(i420.prefix(luma))
        for place in luma..<luma + chroma { nv12 += [i420[place], i420[place + chroma]] }
        for (format, frame) in [(PixelFormat.i420, i420), (.nv12, nv12)] {
            let rotator = try FrameRotator(from: FrameLayout(packed: format, size: size), rotation)
            #expect(rotator.passCount == 1)
            // Memory may be larger than the frame.
            var rotated = [UInt8](repeating: 9, count: rotator.target.byteCount + 100)
            try frame.withUnsafeBytes { bytes in
                try rotated.withUnsafeMutableBytes { try rotator.rotate(bytes, into: $0) }
            }
            #expect(rotated.suffix(100).allSatisfy { $0 == 9 })
            for (plane, start) in [0, luma, luma + chroma].enumerated() {
                let part = plane == 0 ? 1 : 2
                let sides = (width: size.width / part, height: size.height / part)
                let wrong = (0..<sides.width * sides.height).count { place in
                    let (x, y) = (place % sides.width, place / sides.width)
                    let target = rotator.target.planes[plane]
                    let to = Self.place(x, y, sides, rotation)
                    return rotated[target.offset + to.y * target.stride + to.x] != i420[start + place]
                }
                #expect(wrong == 0, "\(format), \(size), plane \(plane)")
            }
        }
    }

    private static func place(
        _ x: Int, _ y: Int, _ sides: (width: Int, height: Int), _ rotation: FrameRotation
    ) -> (x: Int, y: Int) {
        let (turnedX, turnedY, width) =
            switch rotation.angle {
            case .none: (x, y, sides.width)
            case .clockwise90: (sides.height - 1 - y, x, sides.height)
            case .half: (sides.width - 1 - x, sides.height - 1 - y, sides.width)
            case .clockwise270: (y, sides.width - 1 - x, sides.height)
            }
        return (rotation.isMirrored ? width - 1 - turnedX : turnedX, turnedY)
    }

    @Test func oddSidesAreRefused() {
        for size in [FrameSize(width: 5, height: 4), FrameSize(width: 4, height: 5), FrameSize(width: 0, height: 4)] {
            #expect(throws: VideoEncodingError.unsupportedSize(size)) {
                try FrameRotator(from: FrameLayout(packed: .nv12, size: size), FrameRotation(.half))
            }
        }
    }

    @Test func refusesAnIncompleteFrame() {
        #expect(throws: VideoEncodingError.self) { try Self.rotate(FrameRotation(.half), [1, 2, 3]) }
    }

    @Test func refusesTooSmallMemory() throws {
        let rotator = try FrameRotator(from: FrameLayout(packed: .i420, size: Self.size), FrameRotation(.half))
        var small = [UInt8](repeating: 255, count: rotator.target.byteCount - 1)
        #expect(throws: VideoEncodingError.incompleteFrame(rotator.target, byteCount: small.count)) {
            try Self.frame.withUnsafeBytes { bytes in
                try small.withUnsafeMutableBytes { try rotator.rotate(bytes, into: $0) }
            }
        }
        #expect(small.allSatisfy { $0 == 255 })
    }

    @Test func onlyQuarterTurnsSwapTheSides() {
        let lying = FrameSize(width: 640, height: 480)
        for angle in FrameRotation.Angle.allCases {
            let rotated = FrameRotation(angle).rotated(lying)
            #expect((rotated == lying) == (angle.rawValue % 180 == 0))
            #expect(FrameRotation(angle).rotated(rotated) == lying)
        }
        #expect(FrameRotation().isIdentity && !FrameRotation(isMirrored: true).isIdentity)
    }
}
