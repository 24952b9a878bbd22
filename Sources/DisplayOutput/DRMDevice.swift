import CDRM
import DevicePorts
import Glibc
import LinuxIO
import Media

/// An open graphics card with display outputs (drm(7)). Used from one thread.
final class DRMDevice {
    let path: String
    private let descriptor: OwnedFileDescriptor

    /// Cards are numbered from 0, with few gaps.
    private static let mostCards = 16

    /// The machine's cards in numerical order.
    static var cards: [String] {
        (0..<mostCards).map { "/dev/dri/card\($0)" }.filter { access($0, F_OK) == 0 }
    }

    /// - Throws: `noCard` for a card that can only render.
    init(at path: String) throws(DisplayError) {
        self.path = path
        do throws(SystemCallError) {
            descriptor = try OwnedFileDescriptor(opening: path, flags: O_RDWR | O_NONBLOCK)
        } catch {
            throw .failed(path: path, error)
        }
        guard drmIsKMS(descriptor.rawValue) == 1 else { throw .noCard }
        for capability in [DRM_CLIENT_CAP_UNIVERSAL_PLANES, DRM_CLIENT_CAP_ATOMIC] {
            try check("DRM_IOCTL_SET_CLIENT_CAP", drmSetClientCap(fileDescriptor, UInt64(capability), 1))
        }
    }

    var fileDescriptor: Int32 { descriptor.rawValue }

    /// Acquires the right to change the display.
    /// - Throws: `inUse` if another program has it.
    func becomeMaster() throws(DisplayError) {
        guard drmSetMaster(fileDescriptor) != 0 else { return }
        switch errno {
        case EBUSY, EACCES, EPERM: throw .inUse(path: path)
        case let number: throw .failed(path: path, SystemCallError("DRM_IOCTL_SET_MASTER", number: number))
        }
    }

    /// - Parameter status: what libdrm returned: 0, or a negative error number.
    func check(_ call: String, _ status: Int32, _ subject: String? = nil) throws(DisplayError) {
        guard status != 0 else { return }
        throw .failed(path: path, SystemCallError(call, number: status < -1 ? -status : errno, subject: subject))
    }

    /// Copies what `body` needs from an object that libdrm allocated, then frees it.
    private func take<Pointee, Value>(
        _ call: String, _ pointer: UnsafeMutablePointer<Pointee>?, _ free: (UnsafeMutablePointer<Pointee>?) -> Void,
        _ body: (Pointee) -> Value
    ) throws(DisplayError) -> Value {
        guard let pointer else { throw .failed(path: path, SystemCallError(call)) }
        defer { free(pointer) }
        return body(pointer.pointee)
    }
}

// Queries.
extension DRMDevice {
    struct Connector: Sendable {
        let id: UInt32
        /// The kernel's name below /sys/class/drm: `HDMI-A-1`.
        let name: String
        let isConnected: Bool
        let modes: [DisplayMode]
        /// From the driver, unchanged.
        fileprivate let timings: [drmModeModeInfo]
        /// One bit for each usable CRTC.
        let crtcs: UInt32
    }

    /// The CRTCs' identifiers, in the order of their bits in masks.
    func crtcs() throws(DisplayError) -> [UInt32] {
        try take("DRM_IOCTL_MODE_GETRESOURCES", drmModeGetResources(fileDescriptor), drmModeFreeResources) { all in
            Array(UnsafeBufferPointer(start: all.crtcs, count: Int(max(0, all.count_crtcs))))
        }
    }

    /// All connectors for displays.
    func connectors() throws(DisplayError) -> [Connector] {
        let all = try take("DRM_IOCTL_MODE_GETRESOURCES", drmModeGetResources(fileDescriptor), drmModeFreeResources) {
            Array(UnsafeBufferPointer(start: $0.connectors, count: Int(max(0, $0.count_connectors))))
        }
        var connectors: [Connector] = []
        for id in all {
            // It may have disappeared meanwhile.
            guard let connector = try? connector(id, isAsked: true) else { continue }
            connectors.append(connector)
        }
        return connectors
    }

    /// - Parameter isAsked: whether to query the display for its modes. Otherwise, the known state is returned, which costs
    ///   nothing.
    /// - Returns: `nil` for a connector that writes to memory.
    func connector(_ id: UInt32, isAsked: Bool) throws(DisplayError) -> Connector? {
        let pointer =
            isAsked ? drmModeGetConnector(fileDescriptor, id) : drmModeGetConnectorCurrent(fileDescriptor, id)
        return try take("DRM_IOCTL_MODE_GETCONNECTOR", pointer, drmModeFreeConnector) { raw in
            guard raw.connector_type != UInt32(DRM_MODE_CONNECTOR_WRITEBACK) else { return nil }
            let kind = drmModeGetConnectorTypeName(raw.connector_type).map { String(cString: $0) } ?? "Unknown"
            let timings = Array(UnsafeBufferPointer(start: raw.modes, count: Int(max(0, raw.count_modes))))
            let modes = timings.enumerated().map { DisplayMode($0.element, index: $0.offset) }
            return Connector(
                id: id, name: "\(kind)-\(raw.connector_type_id)",
                isConnected: raw.connection == DRM_MODE_CONNECTED, modes: modes, timings: timings,
                crtcs: pointer.map { drmModeConnectorGetPossibleCrtcs(fileDescriptor, $0) } ?? 0)
        }
    }

