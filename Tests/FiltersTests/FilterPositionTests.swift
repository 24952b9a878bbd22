import Media
import Testing

@testable import Filters

@Suite struct FilterPositionTests {
    private let frame = FrameSize(width: 640, height: 480)
    private let size = FrameSize(width: 100, height: 50)

    private func corner(_ text: String, margin: Double = 0.05, _ size: FrameSize? = nil, in frame: FrameSize? = nil)
        throws -> [Int]
    {
        let position = try #require(FilterPosition(parsing: text))
        let corner = position.corner(of: size ?? self.size, in: frame ?? self.frame, margin: margin)
        return [corner.x, corner.y]
    }

    @Test func wordsKeepTheirMargin() throws {
        #expect(try corner("top-left") == [24, 24])
        #expect(try corner("top") == [270, 24])
        #expect(try corner("center") == [270, 214])
        #expect(try corner("right") == [516, 214])
        #expect(try corner("bottom-right") == [516, 406])
        // The place in the frame is the same at another size.
        #expect(try corner("bottom-right", in: FrameSize(width: 1280, height: 720)) == [1144, 634])
    }

    @Test func pointsHaveNoMargin() throws {
        #expect(try corner("0,0") == [0, 0])
        #expect(try corner("1,1") == [540, 430])
        #expect(try corner("0.5,0.25") == [270, 106])
    }

    @Test func objectsStayInsideTheFrame() throws {
        for word in ["top-left", "top", "bottom-right", "0.3,0.9", "1,1"] {
            for width in [1, 2, 639, 640] {
                for height in [1, 479, 480] {
                    let corner = try corner(word, margin: 0.25, FrameSize(width: width, height: height))
                    let label = Comment("\(word) \(width)x\(height)")
                    #expect(corner[0] >= 0 && corner[0] + width <= 640 && corner[0] % 2 == 0, label)
                    #expect(corner[1] >= 0 && corner[1] + height <= 480 && corner[1] % 2 == 0, label)
                }
            }
        }
        #expect(try corner("bottom-right", FrameSize(width: 2000, height: 2000)) == [0, 0])
    }

    @Test func otherWordsAreRefused() {
        for text in ["", "0.5", "0.5,0.5,0.5", "-0.1,0", "nan,0", "middle", "top-center"] {
            #expect(FilterPosition(parsing: text) == nil, "\(text)")
        }
    }
}
