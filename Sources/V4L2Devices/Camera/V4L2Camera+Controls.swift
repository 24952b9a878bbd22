import CLinux
import Controls
import DevicePorts
import Media

extension V4L2ControlMapping {
    /// - Parameter offered: the controls of the camera's own node.
    init(_ device: V4L2Device, _ offered: [V4L2Control], lens: V4L2Lens?, crop: V4L2Crop?, flips: FrameFlips) {
        let lensControls = lens?.controls().filter { $0.id == clinux_v4l2_cid_focus_absolute } ?? []
        let menus = offered.filter { $0.kind == .menu }.map { ($0.id, device.menu($0)) }
        self.init(
            offered: offered + lensControls, menus: Dictionary(menus) { first, _ in first }, crop: crop,
            flips: flips)
    }
}

extension V4L2Device {
    /// - Parameter chosen: controls that the settings name; these are not changed.
    /// - Returns: the flips that are in effect: `wish` or none.
    func flip(_ wish: FrameFlips, beside chosen: [CameraSettings.Control], _ offered: [V4L2Control]) -> FrameFlips {
        guard wish != FrameFlips() else { return wish }
        return setFlips(wish, beside: chosen, offered) ? wish : FrameFlips()
    }

    /// - Returns: false if the camera cannot flip, or the settings say otherwise.
    func setFlips(
        _ wish: FrameFlips, beside chosen: [CameraSettings.Control] = [], _ offered: [V4L2Control]
    ) -> Bool {
        let both = [(clinux_v4l2_cid_hflip, wish.isHorizontal), (clinux_v4l2_cid_vflip, wish.isVertical)]
        let controls = both.compactMap { id, isOn in offered.first { $0.id == id }.map { (control: $0, isOn: isOn) } }
        let isDone = both.allSatisfy { id, isOn in !isOn || controls.contains { $0.control.id == id } }
        let free = controls.filter { control, _ in !chosen.contains { $0.name == control.name } }
        guard isDone, free.count == controls.count else { return false }
        var entries = controls.map { control, isOn in
            var entry = v4l2_ext_control()
            entry.id = control.id
            entry.value = isOn ? 1 : 0
            return entry
        }
        return (try? setControls(&entries)) != nil
    }
}

extension V4L2Camera: ControllableSource {
    public var controlOffers: [ControlOffer] { mapping.offers }
    public var wishedControls: WishedControls { mapping.wished }

    public func apply(_ changes: [ControlChange]) throws(ControlError) {
        var changed = mapping
        let settings = changed.settings(for: changes)
        do throws(V4L2Error) {
            try set(settings.filter { !isLens($0.id) }, of: device)
            if let lens { try set(settings.filter { isLens($0.id) }, of: lens) }
            if let area = changed.croppedArea, area != mapping.croppedArea { try device.setCrop(area) }
        } catch {
            throw .refused(changes.first?.name ?? .focus, reason: "\(error)")
        }
        mapping = changed
    }

    private func set(_ settings: [V4L2ControlMapping.Setting], of node: some V4L2Node) throws(V4L2Error) {
        var entries = settings.map { setting in
            var entry = v4l2_ext_control()
            entry.id = setting.id
            entry.value = Int32(clamping: setting.value)
            return entry
        }
        try node.setControls(&entries)
    }

    private func isLens(_ id: UInt32) -> Bool { lens != nil && id == clinux_v4l2_cid_focus_absolute }

    public var cameraReport: CameraReport {
        mapping.report(crop: device.crop) { isLens($0) ? lens?.control($0) : device.control($0) }
    }
}
