import DevicePorts
import Filters
import Media
import MediaTestSupport
import SeededNumbers
import Testing

@testable import FrameFiltering

@Suite struct FilterPassTests {
    static let all = [
        "crop,left=0.1,top=0.2,width=0.7,height=0.6", "smooth,strength=0.8", "whiten", "redden",
        "text,text=Ab {time}\\nj,background=#20408080", "mirror", "gray",
    ]

    @Test(arguments: [PixelFormat.nv12, .i420], [(2, 2), (3, 3), (17, 9), (64, 48), (101, 75), (640, 66), (320, 641)])
    func nothingOutsideThePlanesIsTouched(format: PixelFormat, sides: (Int, Int)) throws {
        var random = SeededGenerator(seed: 3)
        for padding in [0, 1, 13, 64] {
            let before = FrameInMemory(format, sides.0, sides.1, padding: padding, &random)
            for filters in [Self.all] + Self.all.map({ [$0] }) {
                var after = before
                try after.apply(FilterPass(LoadedFilters(FilterChain(parsing: filters))), .bt601)
                let strays = zip(zip(before.bytes, after.bytes), before.isSample).count { $0.0 != $0.1 && !$1 }
                #expect(strays == 0, "\(filters), \(padding)")
            }
        }
    }

    /// U and V separate or interleaved, packed or with padding: the samples are the same.
    @Test(arguments: FilterPassTests.all + [FilterPassTests.all.joined(separator: ";")])
    func allLayoutsGiveTheSameFrame(filters: String) throws {
        let chain = try FilterChain(parsing: filters.split(separator: ";").map(String.init))
        var random = SeededGenerator(seed: 5)
        for (width, height) in [(98, 70), (33, 41), (160, 120)] {
            var nv12 = FrameInMemory(.nv12, width, height, padding: 7, &random)
            var i420 = FrameInMemory(.i420, width, height, &random)
            let given = nv12.planes
            for (plane, samples) in zip(i420.layout.planes, given) {
                i420.bytes.replaceSubrange(plane.offset..<plane.offset + samples.count, with: samples)
            }
            try nv12.apply(FilterPass(LoadedFilters(chain)), .bt709)
            try i420.apply(FilterPass(LoadedFilters(chain)), .bt709)
            #expect(nv12.planes == i420.planes, "\(width)x\(height)")
            #expect(nv12.planes != given, "\(width)x\(height)")
        }
    }

    /// One pass for all filters gives the same result as one pass for each.
    @Test func chainEqualsItsFiltersOneAfterAnother() throws {
        var random = SeededGenerator(seed: 7)
        for order in [
            Self.all, Self.all.reversed(), ["mirror", "smooth", "text,text=x,size=0.5", "crop,top=0.5", "redden"],
        ] {
            var together = FrameInMemory(.nv12, 200, 150, &random)
            var apart = together
            try together.apply(FilterPass(LoadedFilters(FilterChain(parsing: order))))
            for filter in order { try apart.apply(filter) }
            #expect(together.bytes == apart.bytes)
        }
    }

