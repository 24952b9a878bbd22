// `preview` of device.json.
extension DeviceDescription {
    mutating func readPreview(_ reader: inout DescriptionReader) {
        let displays = Preview.Display.allCases.map(\.rawValue)
        // The short form: the display alone, without an object.
        if let kind = reader.kind(of: "preview"), kind != "an object" {
            let words = displays.map { "\"\($0)\"" }.joined(separator: " or ")
            let display = reader.choice(
                "preview", of: displays, allowed: "\(words), or an object in curly brackets",
                example: #""preview": "hdmi""#)
            preview.display = display.flatMap(Preview.Display.init) ?? preview.display
            return
        }
        let example = #""preview": {"display": "hdmi", "camera": "always"}"#
        let given = reader.object("preview", example: example) { reader in
            var given = Preview()
            let display = reader.choice("display", of: displays, example: #""display": "hdmi""#)
            let cameras = Preview.Camera.allCases.map(\.rawValue)
            let camera = reader.choice("camera", of: cameras, example: #""camera": "always""#)
            given.display = display.flatMap(Preview.Display.init) ?? given.display
            given.camera = camera.flatMap(Preview.Camera.init) ?? given.camera
            // A display that is "off" can be turned on later, but a missing one was forgotten.
            if given.camera == .always, !reader.has("display") {
                reader.report(.missing, "display", "is missing; \"always\" needs a display", example: example)
            }
            return given
        }
        preview = given ?? preview
    }
}
