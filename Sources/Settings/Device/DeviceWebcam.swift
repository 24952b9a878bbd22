// `webcam` of device.json.
extension DeviceDescription {
    mutating func readWebcam(_ reader: inout DescriptionReader) {
        switch reader.flagOrChoice("webcam", of: ["ask"], example: #""webcam": true"#) {
        case .flag(let isWebcam)?: webcam = isWebcam ? .on : .off
        case .word?: webcam = .ask
        case nil: break
        }
    }
}