    @Test func invalidFramesAreRefusedUnchanged() throws {
        let pass = FilterPass(try LoadedFilters(FilterChain(parsing: ["mirror", "gray", "smooth"])))
        let size = FrameSize(width: 64, height: 48)
        func planes(_ offset: Int, _ stride: Int, _ chroma: Int, _ chromaStride: Int) -> [FrameLayout.Plane] {
            [.init(offset: offset, stride: stride), .init(offset: chroma, stride: chromaStride)]
        }
        let wrong = [
            FrameLayout(packed: .yuyv, size: size), FrameLayout(packed: .bgra, size: size),
            FrameLayout(packed: .nv12, size: FrameSize(width: 1, height: 48)),
            FrameLayout(packed: .nv12, size: FrameSize(width: 8194, height: 2)),
            FrameLayout(format: .nv12, modifier: 5, size: size, planes: planes(0, 64, 3072, 64), byteCount: 4608),
            FrameLayout(format: .i420, size: size, planes: planes(0, 64, 3072, 64), byteCount: 4608),
            FrameLayout(format: .nv12, size: size, planes: [], byteCount: 4608),
            FrameLayout(format: .nv12, size: size, planes: planes(-1, 64, 3072, 64), byteCount: 4608),
            FrameLayout(format: .nv12, size: size, planes: planes(0, 63, 3072, 64), byteCount: 4608),
            FrameLayout(format: .nv12, size: size, planes: planes(0, 64, 3072, 63), byteCount: 4608),
            FrameLayout(format: .nv12, size: size, planes: planes(0, 64, .max, 64), byteCount: 4608),
            FrameLayout(format: .nv12, size: size, planes: planes(0, .max, 0, 64), byteCount: 4608),
        ]
        let given = [UInt8](repeating: 90, count: 20_000)
        for layout in wrong {
            var bytes = given
            #expect(throws: FilteringError.unsupportedFrame(layout)) {
                try bytes.withUnsafeMutableBytes { try pass.apply(to: $0, layout, nil, TextFields()) }
            }
            #expect(bytes == given)
        }
        let layout = FrameLayout(packed: .nv12, size: size)
        for count in [0, 1, layout.byteCount - 1] {
            var bytes = [UInt8](repeating: 90, count: count)
            #expect(throws: FilteringError.incompleteFrame(layout, byteCount: count)) {
                try bytes.withUnsafeMutableBytes { try pass.apply(to: $0, layout, nil, TextFields()) }
            }
        }
    }

    @Test func mostExpensiveFilterIsDroppedAndRestored() throws {
        let pass = FilterPass(try LoadedFilters(FilterChain(parsing: ["gray", "smooth", "mirror"])))
        var random = SeededGenerator(seed: 11)
        var frame = FrameInMemory(.nv12, 640, 480, &random)
        for _ in 0..<4 { try frame.apply(pass) }
        #expect(pass.costs.allSatisfy { $0.frames == 4 && $0.nanoseconds > 0 && $0.recent > 0 })
        let most = try #require(pass.costs.max { $0.recent < $1.recent }).filter
        let first = pass.dropMostExpensive()
        #expect(first == most && !pass.isIdle)
        try frame.apply(pass)
        #expect(pass.costs.allSatisfy { $0.isDropped == ($0.filter == most) && $0.frames == ($0.isDropped ? 4 : 5) })
        let second = pass.dropMostExpensive()
        let third = pass.dropMostExpensive()
        #expect(second != nil && third != nil && pass.dropMostExpensive() == nil && pass.isIdle)
        let before = frame.bytes
        try frame.apply(pass)
        #expect(frame.bytes == before)
        #expect(
            [pass.restoreLast(), pass.restoreLast(), pass.restoreLast(), pass.restoreLast()]
                == [third, second, first, nil])
        try frame.apply(pass)
        #expect(pass.costs.map(\.isDropped) == [false, false, false] && frame.bytes != before)
    }

    @Test func preparationCountsInTotalButNotAsRecent() throws {
        let text = ["text,text=Ab,size=0.3", "gray"]
        let pass = FilterPass(try LoadedFilters(FilterChain(parsing: text)))
        var small = FrameInMemory(.i420, FrameSize(width: 64, height: 48), y: 100, u: 90, v: 90)
        var large = FrameInMemory(.i420, FrameSize(width: 640, height: 480), y: 100, u: 90, v: 90)
        try small.apply(pass)
        let first = try #require(pass.costs.first)
        #expect(first.nanoseconds > Int64(first.recent), "a font was opened")
        try small.apply(pass)
        let second = pass.costs
        // A dropped filter is not prepared either.
        let dropped = try #require(pass.dropMostExpensive())
        try large.apply(pass)
        #expect(zip(second, pass.costs).allSatisfy { ($0.nanoseconds == $1.nanoseconds) == $1.isDropped })
        #expect(pass.restoreLast() == dropped)
        let before = large.bytes
        try large.apply(pass)
        #expect(large.bytes != before)
    }

    @Test func changesKeepTheCostsOfOtherFilters() throws {
        let filters = try LoadedFilters(FilterChain(parsing: ["gray", "whiten"]))
        let pass = FilterPass(filters)
        var frame = FrameInMemory(.i420, FrameSize(width: 64, height: 48), y: 100, u: 90, v: 90)
        try frame.apply(pass)
        _ = pass.dropMostExpensive()
        var chain = filters.chain
        try chain.set(FilterChange("whiten", words: ["strength=1"]))
        try chain.set(FilterChange("mirror", words: []))
        pass.use(try LoadedFilters(chain, reusing: filters))
        try frame.apply(pass)
        #expect(pass.costs.map(\.filter.description) == ["gray", "whiten", "mirror"])
        #expect(pass.costs.map(\.isDropped).count { $0 } == 1 && pass.costs[2].frames == 1)
        try chain.set(.off(FilterID(.gray)))
        try chain.set(.off(FilterID(.whiten)))
        pass.use(try LoadedFilters(chain))
        #expect(pass.restoreLast() == nil && pass.costs.map(\.filter) == [FilterID(.mirror)])
    }

    @Test func filtersWithoutEffectAreIdle() throws {
        for filter in ["smooth,strength=0", "whiten,strength=0", "redden,strength=0", "text,text=x,opacity=0"] {
            #expect(FilterPass(try LoadedFilters(FilterChain(parsing: [filter]))).isIdle, "\(filter)")
        }
        #expect(FilterPass(LoadedFilters()).isIdle && FilterPass(LoadedFilters()).costs.isEmpty)
    }
}
