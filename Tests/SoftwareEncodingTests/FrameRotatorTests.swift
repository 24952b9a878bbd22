import DevicePorts
import Media
import SoftwareEncoding
import Testing

@Suite struct PictureTurnerTests {
    private static let size = PictureSize(width: 4, height: 2)

    /// Luma 0 to 7 from left to right, then down; two chroma samples of each kind.
    private static let picture: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 200, 201]

    private static func turn(
        _ turn: PictureTurn, _ picture: [UInt8] = picture, _ format: PixelFormat = .i420
    ) throws -> (PictureSize, [UInt8]) {
        let turner = try PictureTurner(from: FrameLayout(packed: format, size: size), turn)
        return (turner.target.size, try picture.withUnsafeBytes { try turner.turn($0) })
    }

    @Test func turnsClockwise() throws {
        let (size, quarter) = try Self.turn(PictureTurn(.clockwise90))
        #expect(size == PictureSize(width: 2, height: 4))
        #expect(quarter == [4, 0, 5, 1, 6, 2, 7, 3, 100, 101, 200, 201])
        #expect(try Self.turn(PictureTurn(.half)).1 == [7, 6, 5, 4, 3, 2, 1, 0, 101, 100, 201, 200])
        #expect(try Self.turn(PictureTurn(.clockwise270)).1 == [3, 7, 2, 6, 1, 5, 0, 4, 101, 100, 201, 200])
    }

    @Test func mirrorsWhatWasTurned() throws {
        let mirrored = try Self.turn(PictureTurn(isMirrored: true)).1
        #expect(mirrored == [3, 2, 1, 0, 7, 6, 5, 4, 101, 100, 201, 200])
        let both = try Self.turn(PictureTurn(.clockwise90, isMirrored: true)).1
        #expect(both == [0, 4, 1, 5, 2, 6, 3, 7, 100, 101, 200, 201])
    }

    @Test func takesOtherLayouts() throws {
        let nv12: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 100, 200, 101, 201]
        #expect(try Self.turn(PictureTurn(.half), nv12, .nv12).1 == [7, 6, 5, 4, 3, 2, 1, 0, 101, 100, 201, 200])
    }

    @Test func refusesHalfAPicture() {
        #expect(throws: VideoEncodingError.self) { try Self.turn(PictureTurn(.half), [1, 2, 3]) }
    }

    @Test func onlyQuartersExchangeTheSides() {
        let lying = PictureSize(width: 640, height: 480)
        for rotation in PictureTurn.Rotation.allCases {
            let turned = PictureTurn(rotation).turned(lying)
            #expect((turned == lying) == (rotation.rawValue % 180 == 0))
            #expect(PictureTurn(rotation).turned(turned) == lying)
        }
        #expect(PictureTurn().isIdentity && !PictureTurn(isMirrored: true).isIdentity)
    }
}
