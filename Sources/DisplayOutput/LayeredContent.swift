import CDRM
import DevicePorts
import LinuxIO
import Media

/// Shows frames directly on a plane that accepts YUV: the hardware scales and converts them during scan-out. Text is on a plane
/// in front of it.
final class LayeredContent: ScreenContent {
    let convertsAll = false
    let conversionInterval = FrameConverter.interval
    private let place: ScreenPlace
    private let video: Plane
    private let words: Plane
    private let page: Plane
    private let keepsPage: Bool
    private let scaling: PlaneScaling
    private let converter: FrameConverter
    private let imported: ImportedFramebuffers
    private let font = BitmapFont()
    /// For the page without video, and for text over the video.
    private var pages: BufferPair
    private var strips: BufferPair
    /// Copies of frames that the driver does not accept: one shown, one on its way, one being made.
    private var copies: [DrawnBuffer] = []
    private var refusedLayout: FrameLayout?
    private var showsVideo = false
    /// Whether frames have ended since the last flip.
    private var framesEnded = false
    private var shown: UInt32?
    /// The latest request's state.
    private var pending = Pending()

    private struct Pending {
        var swapsPages = false
        var swapsStrips = false
        var showsVideo: Bool?
        var framebuffer: UInt32?
    }

    /// Text covers at most this share of the video.
    private static let largestShareOfWords = 3

    init(
        _ place: ScreenPlace, video: Plane, words: Plane, page: Plane, keepsPage: Bool, _ scaling: PlaneScaling,
        _ makeScaler: @escaping Display.MakeScaler
    ) throws(DisplayError) {
        self.place = place
        self.video = video
        self.words = words
        self.page = page
        self.keepsPage = keepsPage
        self.scaling = scaling
        converter = FrameConverter(makeScaler)
        imported = ImportedFramebuffers(place.device)
        let width = scaling.words ? min(place.size.width, PageLayout.usualWidth) : place.size.width
        let height = max(1, width * place.size.height / place.size.width)
        pages = try BufferPair(place.device, alpha: false, FrameSize(width: width, height: height))
        let ofWords = FrameSize(width: width, height: max(1, height / Self.largestShareOfWords))
        strips = try BufferPair(place.device, alpha: true, ofWords)
    }

    var convertsFrames: Bool { refusedLayout != nil }

    // MARK: Before anything is shown

    func firstRequest() -> AtomicRequest {
        pages.back.canvas.fill(Area(pages.back.layout.size), PageLayout.black)
        return pageRequest
    }

    private var pageRequest: AtomicRequest {
        let buffer = pages.back
        var request = page.showing(
            buffer.framebuffer, Area(buffer.layout.size), crtc: place.crtc, at: place.whole)
        if page.description.id != video.description.id { request.add(video.hidden) }
        request.add(words.hidden)
        return request
    }

    /// Tries a page, then a small frame.
    func test(_ attempt: (AtomicRequest) throws(DisplayError) -> Void) throws(DisplayError) {
        try attempt(firstRequest())
        let (format, code) = copyFormat
        let size = FrameSize(
            width: min(320, place.size.width & ~1), height: min(240, place.size.height & ~1))
        let buffer = try DrawnBuffer(place.device, format, fourCC: code, size: size)
        var request = videoRequest(buffer.framebuffer, size, .usual(for: size))
        request.add(wordsRequest(height: strips.back.layout.size.height))
        request.add(behindVideo)
        try attempt(request)
        withExtendedLifetime(buffer) {}
    }

    // MARK: Requests

    func request(for work: PreviewState.Work, now: MediaTimestamp) throws(DisplayError) -> AtomicRequest? {
        pending = Pending()
        if let frame = work.frame { return try request(showing: frame, work, now: now) }
        if showsVideo, work.hasFrames { return work.page.map { requestForWords($0) } }
        guard showsVideo || work.page != nil else { return nil }
        pages.back.canvas.fill(Area(pages.back.layout.size), PageLayout.black)
        PageLayout(work.currentPage, width: pages.back.layout.size.width, font).draw(on: pages.back.canvas, font)
        pending.swapsPages = true
        pending.showsVideo = false
        return pageRequest
    }

    private func request(
        showing frame: FrameToShow, _ work: PreviewState.Work, now: MediaTimestamp
    ) throws(DisplayError) -> AtomicRequest {
        let framebuffer = try framebuffer(of: frame, now: now)
        var request = videoRequest(framebuffer, frame.layout.size, frame.colors)
        if let page = showsVideo ? work.page : work.currentPage { request.add(requestForWords(page)) }
        if !showsVideo { request.add(behindVideo) }
        pending.framebuffer = framebuffer
        pending.showsVideo = true
        return request
    }

