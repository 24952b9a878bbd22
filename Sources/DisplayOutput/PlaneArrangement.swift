import DevicePorts

/// A plane as its driver describes it.
struct PlaneDescription: Hashable, Sendable {
    enum Kind: Int, Sendable {
        case primary, overlay, cursor
    }

    let id: UInt32
    let kind: Kind
    let formats: Set<FourCC>
    /// A bit for each CRTC that it can be used with.
    let crtcs: UInt32
    /// Where it is among the planes, from behind to the front; `nil` where the driver does not say.
    var position: UInt64?

    /// Kinds are in an order, too, for drivers that do not tell positions.
    fileprivate func isInFront(of other: PlaneDescription) -> Bool {
        if let position, let others = other.position, position != others { return position > others }
        return (kind.rawValue, id) > (other.kind.rawValue, other.id)
    }
}

/// Which planes show what.
struct PlaneArrangement: Hashable, Sendable {
    /// Frames as they are, with words over them.
    struct Layers: Hashable, Sendable {
        /// Takes YUV frames.
        var video: UInt32
        /// Takes words, in front of the video.
        var words: UInt32
        /// The page's plane stays lit behind the video.
        var keepsPage: Bool
    }

    /// `nil` where the processor draws all that is seen, frames and words, on the page's plane.
    var layers: Layers?
    /// Takes RGB: what is seen without video, and what is behind it where a driver wants its primary plane lit.
    var page: UInt32

    /// RGB of four bytes, the highest of which nobody looks at, and where alpha says how much is seen.
    static let opaque = FourCC("XR24")
    static let transparent = FourCC("AR24")
    static let videoFormats = [FourCC("NV12"), FourCC("YU12")]

    /// In the order in which they are tried: frames as they are with words over them, at last all drawn. Frames that have no plane
    /// for words in front of them are drawn, too: they are the encoder's, so that words cannot be written into them.
    static func candidates(_ planes: [PlaneDescription], crtc: Int) -> [PlaneArrangement] {
        let usable = planes.filter { crtc < 32 && $0.crtcs & (1 << UInt32(crtc)) != 0 && $0.kind != .cursor }
        guard let primary = usable.first(where: { $0.kind == .primary }), primary.formats.contains(opaque) else {
            return []
        }
        let takers = usable.filter { !$0.formats.isDisjoint(with: videoFormats) }
        // The primary one first: then nothing else has to be lit.
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
