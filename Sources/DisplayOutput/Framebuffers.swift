import CDRM
import DevicePorts
import Glibc
import LinuxIO
import Media

/// A framebuffer in the card's memory for the CPU to draw into. Used from one thread, which frees it before it closes the
/// device.
final class DrawnBuffer {
    let layout: FrameLayout
    let framebuffer: UInt32
    private let handle: UInt32
    private let mapping: WritableMapping
    private let device: DRMDevice

    /// - Parameters:
    ///   - format: NV12, I420, or RGB with four bytes.
    ///   - size: even for formats with one chroma sample per pair of pixels.
    init(_ device: DRMDevice, _ format: PixelFormat, fourCC: FourCC, size: FrameSize) throws(DisplayError) {
        self.device = device
        // Chroma follows luma, in half as many rows.
        let rows = format.isPlanar ? size.height + (size.height + 1) / 2 : size.height
        let bits = UInt32(8 * (format.bytesPerPixel ?? 1))
        var (handle, pitch, byteCount): (UInt32, UInt32, UInt64) = (0, 0, 0)
        try device.check(
            "DRM_IOCTL_MODE_CREATE_DUMB",
            drmModeCreateDumbBuffer(
                device.fileDescriptor, UInt32(size.width), UInt32(rows), bits, 0, &handle, &pitch, &byteCount),
            "\(size)")
        self.handle = handle
        var created: UInt32?
        do throws(DisplayError) {
            guard
                let layout = FrameLayout(
                    format: format, size: size, stride: Int(pitch), bufferSize: Int(clamping: byteCount))
            else { throw .failed(path: device.path, SystemCallError("DRM_IOCTL_MODE_CREATE_DUMB", number: EINVAL)) }
            self.layout = layout
            framebuffer = try device.framebuffer(layout, fourCC: fourCC, handle: handle)
            created = framebuffer
            mapping = try Self.map(device, handle, byteCount: Int(clamping: byteCount))
        } catch {
            if let created { drmModeRmFB(device.fileDescriptor, created) }
            drmModeDestroyDumbBuffer(device.fileDescriptor, handle)
            throw error
        }
    }

    private static func map(
        _ device: DRMDevice, _ handle: UInt32, byteCount: Int
    ) throws(DisplayError) -> WritableMapping {
        var offset: UInt64 = 0
        try device.check(
            "DRM_IOCTL_MODE_MAP_DUMB", drmModeMapDumbBuffer(device.fileDescriptor, handle, &offset))
        do throws(SystemCallError) {
            return try WritableMapping(device.fileDescriptor, offset: Int(clamping: offset), byteCount: byteCount)
        } catch {
            throw .failed(path: device.path, error)
        }
    }

    var bytes: UnsafeMutableRawBufferPointer { mapping.bytes }

    /// For text; requires a format with four bytes per pixel.
    var canvas: Canvas {
        Canvas(pixels: bytes, size: layout.size, stride: layout.planes.first?.stride ?? 0)
    }

    deinit {
        drmModeRmFB(device.fileDescriptor, framebuffer)
        drmModeDestroyDumbBuffer(device.fileDescriptor, handle)
    }
}

/// The framebuffers of a source's DMABUFs. Each is created when its buffer first appears, and removed when the buffer has not
/// been seen for a while because its camera was closed. A framebuffer keeps its buffer's memory allocated in the kernel.
final class ImportedFramebuffers {
    private struct Key: Hashable {
        /// The card's handle, which is the same for the same memory, whatever the descriptor.
        let handle: UInt32
        let layout: FrameLayout
    }

    private struct Entry {
        let framebuffer: UInt32
        var lastUse: MediaTimestamp
    }

    /// A running camera reuses each of its buffers within this time.
    private static let patience = Duration.seconds(2)

    private let device: DRMDevice
    private var entries: [Key: Entry] = [:]

    init(_ device: DRMDevice) { self.device = device }

    /// - Returns: the framebuffer for a frame in a DMABUF.
    func framebuffer(
        of buffer: DMABuffer, _ layout: FrameLayout, now: MediaTimestamp
    ) throws(DisplayError) -> UInt32 {
        var handle: UInt32 = 0
        try device.check(
            "DRM_IOCTL_PRIME_FD_TO_HANDLE",
            drmPrimeFDToHandle(device.fileDescriptor, buffer.fileDescriptor, &handle))
        let key = Key(handle: handle, layout: layout)
        if let entry = entries[key] {
            entries[key]?.lastUse = now
            return entry.framebuffer
        }
        do throws(DisplayError) {
            let framebuffer = try device.framebuffer(layout, fourCC: layout.format.fourCC, handle: handle)
            entries[key] = Entry(framebuffer: framebuffer, lastUse: now)
            return framebuffer
        } catch {
            closeUnused(handle)
            throw error
        }
    }

    /// Removes framebuffers that have not been used for a while.
    /// - Parameter shown: the one on the screen. Removing it would turn the screen dark.
    func removeStale(now: MediaTimestamp, except shown: UInt32?) {
        for (key, entry) in entries where now - entry.lastUse > Self.patience && entry.framebuffer != shown {
            remove(key)
        }
    }

    func removeAll() { for key in Array(entries.keys) { remove(key) } }

    private func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        drmModeRmFB(device.fileDescriptor, entry.framebuffer)
        closeUnused(key.handle)
    }

    private func closeUnused(_ handle: UInt32) {
        guard !entries.keys.contains(where: { $0.handle == handle }) else { return }
        drmCloseBufferHandle(device.fileDescriptor, handle)
    }

    deinit { removeAll() }
}

extension DRMDevice {
    /// - Parameter handle: of the memory that holds all planes.
    func framebuffer(
        _ layout: FrameLayout, fourCC: FourCC, handle: UInt32
    ) throws(DisplayError) -> UInt32 {
        let planes = layout.planes.prefix(4)
        func filled(_ value: (FrameLayout.Plane) -> UInt32) -> [UInt32] {
            planes.map(value) + Array(repeating: 0, count: 4 - planes.count)
        }
        var id: UInt32 = 0
        let modifiers = planes.map { _ in layout.modifier } + Array(repeating: 0, count: 4 - planes.count)
        // Drivers that do not support modifiers expect linear rows.
        let flags: UInt32 = layout.modifier == 0 ? 0 : UInt32(DRM_MODE_FB_MODIFIERS)
        try check(
            "DRM_IOCTL_MODE_ADDFB2",
            drmModeAddFB2WithModifiers(
                fileDescriptor, UInt32(layout.size.width), UInt32(layout.size.height), fourCC.rawValue,
                filled { _ in handle }, filled { UInt32(clamping: $0.stride) }, filled { UInt32(clamping: $0.offset) },
                modifiers, &id, flags), "\(fourCC) \(layout.size)")
        return id
    }
}
