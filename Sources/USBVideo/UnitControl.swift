import Controls

/// One of the class's camera and processing controls (UVC 1.5, sections 4.2.2.1 and 4.2.2.3), and its counterpart in the table
/// of controls.
public struct UnitControl: Hashable, Sendable {
    public enum Unit: UInt8, Sendable {
        /// The IDs that the kernel's function gives its units.
        case camera = 1
        case processing = 2
    }

    /// How the class's numbers relate to a control's values.
    enum Scale: Hashable, Sendable {
        /// Steps per unit of the control. The first scale with which the camera's whole range fits into the class's field is
        /// used, since drivers' numbers may be of any size.
        case parts([Double])
        case words([Int: String])
    }

    public let name: ControlName
    public let unit: Unit
    let selector: UInt8
    /// The bit in bmControls with which a unit's descriptor announces the control.
    public let bit: Int
    let byteCount: Int
    let isSigned: Bool
    let scale: Scale

    private init(
        _ name: ControlName, _ unit: Unit, selector: UInt8, bit: Int, bytes: Int, signed: Bool = false, _ scale: Scale
    ) {
        self.name = name
        self.unit = unit
        self.selector = selector
        self.bit = bit
        byteCount = bytes
        isSigned = signed
        self.scale = scale
    }

    private static let hundredths: [Double] = [100, 10, 1]

    public static let all: [UnitControl] = [
        // bAutoExposureMode: 1 is manual; 8 is automatic with a fixed aperture.
        UnitControl(.exposure, .camera, selector: 2, bit: 1, bytes: 1, .words([1: "locked", 8: "auto"])),
        // In units of 100 µs.
        UnitControl(.exposureTime, .camera, selector: 4, bit: 3, bytes: 4, .parts([10])),
        // Hundredths of diopters, since webcams use a number that grows toward near focus. The class specifies millimeters.
        UnitControl(.lens, .camera, selector: 6, bit: 5, bytes: 2, .parts(hundredths)),
        UnitControl(.focus, .camera, selector: 8, bit: 17, bytes: 1, .words([0: "manual", 1: "continuous"])),
        UnitControl(.zoom, .camera, selector: 11, bit: 9, bytes: 2, .parts(hundredths)),
        UnitControl(.brightness, .processing, selector: 2, bit: 0, bytes: 2, signed: true, .parts(hundredths)),
        UnitControl(.contrast, .processing, selector: 3, bit: 1, bytes: 2, .parts(hundredths)),
        UnitControl(.gain, .processing, selector: 4, bit: 9, bytes: 2, .parts(hundredths)),
        UnitControl(.saturation, .processing, selector: 7, bit: 3, bytes: 2, .parts(hundredths)),
        UnitControl(.sharpness, .processing, selector: 8, bit: 4, bytes: 2, .parts(hundredths)),
        UnitControl(.whiteBalance, .processing, selector: 10, bit: 6, bytes: 2, .parts([1])),
        UnitControl(.whiteBalance, .processing, selector: 11, bit: 12, bytes: 1, .words([0: "locked", 1: "auto"])),
    ]

    /// The bytes of a unit's bmControls for this camera's controls.
    public static func mask(of unit: Unit, having statuses: [ControlStatus]) -> [UInt8] {
        var mask = [UInt8](repeating: 0, count: 3)
        for control in all where control.unit == unit && control.range(statuses) != nil {
            mask[control.bit / 8] |= 1 << UInt8(control.bit % 8)
        }
        return mask
    }
}