    func planes() throws(DisplayError) -> [Plane] {
        let all = try take(
            "DRM_IOCTL_MODE_GETPLANERESOURCES", drmModeGetPlaneResources(fileDescriptor), drmModeFreePlaneResources
        ) { Array(UnsafeBufferPointer(start: $0.planes, count: Int($0.count_planes))) }
        var planes: [Plane] = []
        for id in all {
            let (formats, crtcs) = try take(
                "DRM_IOCTL_MODE_GETPLANE", drmModeGetPlane(fileDescriptor, id), drmModeFreePlane
            ) { raw in
                let numbers = UnsafeBufferPointer(start: raw.formats, count: Int(raw.count_formats))
                return (Set(numbers.map { FourCC(rawValue: $0) }), raw.possible_crtcs)
            }
            planes.append(
                try Plane(id: id, formats: formats, crtcs: crtcs, properties(of: id, DRM_MODE_OBJECT_PLANE), path))
        }
        return planes
    }

    /// An object's properties by name.
    func properties(of object: UInt32, _ type: UInt32) throws(DisplayError) -> DRMProperties {
        let (ids, values) = try take(
            "DRM_IOCTL_MODE_OBJ_GETPROPERTIES", drmModeObjectGetProperties(fileDescriptor, object, type),
            drmModeFreeObjectProperties
        ) { raw in
            let count = Int(raw.count_props)
            return (
                Array(UnsafeBufferPointer(start: raw.props, count: count)),
                Array(UnsafeBufferPointer(start: raw.prop_values, count: count))
            )
        }
        var properties: [String: DRMProperty] = [:]
        for (id, value) in zip(ids, values) {
            let (name, property) = try take(
                "DRM_IOCTL_MODE_GETPROPERTY", drmModeGetProperty(fileDescriptor, id), drmModeFreeProperty
            ) { (text(of: $0.name), DRMProperty($0, value: value)) }
            properties[name] = property
        }
        return DRMProperties(path: path, properties: properties)
    }
}

// Requests.
extension DRMDevice {
    /// A mode's timing in the kernel's form. It is freed with the device, unless the kernel still uses it.
    func blob(of mode: DisplayMode, _ connector: Connector) throws(DisplayError) -> UInt32 {
        guard connector.timings.indices.contains(mode.index) else {
            throw .unusable(connector: connector.name, reason: "the mode is no longer available")
        }
        var timing = connector.timings[mode.index]
        var id: UInt32 = 0
        let size = MemoryLayout<drm_mode_modeinfo>.size
        try check("DRM_IOCTL_MODE_CREATEPROPBLOB", drmModeCreatePropertyBlob(fileDescriptor, &timing, size, &id))
        return id
    }

    /// Applies either all of a request or nothing.
    /// - Parameter flags: DRM_MODE_ATOMIC_..., DRM_MODE_PAGE_FLIP_EVENT.
    func commit(_ request: AtomicRequest, flags: Int32) throws(DisplayError) {
        guard let list = drmModeAtomicAlloc() else { throw .failed(path: path, SystemCallError("malloc")) }
        defer { drmModeAtomicFree(list) }
        for entry in request.entries {
            let status = drmModeAtomicAddProperty(list, entry.object, entry.property, entry.value)
            guard status >= 0 else { throw .failed(path: path, SystemCallError("malloc", number: -status)) }
        }
        try check("DRM_IOCTL_MODE_ATOMIC", drmModeAtomicCommit(fileDescriptor, list, UInt32(flags), nil))
    }

    /// Reads pending events.
    /// - Returns: whether a flip has completed.
    func takeEvents() throws(DisplayError) -> Bool {
        var isFlipped = false
        var buffer = [UInt8](repeating: 0, count: 1024)
        do throws(SystemCallError) {
            while let count = try buffer.withMutableBytes({ bytes throws(SystemCallError) in
                try descriptor.readIfReady(into: bytes)
            }), count > 0 {
                isFlipped = Self.hasFlip(buffer[..<count]) || isFlipped
            }
        } catch {
            throw .failed(path: path, error)
        }
        return isFlipped
    }

    /// Each event starts with its type and length, four bytes each.
    private static func hasFlip(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while rest.count >= 8 {
            let (type, length) = rest.withUnsafeBytes {
                ($0.loadUnaligned(as: UInt32.self), $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            }
            if type == UInt32(DRM_EVENT_FLIP_COMPLETE) { return true }
            rest = rest.dropFirst(max(8, Int(length)))
        }
        return false
    }
}
