// General stream settings in device.json, and those of button, light and console.
extension DeviceDescription {
    mutating func readBuffer(_ reader: inout DescriptionReader) {
        let example = #""buffer": {"seconds": 3, "lowThreshold": 0.2, "highThreshold": 0.8}"#
        let given: (seconds: Double?, low: Double?, high: Double?)? = reader.object("buffer", example: example) {
            buffer in
            (
                buffer.number("seconds", in: 1...5, unit: "seconds", example: #""seconds": 3"#)?.value,
                buffer.number("lowThreshold", in: 0...1, example: #""lowThreshold": 0.2"#)?.value,
                buffer.number("highThreshold", in: 0...1, example: #""highThreshold": 0.8"#)?.value
            )
        }
        bufferDuration = given?.seconds ?? bufferDuration
        bufferLowThreshold = given?.low ?? bufferLowThreshold
        bufferHighThreshold = given?.high ?? bufferHighThreshold
        // 0.8 - 0.7 is slightly less than 0.1 in binary.
        if bufferHighThreshold - bufferLowThreshold < 0.1 - 1e-9 {
            reader.report(
                .invalidValue, "buffer", "\"highThreshold\" must be at least 0.1 above \"lowThreshold\"",
                example: example)
        }
    }

    mutating func readBehavior(_ reader: inout DescriptionReader) {
        let attempts = reader.integerOrChoice(
            "reconnectAttempts", in: 0...1000, of: ["endless"], example: #""reconnectAttempts": 3"#)
        if case .integer(let count)? = attempts { reconnectAttempts = count }
        let interval = reader.integer("statusInterval", in: 1...30, unit: "seconds", example: #""statusInterval": 3"#)
        statusInterval = interval.map { .seconds($0.value) } ?? statusInterval
        let connect = reader.integer("connectTimeout", in: 1...60, unit: "seconds", example: #""connectTimeout": 5"#)
        connectTimeout = connect.map { .seconds($0.value) } ?? connectTimeout
        let handshake = reader.integer(
            "handshakeTimeout", in: 1...60, unit: "seconds", example: #""handshakeTimeout": 5"#)
        handshakeTimeout = handshake.map { .seconds($0.value) } ?? handshakeTimeout
        console = reader.flag("console", example: #""console": false"#)?.value ?? console
        switch reader.flagOrChoice("page", of: [PageSetting.https.rawValue], example: #""page": false"#) {
        case .flag(let isOn): page = isOn ? .http : .off
        case .word: page = .https
        case nil: break
        }
        startAtBoot = reader.flag("startAtBoot", example: #""startAtBoot": true"#)?.value ?? startAtBoot
        let light = reader.choice("torch", of: Torch.allCases.map(\.rawValue), example: #""torch": "live""#)
        torch = light.flatMap(Torch.init) ?? torch
        if let former = reader.mention(of: "flashLED") {
            reader.accept("flashLED")
            reader.report(
                .invalidValue, "flashLED", at: former, "is named \"torch\" now", example: #""torch": "live""#)
        }
        reader.redirect("flash", to: "into \"snapshots\"", example: #""snapshots": {"flash": "auto"}"#)
        let press = reader.choice(
            "doublePress", of: DoublePress.allCases.map(\.rawValue), example: #""doublePress": "snapshot""#)
        doublePress = press.flatMap(DoublePress.init) ?? doublePress
    }
}