    private func framebuffer(of frame: FrameToShow, now: MediaTimestamp) throws(DisplayError) -> UInt32 {
        switch frame.samples {
        case .buffer(let buffer):
            refusedLayout = nil
            return try imported.framebuffer(of: buffer, frame.layout, now: now)
        case .frame(let captured):
            // The frame is not in a device's buffer, or the driver cannot use that buffer. It may accept another layout.
            refusedLayout = captured.dmabuf == nil || refusedLayout == frame.layout ? frame.layout : nil
            let copy = try copyBuffer(frame.layout.size)
            try converter.copy(captured, to: copy)
            return copy.framebuffer
        }
    }

    private func videoRequest(_ framebuffer: UInt32, _ size: FrameSize, _ colors: VideoColors) -> AtomicRequest {
        var (source, target) = Area.unscaled(size, on: place.size)
        if scaling.video, let fitting = Area(fitting: size, into: place.size) {
            (source, target) = (Area(size), fitting)
        }
        return video.showing(framebuffer, source, crtc: place.crtc, at: target).with(video.interpreting(colors))
    }

    /// Fills the area around video whose shape differs from the display's.
    private var behindVideo: AtomicRequest {
        guard page.description.id != video.description.id else { return AtomicRequest() }
        guard keepsPage else { return page.hidden }
        pages.back.canvas.fill(Area(pages.back.layout.size), PageLayout.black)
        pending.swapsPages = true
        return page.showing(
            pages.back.framebuffer, Area(pages.back.layout.size), crtc: place.crtc, at: place.whole)
    }

    private func requestForWords(_ page: ScreenPage) -> AtomicRequest {
        let buffer = strips.back
        let layout = PageLayout(page, width: buffer.layout.size.width, font)
        guard layout.height > 0 else { return words.hidden }
        let height = min(layout.height, buffer.layout.size.height)
        buffer.canvas.fill(Area(FrameSize(width: buffer.layout.size.width, height: height)), PageLayout.shade)
        layout.draw(on: buffer.canvas, font)
        pending.swapsStrips = true
        return wordsRequest(height: height)
    }

    /// At the bottom edge.
    private func wordsRequest(height: Int) -> AtomicRequest {
        let buffer = strips.back
        let width = buffer.layout.size.width
        let shown = max(1, height * place.size.width / max(1, width))
        let target = Area(
            top: place.size.height - shown, FrameSize(width: place.size.width, height: shown))
        let source = Area(FrameSize(width: width, height: height))
        return words.showing(buffer.framebuffer, source, crtc: place.crtc, at: target).with(words.atFront)
    }

    // MARK: Results

    func committed() {
        if pending.swapsPages { pages.swap() }
        if pending.swapsStrips { strips.swap() }
        framesEnded = showsVideo && pending.showsVideo == false
        showsVideo = pending.showsVideo ?? showsVideo
        shown = pending.framebuffer ?? (showsVideo ? shown : nil)
    }

    func flipped() {
        guard framesEnded else { return }
        framesEnded = false
        imported.removeAll()
        copies = []
        refusedLayout = nil
    }

    func refuses(_ layout: FrameLayout) -> Bool {
        guard refusedLayout != layout else { return false }
        refusedLayout = layout
        return true
    }

    func removeUnused(now: MediaTimestamp) { imported.removeStale(now: now, except: shown) }

    // MARK: Copies

    private var copyFormat: (PixelFormat, FourCC) {
        video.description.formats.contains(PixelFormat.i420.fourCC)
            ? (.i420, PixelFormat.i420.fourCC) : (.nv12, PixelFormat.nv12.fourCC)
    }

    /// A buffer that is neither shown nor on its way.
    private func copyBuffer(_ size: FrameSize) throws(DisplayError) -> DrawnBuffer {
        let even = FrameSize(width: max(2, size.width & ~1), height: max(2, size.height & ~1))
        // Remove copies of other sizes, except the one that may still be shown.
        copies.removeAll { $0.layout.size != even && $0.framebuffer != shown }
        if copies.count < 3 {
            let (format, code) = copyFormat
            copies.append(try DrawnBuffer(place.device, format, fourCC: code, size: even))
        } else {
            copies.append(copies.removeFirst())
        }
        guard let last = copies.last else { throw .frameUnreadable(reason: "no memory") }
        return last
    }
}
