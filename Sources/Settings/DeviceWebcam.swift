// `webcam` of device.json.
extension DeviceDescription {
    mutating func readWebcam(_ reader: inout DescriptionReader) {
        guard reader.isText("webcam") else {
            let isWebcam = reader.flag("webcam", example: #""webcam": true"#)
            webcam = isWebcam.map { $0.value ? .on : .off } ?? webcam
            return
        }
        let word = reader.choice("webcam", of: ["ask"], example: #""webcam": "ask""#)
        webcam = word.map { _ in .ask } ?? webcam
    }
}
