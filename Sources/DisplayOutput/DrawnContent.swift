import DevicePorts
import Media

/// Draws everything with the CPU into one RGB plane, for displays that do not accept YUV or have no plane for text in front of
/// it. Frames are shown at a reduced rate.
final class DrawnContent: ScreenContent {
    let convertsAll = true
    let convertsFrames = true
    let conversionInterval = FrameConverter.interval
    private let place: ScreenPlace
    private let plane: Plane
    private let converter: FrameConverter
    private let font = BitmapFont()
    private var buffers: BufferPair
    private var showsVideo = false
    private var pendingVideo = false

    init(_ place: ScreenPlace, _ plane: Plane, _ makeScaler: @escaping Display.MakeScaler) throws(DisplayError) {
        self.place = place
        self.plane = plane
        converter = FrameConverter(makeScaler)
        buffers = try BufferPair(place.device, alpha: false, place.size)
    }

    func test(_ attempt: (AtomicRequest) throws(DisplayError) -> Void) throws(DisplayError) {
        try attempt(firstRequest())
    }

    func firstRequest() -> AtomicRequest {
        buffers.back.canvas.fill(place.whole, PageLayout.black)
        return request
    }

    private var request: AtomicRequest {
        plane.showing(buffers.back.framebuffer, place.whole, crtc: place.crtc, at: place.whole)
    }

    func request(for work: PreviewState.Work, now: MediaTimestamp) throws(DisplayError) -> AtomicRequest? {
        if let frame = work.frame {
            guard case .frame(let captured) = frame.samples else {
                throw .frameUnreadable(reason: "the display cannot show the frames without conversion")
            }
            try converter.draw(captured, frame.colors, on: buffers.back)
            drawWords(work.currentPage)
            pendingVideo = true
            return request
        }
        pendingVideo = showsVideo && work.hasFrames
        guard work.page != nil || pendingVideo != showsVideo else { return nil }
        if pendingVideo {
            buffers.copyFront()
            drawWords(work.currentPage)
        } else {
            buffers.back.canvas.fill(place.whole, PageLayout.black)
            PageLayout(work.currentPage, width: place.size.width, font).draw(on: buffers.back.canvas, font)
        }
        return request
    }

    /// At the bottom edge, on black.
    private func drawWords(_ page: ScreenPage) {
        let layout = PageLayout(page, width: place.size.width, font)
        let top = place.size.height - layout.height
        let strip = FrameSize(width: place.size.width, height: layout.height)
        buffers.back.canvas.fill(Area(top: top, strip), PageLayout.black)
        layout.draw(on: buffers.back.canvas, below: top, font)
    }

    func committed() {
        buffers.swap()
        showsVideo = pendingVideo
    }

    func flipped() {}
    func refuses(_ layout: FrameLayout) -> Bool { false }
    func removeUnused(now: MediaTimestamp) {}
}
