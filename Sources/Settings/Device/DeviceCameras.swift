import Media

// The cameras of `device.json`.
extension DeviceDescription {
    private static let camerasExample = #""cameras": {"front": "front", "back": "/dev/video0"}"#

    mutating func readCameras(_ reader: inout DescriptionReader) {
        let name = reader.name("camera", example: #""camera": "auto""#)
        guard let found = Self.cameras(&reader) else {
            camera = name ?? camera
            return
        }
        let start = name.flatMap { name in found.firstIndex { $0.name == name } }
        // The default, which the file on a fresh card contains.
        if let name, start == nil, name != DeviceDescription().camera {
            let names = found.map(\.name)
            let meant = NameSuggestion.nearest(to: name, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
            reader.report(
                .invalidValue, "camera", "must be one of \"cameras\": \(names.joined(separator: ", "))\(meant)",
                example: names.first.map { #""camera": "\#($0)""# })
        }
        // Rotate the list, so that the order of switching stays the same.
        cameras = Array(found[(start ?? 0)...] + found[..<(start ?? 0)])
    }

    /// In file order; `nil` if there are none.
    private static func cameras(_ reader: inout DescriptionReader) -> [NamedCamera]? {
        let found = reader.object("cameras", example: camerasExample) { entries -> [NamedCamera] in
            let names = entries.names
            if names.count > CameraName.mostCameras {
                entries.reportSelf("must have at most \(CameraName.mostCameras) cameras", example: camerasExample)
            }
            return names.prefix(CameraName.mostCameras).compactMap { camera(named: $0, in: &entries) }
        }
        return found.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func camera(named name: String, in entries: inout DescriptionReader) -> NamedCamera? {
        if let problem = CameraName.problem(with: name) {
            entries.reportSelf("cannot have a camera \(quoted(name.prefix(60))): \(problem)", example: camerasExample)
            return nil
        }
        return entries.name(name, example: camerasExample).map { NamedCamera(name: name, source: $0) }
    }
}
