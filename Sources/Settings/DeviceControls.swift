import Controls

// `controls` of device.json.
extension DeviceDescription {
    mutating func readControls(_ reader: inout DescriptionReader) {
        let example = #""controls": {"zoom": 1.5, "white-balance": "daylight"}"#
        let given = reader.object("controls", example: example) { controls in
            controls.recognize(names: ControlName.allCases.filter { !$0.isOfCamera }.map(\.rawValue))
            return ControlName.allCases.filter(\.isOfCamera).compactMap {
                Self.control($0, &controls, example: example)
            }
        }
        controls = given ?? controls
    }

    /// Whether the camera takes it shows when it is open.
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
