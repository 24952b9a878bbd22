// `preview` of device.json.
extension DeviceDescription {
    mutating func readPreview(_ reader: inout DescriptionReader) {
        let displays = Preview.Display.allCases.map(\.rawValue)
        let isShort = reader.shortForm("preview", of: displays, example: #""preview": "hdmi""#) {
            preview.display = Preview.Display(rawValue: $0) ?? preview.display
        }
        guard !isShort else { return }
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
