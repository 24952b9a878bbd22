import CDRM
import DevicePorts
import LinuxIO
import Media

/// A property of a DRM object.
struct DRMProperty: Sendable {
    let id: UInt32
    /// The value at the time of the query.
    let value: UInt64
    let isImmutable: Bool
    /// The upper limit of a range; `nil` for other kinds.
    let largest: UInt64?
    /// An enumeration's names with their numbers.
    let choices: [String: UInt64]

    init(_ raw: drmModePropertyRes, value: UInt64) {
        id = raw.prop_id
        self.value = value
        isImmutable = raw.flags & UInt32(DRM_MODE_PROP_IMMUTABLE) != 0
        let isRange = raw.flags & UInt32(DRM_MODE_PROP_RANGE) != 0
        largest = isRange && raw.count_values > 1 ? raw.values[1] : nil
        var choices: [String: UInt64] = [:]
        for choice in UnsafeBufferPointer(start: raw.enums, count: Int(max(0, raw.count_enums))) {
            choices[text(of: choice.name)] = choice.value
        }
        self.choices = choices
    }
}

/// An object's properties by name.
struct DRMProperties: Sendable {
    let path: String
    let properties: [String: DRMProperty]

    subscript(name: String) -> DRMProperty? { properties[name] }

    func required(_ name: String) throws(DisplayError) -> UInt32 {
        guard let property = properties[name] else { throw .lacksProperty(path: path, name: name) }
        return property.id
    }
}

/// Property changes that are applied together or not at all.
struct AtomicRequest {
    private(set) var entries: [(object: UInt32, property: UInt32, value: UInt64)] = []

    mutating func set(_ object: UInt32, _ property: UInt32, _ value: UInt64) {
        entries.append((object, property, value))
    }

    mutating func add(_ other: AtomicRequest) { entries += other.entries }
}

/// A hardware plane: its capabilities and how to set it.
struct Plane {
    let description: PlaneDescription
    private let properties: DRMProperties
    /// FB_ID, CRTC_ID, four of the source (in 1/65536 of a pixel), four of the screen.
    private let required: [UInt32]
    private static let requiredNames = [
        "FB_ID", "CRTC_ID", "SRC_X", "SRC_Y", "SRC_W", "SRC_H", "CRTC_X", "CRTC_Y", "CRTC_W", "CRTC_H",
    ]

    init(
        id: UInt32, formats: Set<FourCC>, crtcs: UInt32, _ properties: DRMProperties, _ path: String
    ) throws(DisplayError) {
        let kind: PlaneDescription.Kind =
            switch properties["type"]?.value {
            case UInt64(DRM_PLANE_TYPE_PRIMARY): .primary
            case UInt64(DRM_PLANE_TYPE_CURSOR): .cursor
            default: .overlay
            }
        description = PlaneDescription(
            id: id, kind: kind, formats: formats, crtcs: crtcs, position: properties["zpos"]?.value)
        self.properties = properties
        var required: [UInt32] = []
        for name in Self.requiredNames { required.append(try properties.required(name)) }
        self.required = required
    }

    /// Shows part of a framebuffer in part of the screen.
    func showing(_ framebuffer: UInt32, _ source: Area, crtc: UInt32, at screen: Area) -> AtomicRequest {
        let corner = [source.left, source.top, source.size.width, source.size.height].map { UInt64($0) << 16 }
        let place = [screen.left, screen.top, screen.size.width, screen.size.height].map {
            UInt64(bitPattern: Int64($0))
        }
        return setting([UInt64(framebuffer), UInt64(crtc)] + corner + place)
    }

    var hidden: AtomicRequest { setting(Array(repeating: 0, count: 2)) }

    private func setting(_ values: [UInt64]) -> AtomicRequest {
        var request = AtomicRequest()
        for (property, value) in zip(required, values) { request.set(description.id, property, value) }
        return request
    }

    /// Sets how the hardware converts luma and chroma to RGB. Empty if the hardware offers no choice.
    func interpreting(_ colors: VideoColors) -> AtomicRequest {
        var request = AtomicRequest()
        if let encoding = properties["COLOR_ENCODING"], let value = encoding.choices[colors.encodingName] {
            request.set(description.id, encoding.id, value)
        }
        let name = colors.isFullRange ? "YCbCr full range" : "YCbCr limited range"
        if let range = properties["COLOR_RANGE"], let value = range.choices[name] {
            request.set(description.id, range.id, value)
        }
        return request
    }

    /// Puts the plane in front of all others, if the driver allows that.
    var atFront: AtomicRequest {
        var request = AtomicRequest()
        guard let position = properties["zpos"], !position.isImmutable, let largest = position.largest else {
            return request
        }
        request.set(description.id, position.id, largest)
        return request
    }
}

extension VideoColors {
    /// The kernel's names of the matrices (drm_color_mgmt.c).
    var encodingName: String {
        switch matrix {
        case 1: "ITU-R BT.709 YCbCr"
        case 9, 10: "ITU-R BT.2020 YCbCr"
        default: "ITU-R BT.601 YCbCr"
        }
    }
}

extension DisplayMode {
    init(_ timing: drmModeModeInfo, index: Int) {
        self.init(
            index: index, size: FrameSize(width: Int(timing.hdisplay), height: Int(timing.vdisplay)),
            refreshRate: Int(timing.vrefresh), isPreferred: timing.type & UInt32(DRM_MODE_TYPE_PREFERRED) != 0,
            isInterlaced: timing.flags & UInt32(DRM_MODE_FLAG_INTERLACE) != 0)
    }
}

/// A string from a fixed-size array of a kernel structure.
func text<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
