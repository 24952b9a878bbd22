import Controls

/// One of the class's camera and processing controls (UVC 1.5, sections 4.2.2.1 and 4.2.2.3), and what it is in the table of
/// controls.
public struct UnitControl: Hashable, Sendable {
    public enum Unit: UInt8, Sendable {
        /// The IDs that the kernel's function gives its units.
        case camera = 1
        case processing = 2
    }

    /// How a number of the class stands for a control's value.
    enum Scale: Hashable, Sendable {
        /// So many of it are one of the control's unit: the first by which the whole range of a camera fits the class's field.
        /// Drivers' numbers go up to anything.
        case parts([Double])
        case words([Int: String])
    }

    public let name: ControlName
    public let unit: Unit
    let selector: UInt8
    /// Of bmControls, by which a unit's descriptor says that it has the control.
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
        // bAutoExposureMode: 1 is manual, 8 is automatic with the aperture as it is.
        UnitControl(.exposure, .camera, selector: 2, bit: 1, bytes: 1, .words([1: "locked", 8: "auto"])),
        // In 100 µs.
        UnitControl(.exposureTime, .camera, selector: 4, bit: 3, bytes: 4, .parts([10])),
        // Hundredths of dioptres, as webcams have a number that grows towards the near; the class says millimetres.
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

    /// The bytes of a unit's bmControls for what a camera has.
    public static func mask(of unit: Unit, having statuses: [ControlStatus]) -> [UInt8] {
        var mask = [UInt8](repeating: 0, count: 3)
        for control in all where control.unit == unit && control.range(statuses) != nil {
            mask[control.bit / 8] |= 1 << UInt8(control.bit % 8)
        }
        return mask
    }
}
