import Controls

// `controls` of device.json.
extension DeviceDescription {
    mutating func readControls(_ reader: inout DescriptionReader) {
        let example = #""controls": {"zoom": 1.5, "white-balance": "daylight"}"#
        let given = reader.object("controls", example: example) { controls in
            Self.redirectOthers(&controls)
            return ControlName.allCases.filter(\.isOfCamera).compactMap {
                Self.control($0, &controls, example: example)
            }
        }
        controls = given ?? controls
    }

    /// Controls that do not belong to a camera have keys of their own.
    private static func redirectOthers(_ reader: inout DescriptionReader) {
        for name in ControlName.allCases where !name.isOfCamera {
            let (place, example) =
                switch name {
                case .torch: ("beside \"controls\"", #""torch": "live""#)
                case .webcam: ("beside \"controls\"", #""webcam": true"#)
                default:
                    ("to a microphone, in \"audio\"", #""sources": [{"device": "hw:1", "gain": 6, "mute": false}]"#)
                }
            reader.redirect(name.rawValue, to: place, example: example)
        }
    }

    /// Only an open camera can tell whether it supports the value.
    private static func control(
        _ name: ControlName, _ reader: inout DescriptionReader, example: String
    ) -> ControlChange? {
        guard let word = reader.word(name.rawValue, example: example) else { return nil }
        do throws(ControlError) {
            return try ControlChange(name.rawValue, word.value)
        } catch {
            let form = ControlDescription.of(name).form
            reader.report(.invalidValue, name.rawValue, at: word.position, "must be \(form)", example: example)
            return nil
        }
    }
}
