import DevicePorts

/// A plane as its driver describes it.
struct PlaneDescription: Hashable, Sendable {
    enum Kind: Int, Sendable {
        case primary, overlay, cursor
    }

    let id: UInt32
    let kind: Kind
    let formats: Set<FourCC>
    /// One bit for each usable CRTC.
    let crtcs: UInt32
    /// Position from back to front; `nil` if the driver does not say.
    var position: UInt64?

    /// If the driver does not report positions, the kinds determine the order.
    fileprivate func isInFront(of other: PlaneDescription) -> Bool {
        if let position, let others = other.position, position != others { return position > others }
        return (kind.rawValue, id) > (other.kind.rawValue, other.id)
    }
}

/// Which planes show what.
struct PlaneArrangement: Hashable, Sendable {
    /// Frames shown directly, with text over them.
    struct Layers: Hashable, Sendable {
        /// Accepts YUV frames.
        var video: UInt32
        /// Shows text, in front of the video.
        var words: UInt32
        /// Whether the page's plane stays lit behind the video.
        var keepsPage: Bool
    }

    /// `nil` if the CPU draws everything, frames and text, on the page's plane.
    var layers: Layers?
    /// Accepts RGB. Shows the page without video, and stays behind the video if a driver wants its primary plane lit.
    var page: UInt32

    /// RGB with four bytes: with an unused highest byte, and with alpha there.
    static let opaque = FourCC("XR24")
    static let transparent = FourCC("AR24")
    static let videoFormats = [FourCC("NV12"), FourCC("YU12")]

    /// In the order to try them: frames shown directly with text over them, and drawing everything as the last resort. Without
    /// a plane for text in front of the video, everything is drawn too: the frames belong to the encoder, so no text may be
    /// written into them.
    static func candidates(_ planes: [PlaneDescription], crtc: Int) -> [PlaneArrangement] {
        let usable = planes.filter { crtc < 32 && $0.crtcs & (1 << UInt32(crtc)) != 0 && $0.kind != .cursor }
        guard let primary = usable.first(where: { $0.kind == .primary }), primary.formats.contains(opaque) else {
            return []
        }
        let takers = usable.filter { !$0.formats.isDisjoint(with: videoFormats) }
        // Prefer the primary plane: no other plane needs to be lit then.
        let videos = takers.filter { $0.kind == .primary } + takers.filter { $0.kind != .primary }
        var layered: [PlaneArrangement] = []
        for video in videos {
            let front = usable.filter { $0.id != video.id && $0.id != primary.id && $0.isInFront(of: video) }
                .filter { $0.formats.contains(transparent) }.sorted { $1.isInFront(of: $0) }.first
            guard let front else { continue }
            for keepsPage in video.id == primary.id ? [false] : [false, true] {
                let layers = Layers(video: video.id, words: front.id, keepsPage: keepsPage)
                layered.append(PlaneArrangement(layers: layers, page: primary.id))
            }
        }
        return layered + [PlaneArrangement(layers: nil, page: primary.id)]
    }
}
