import Media
import Testing

@testable import Controls

@Suite struct ZoomTests {
    @Test func visibleAreaStaysInsideTheFrame() {
        #expect(ZoomedView(zoom: 2).area == FrameArea(left: 0.25, top: 0.25, width: 0.5, height: 0.5))
        let corner = ZoomedView(zoom: 4, center: FramePoint(x: 1, y: 0)).area
        #expect(corner == FrameArea(left: 0.75, top: 0, width: 0.25, height: 0.25))
        #expect(ZoomedView(zoom: 0.5).area == .whole)
    }

    /// At 30 frames per second.
    private func zooms(_ glide: ZoomGlide, from start: MediaTimestamp, count: Int) -> [Double] {
        (0..<count).map { glide.view(at: start + .nanoseconds(Int64($0) * 33_333_333)).zoom }
    }

    @Test func zoomChangesByTheSameFactorWithEachFrame() throws {
        var glide = ZoomGlide()
        let start = MediaTimestamp(milliseconds: 5000)
        glide.glide(to: ZoomedView(zoom: 8), from: start)
        let zooms = zooms(glide, from: start, count: 12)
        #expect(zooms[0] == 1 && zooms[9] > 7.9 && zooms[10] == 8 && zooms[11] == 8)
        let factors = zip(zooms, zooms.dropFirst()).prefix(9).map { $1 / $0 }
        for factor in factors { #expect(abs(factor - 1.26) < 0.01, "\(factor)") }
        #expect(!glide.isOver(at: start + .milliseconds(299)) && glide.isOver(at: start + .milliseconds(300)))
    }

    @Test func newRequestContinuesFromThePresentZoom() {
        var glide = ZoomGlide()
        let start = MediaTimestamp(milliseconds: 5000)
        glide.glide(to: ZoomedView(zoom: 4), from: start)
        let half = start + .milliseconds(150)
        let there = glide.view(at: half).zoom
        #expect(abs(there - 2) < 0.01)
        glide.glide(to: ZoomedView(zoom: 1), from: half)
        #expect(abs(glide.view(at: half).zoom - there) < 1e-9)
        #expect(glide.view(at: half + .milliseconds(300)) == ZoomedView())
    }

    @Test func areasAreRotatedAndRestored() {
        let area = FrameArea(left: 0.1, top: 0.2, width: 0.3, height: 0.4)
        let mirrored = area.mirrored().flipped()
        #expect(abs(mirrored.left - 0.6) < 1e-9 && abs(mirrored.top - 0.4) < 1e-9 && mirrored.width == 0.3)
        let turned = area.turnedClockwise
        // The upper left corner moves to the upper right.
        #expect(abs(turned.left - 0.4) < 1e-9 && abs(turned.top - 0.1) < 1e-9 && turned.width == 0.4)
        let around = turned.turnedClockwise.turnedClockwise.turnedClockwise
        #expect(abs(around.left - area.left) < 1e-9 && abs(around.top - area.top) < 1e-9)
        #expect(
            FrameArea(left: 0.5, top: 0.5, width: 0.5, height: 0.5).part(
                FrameArea(left: 0.5, top: 0, width: 0.5, height: 1))
                == FrameArea(left: 0.75, top: 0.5, width: 0.25, height: 0.5))
        #expect(FrameArea(left: -0.5, top: 0, width: 0.4, height: 1).clipped == nil)
    }
}
