import DevicePorts
import Media

// Applies the settings to a camera: which one, in which format, at which rate, with which controls.
extension LibcameraCamera {
    /// The requested size, limited to the sensor's. A camera would enlarge its frames beyond that.
    static func atMost(_ size: FrameSize, _ format: PixelFormat, of camera: CameraDescription) -> FrameSize {
        let sizes = camera.modes.filter { $0.modifier == 0 && $0.format == format.fourCC }.map(\.largest)
        guard let largest = sizes.max(by: { $0.pixelCount < $1.pixelCount }), largest.width >= 16, largest.height >= 16
        else { return size }
        return FrameSize(width: min(size.width, largest.width), height: min(size.height, largest.height))
    }

    /// Opens both streams, or only the full one if the camera cannot deliver both.
    static func session(
        _ full: StreamWish, _ smaller: StreamWish?, _ open: ([StreamWish]) throws(CameraError) -> CameraSession
    ) throws(CameraError) -> CameraSession {
        if let smaller, let session = try? open([full, smaller]), session.layouts[0].format == full.format,
            session.layouts.map(\.size) == [full.size, smaller.size], session.layouts[1].format.isPlanar
        {
            return session
        }
        return try open([full])
    }

    static func cameras(
        for settings: CameraSettings
    ) throws(CameraError) -> (CameraSystem, [CameraDescription]) {
        let device = settings.device
        var tuning: CameraTuning?
        if let name = settings.tuning { tuning = try CameraTuning(named: name, camera: device) }
        do throws(CameraError) {
            let system = try CameraSystem.shared(tuning: tuning)
            return (system, system.cameras())
        } catch {
            guard case .none(_, let reason) = error else { throw error }
            throw .none(asked: device, reason: reason)
        }
    }

    static func choose(
        _ device: String, among cameras: [CameraDescription], absence: CameraAbsence = CameraAbsence()
    ) throws(CameraError) -> Int {
        guard !cameras.isEmpty else { throw .none(asked: device, reason: absence.reason) }
        if device.isEmpty { return 0 }
        let index = cameras.firstIndex { $0.id == device || $0.location.map { "\($0)" } == device }
        guard let index else {
            let offered = cameras.map { camera in camera.location.map { "\(camera.id) (\($0))" } ?? camera.id }
                .joined(separator: ", ")
            if let note = absence.note { throw .noMatchExplained(asked: device, offered: offered, note: note) }
            throw .noMatch(asked: device, offered: offered)
        }
        return index
    }

    /// Prefers NV12, which encoders accept without a copy. BGR888 precedes RGB888 because vimc lists both but streams only
    /// BGR888, its scaler's output order.
    static func format(
        _ settings: CameraSettings, of camera: CameraDescription
    ) throws(CameraError) -> PixelFormat {
        let offered = Set(camera.modes.filter { $0.modifier == 0 }.map(\.format))
        if let asked = settings.format {
            guard offered.contains(asked) else {
                let list = offered.map { "\($0)" }.sorted().joined(separator: ", ")
                throw .formatNotOffered(camera: camera.id, format: "\(asked)", offered: list)
            }
            guard let format = PixelFormat(asked) else {
                throw .unsupportedFormat(camera: camera.id, format: "\(asked)")
            }
            return format
        }
        return [.nv12, .i420, .yuyv, .uyvy, .bgr888, .rgb888].first { offered.contains($0.fourCC) } ?? .nv12
    }

    /// I420 if the camera offers it. The Raspberry Pi's image processor uses its second stream to reduce color noise, which
    /// requires half the width and this format (`Vc4CameraData::platformConfigure`). Encoders accept I420 too.
    static func smallerFormat(beside format: PixelFormat, of camera: CameraDescription) -> PixelFormat {
        camera.modes.contains { $0.modifier == 0 && $0.format == PixelFormat.i420.fourCC } ? .i420 : format
    }

    /// The nearest rate that the configured camera supports. The camera would change the rate silently.
    static func frameRate(_ wanted: FrameRate, _ controls: [CameraControl]) -> FrameRate {
        guard let limits = controls.first(where: { $0.name == durationLimitsName }), limits.minimum >= 1,
            limits.maximum >= limits.minimum
        else { return wanted }
        // In microseconds, rounded by the camera.
        let fastest = max(1, Int(min(240, 1e6 / limits.minimum + 0.01)))
        let slowest = min(fastest, Int(max(1, (1e6 / limits.maximum - 0.01).rounded(.up))))
        return FrameRate(framesPerSecond: min(max(wanted.framesPerSecond, slowest), fastest))
    }

    static func resolve(
        _ setting: CameraSettings.Control, among offered: [CameraControl], _ camera: String
    ) throws(CameraError) -> (CameraControl, [Double]) {
        guard let control = offered.first(where: { $0.name == setting.name }) else {
            let names = offered.map(\.name).sorted().joined(separator: ", ")
            throw .unknownControl(camera: camera, name: setting.name, offered: names)
        }
        guard let values = control.values(setting.value) else {
            throw .badControlValue(
                camera: camera, name: setting.name, value: setting.value, possible: control.possibleValues)
        }
        return (control, values)
    }

    static func offers(_ flips: FrameFlips, _ camera: CameraDescription) -> Bool {
        (!flips.isHorizontal || camera.controls.contains { $0.name == CameraControl.horizontalFlip.name })
            && (!flips.isVertical || camera.controls.contains { $0.name == CameraControl.verticalFlip.name })
    }

    /// Flips must be known before the camera is configured. Other names are checked later.
    static func flips(
        _ settings: [CameraSettings.Control], of camera: CameraDescription, _ name: String
    ) throws(CameraError) -> FrameFlips {
        var flips = FrameFlips()
        for setting in settings {
            let flip: CameraControl
            switch setting.name {
            case CameraControl.horizontalFlip.name: flip = .horizontalFlip
            case CameraControl.verticalFlip.name: flip = .verticalFlip
            default: continue
            }
            let isOn = try resolve(setting, among: camera.controls, name).1 == [1]
            if flip == .horizontalFlip { flips.isHorizontal = isOn } else { flips.isVertical = isOn }
        }
        return flips
    }
}
