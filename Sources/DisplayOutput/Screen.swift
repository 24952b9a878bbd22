import CDRM
import DevicePorts
import Glibc
import LinuxIO
import Media

/// A lit display. When it is dropped, the kernel's console takes over.
final class Screen {
    /// A change on its way to the screen.
    struct Flip {
        let start: MediaTimestamp
        let hasFrame: Bool
        let isConverted: Bool
    }

    let connector: DRMDevice.Connector
    private let device: DRMDevice
    private let mode: DisplayMode
    private let content: any ScreenContent
    private var flip: Flip?
    /// When to offer the next frame; `nil` for at once.
    var nextFrameTime: MediaTimestamp?
    /// Since when the driver has refused new frames.
    private var busySince: MediaTimestamp?

    /// If the driver is still busy with the previous frame, retry at this interval, for this long.
    private static let busyPause = Duration.milliseconds(20)
    private static let busyTimeout = Duration.seconds(2)

    /// Lights the first display that works.
    /// - Parameter connector: its name; `nil` for any.
    static func first(connector name: String?, makeScaler: @escaping Display.MakeScaler) throws(DisplayError) -> Screen
    {
        var names: [String] = []
        var failure: DisplayError?
        for path in DRMDevice.cards {
            do throws(DisplayError) {
                let device = try DRMDevice(at: path)
                // Only the program with that right may query displays for their modes.
                let right = Result { () throws(DisplayError) in try device.becomeMaster() }
                let connectors = try device.connectors()
                names += connectors.map(\.name)
                let wanted = connectors.first { $0.isConnected && (name == nil || $0.name == name) }
                guard let wanted else { continue }
                try right.get()
                return try Screen(device, wanted, makeScaler)
            } catch {
                if error != .noCard { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
        if names.isEmpty { throw .noCard }
        if let name, !names.contains(name) { throw .noConnector(name, present: names) }
        throw .nothingConnected(names)
    }

    private init(
        _ device: DRMDevice, _ connector: DRMDevice.Connector, _ makeScaler: @escaping Display.MakeScaler
    ) throws(DisplayError) {
        let planes = try device.planes()
        let crtcs = try device.crtcs(for: connector)
        var failure = DisplayError.unusable(connector: connector.name, reason: "the display offers no usable mode")
        for mode in DisplayMode.inOrderOfTrial(connector.modes) {
            for (index, crtc) in crtcs {
                do throws(DisplayError) {
                    let lighting = try device.lighting(connector, mode, crtc: crtc)
                    let place = ScreenPlace(device: device, crtc: crtc, crtcIndex: index, size: mode.size)
                    let content = try place.content(planes, lighting: lighting, makeScaler: makeScaler)
                    try device.commit(
                        lighting.with(content.firstRequest()), flags: DRM_MODE_ATOMIC_ALLOW_MODESET)
                    (self.device, self.connector, self.mode, self.content) = (device, connector, mode, content)
                    return
                } catch {
                    failure = .unusable(connector: connector.name, reason: "\(mode.size): \(error)")
                }
            }
        }
        throw failure
    }

    /// For people.
    var description: String { "\(connector.name), \(mode.size) at \(mode.refreshRate) Hz" }

    var fileDescriptor: Int32 { device.fileDescriptor }
    var flipStart: MediaTimestamp? { flip?.start }
    /// Whether the CPU converts all frames.
    var convertsAll: Bool { content.convertsAll }
    /// Whether the CPU converts the present frames.
    var convertsFrames: Bool { content.convertsFrames }

    /// Starts to show new content.
    func show(_ work: PreviewState.Work, now: MediaTimestamp) throws(DisplayError) {
        guard let request = try content.request(for: work, now: now) else { return }
        try device.commit(request, flags: DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT)
        content.committed()
        busySince = nil
        let isConverted = work.frame?.isForProcessor ?? false
        flip = Flip(start: now, hasFrame: work.frame != nil, isConverted: isConverted)
        if isConverted { nextFrameTime = now + content.conversionInterval }
    }

    /// - Returns: the change that has reached the screen since the last call; `nil` for none.
    func takeFlip() throws(DisplayError) -> Flip? {
        guard let flip, try device.takeEvents() else { return nil }
        self.flip = nil
        content.flipped()
        return flip
    }

    /// - Returns: whether showing can continue after an error of `show`.
    func recovers(from error: DisplayError, of work: PreviewState.Work, now: MediaTimestamp) -> Bool {
        nextFrameTime = now + Self.busyPause
        switch error {
        case .frameUnreadable: return true
        case .failed(_, let call) where call.number == EBUSY:
            let since = busySince ?? now
            busySince = since
            return now - since < Self.busyTimeout
        default:
            guard let frame = work.frame, !frame.isForProcessor else { return false }
            return content.refuses(frame.layout)
        }
    }

    /// Checks that the display is still connected.
    func look(now: MediaTimestamp) throws(DisplayError) {
        content.removeUnused(now: now)
        guard let present = try device.connector(connector.id, isAsked: false), present.isConnected else {
            throw .unplugged(connector: connector.name)
        }
    }
}

extension AtomicRequest {
    func with(_ other: AtomicRequest) -> AtomicRequest {
        var both = self
        both.add(other)
        return both
    }
}

extension DRMDevice {
    /// The CRTCs that the connector can use, with their bit numbers in masks. If one of them shows the kernel's console on this
    /// connector, only that one: to use another, the connector would have to be turned off first.
    fileprivate func crtcs(for connector: Connector) throws(DisplayError) -> [(index: Int, id: UInt32)] {
        let present = try properties(of: connector.id, DRM_MODE_OBJECT_CONNECTOR)["CRTC_ID"]?.value ?? 0
        return try crtcs().enumerated().filter { index, id in
            index < 32 && connector.crtcs & (1 << UInt32(index)) != 0 && (present == 0 || present == UInt64(id))
        }
        .map { ($0.offset, $0.element) }
    }

    /// The request that turns a display on in a mode.
    fileprivate func lighting(
        _ connector: Connector, _ mode: DisplayMode, crtc: UInt32
    ) throws(DisplayError) -> AtomicRequest {
        let ofConnector = try properties(of: connector.id, DRM_MODE_OBJECT_CONNECTOR)
        let ofCRTC = try properties(of: crtc, DRM_MODE_OBJECT_CRTC)
        var request = AtomicRequest()
        request.set(connector.id, try ofConnector.required("CRTC_ID"), UInt64(crtc))
        request.set(crtc, try ofCRTC.required("MODE_ID"), UInt64(try blob(of: mode, connector)))
        request.set(crtc, try ofCRTC.required("ACTIVE"), 1)
        return request
    }
}
