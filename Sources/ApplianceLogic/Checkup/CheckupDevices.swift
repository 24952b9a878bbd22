import Settings

// What the findings about the board's devices mean.
extension CameraFinding {
    /// Whether this source of `device.json` is a camera, rather than the test pattern or a file.
    public static func isCamera(_ source: String) -> Bool { source != "synthetic" && !source.isFileSource }

    var line: CheckupLine {
        switch self {
        case .inUse(let name, nil): return CheckupLine(.camera, .ok, "\(name) is in use and delivers frames")
        case .inUse(let name, let problem?):
            return CheckupLine(
                .camera, .problem, "\(name) is in use, but delivers nothing: \(problem)",
                advice: Self.advice)
        case .present(let list, let wanted) where wanted.isEmpty:
            guard let first = list.devices.first else {
                let reason = list.notes.first.map { ": \($0)" } ?? ""
                return CheckupLine(.camera, .problem, "no camera found\(reason)", advice: Self.advice)
            }
            return list.ok(.camera, "\(first.phrase) is used")
        case .present(let list, let wanted): return Self.line(list, wanted: wanted)
        }
    }

    private static let advice = "check the cable and its direction; \(Page.light(.camera))"

    /// - Parameter list: it has a note about each file that cannot be used, which starts with the file's source.
    private static func line(_ list: DeviceList, wanted: [String]) -> CheckupLine {
        let needed = wanted.filter(isCamera)
        if let problem = list.notes.first(where: { note in wanted.contains { $0.isFileSource && note.hasPrefix($0) } })
        {
            return CheckupLine(.camera, .problem, problem, advice: "correct the file's name in device.json")
        }
        guard let missing = needed.first(where: { list.device(called: $0) == nil }) else {
            guard needed.isEmpty else {
                let names = needed.compactMap { list.device(called: $0)?.phrase }
                return list.ok(.camera, "\(names.joined(separator: ", ")) is there, as device.json asks")
            }
            return CheckupLine(.camera, .ok, "device.json asks for \(wanted.joined(separator: ", ")): no camera needed")
        }
        let others = list.devices.isEmpty ? "no camera was found" : "there is " + list.names
        return CheckupLine(
            .camera, .problem, "device.json asks for the camera \(missing), but \(others)",
            advice: "correct camera in device.json, or check the cable; \(Page.light(.camera))")
    }
}

extension String {
    /// Whether this source of `device.json` is a file.
    fileprivate var isFileSource: Bool { hasPrefix("image:") || hasPrefix("movie:") }
}

extension DeviceList {
    fileprivate var names: String { devices.map(\.name).joined(separator: ", ") }

    /// - Returns: a warning if some device did not answer or may not be opened.
    fileprivate func ok(_ step: CheckupStep, _ text: String) -> CheckupLine {
        guard let note = notes.first else { return CheckupLine(step, .ok, text) }
        return CheckupLine(step, .warning, "\(text); \(note)", advice: "look at that device if it is the one you want")
    }
}

extension EncoderFinding {
    var line: CheckupLine {
        if let deadReason {
            return CheckupLine(
                .encoder, .warning, deadReason, advice: "restart the device; \(Page.light(.hardwareEncoder))")
        }
        if let inUse { return CheckupLine(.encoder, .ok, "the stream is encoded by \(inUse)") }
        if let first = unanswered.first, hardware.isEmpty {
            return CheckupLine(
                .encoder, wanted == .v4l2 ? .problem : .warning, first,
                advice: "restart the device; \(Page.light(.hardwareEncoder))")
        }
        switch (wanted, hardware.first) {
        case (.openh264, _): return CheckupLine(.encoder, .ok, "software (OpenH264), as board.json asks")
        case (_, let name?): return CheckupLine(.encoder, .ok, "hardware: \(name)")
        case (.auto, nil): return CheckupLine(.encoder, .ok, "software (OpenH264): there is no hardware encoder")
        case (.v4l2, nil):
            return CheckupLine(
                .encoder, .problem, "board.json asks for a hardware encoder, but none was found",
                advice: "set encoder in board.json to auto; \(Page.light(.encoder))")
        }
    }
}

extension MicrophoneFinding {
    private static let advice = "plug it in; \(Page.light(.microphone))"

    var line: CheckupLine {
        switch source {
        case .none: return CheckupLine(.microphone, .ok, "device.json turns audio off")
        case .silence: return CheckupLine(.microphone, .ok, "device.json asks for silence")
        case .auto, .microphone: break
        }
        if let problem {
            return CheckupLine(.microphone, .problem, "a microphone was lost: \(problem)", advice: Self.advice)
        }
        if let name = wanted.first, MicrophoneName.normalized(name) == nil {
            return CheckupLine(.microphone, .notChecked, "\(name) is not the name of a card's device")
        }
        if let missing = wanted.first(where: isMissing) {
            let others = present.devices.isEmpty ? "no microphone was found" : "there is \(present.names)"
            return CheckupLine(
                .microphone, .problem, "the files ask for the microphone \(missing), but \(others)",
                advice: "correct its name, or plug it in; \(Page.light(.microphone))")
        }
        guard let first = wanted.first.flatMap(device) ?? present.devices.first else { return nothingFound }
        if isInUse { return CheckupLine(.microphone, .ok, "\(first.phrase) is in use") }
        return CheckupLine(.microphone, .ok, "\(first.phrase) is used")
    }

    private var nothingFound: CheckupLine {
        let reason = present.notes.first.map { ": \($0)" } ?? ""
        guard source == .auto else {
            return CheckupLine(.microphone, .problem, "no microphone found\(reason)", advice: Self.advice)
        }
        return CheckupLine(
            .microphone, .warning, "no microphone found, so silence is sent\(reason)",
            advice: "plug one in if there should be sound; see docs/trouble/sound.md")
    }

    /// A name that ALSA's configuration resolves may exist all the same.
    private func isMissing(_ name: String) -> Bool {
        MicrophoneName.normalized(name) != nil && device(name) == nil
    }

    private func device(_ name: String) -> ListedDevice? {
        MicrophoneName.normalized(name).flatMap { present.device(called: $0) }
    }
}

extension LineFinding {
    static func line(_ step: CheckupStep, _ lines: [LineFinding]) -> CheckupLine {
        let named = lines.filter { $0.name != nil }
        guard !named.isEmpty else { return CheckupLine(step, .notChecked, "board.json names none") }
        for line in named {
            if case .fails(let reason) = line.state {
                return CheckupLine(
                    step, .problem, "\(line.text): \(reason)",
                    advice: "correct \(line.key) in board.json; \(Page.light(.board))")
            }
        }
        for line in named {
            if case .taken(let user) = line.state {
                return CheckupLine(
                    step, .warning, "\(line.text) is used by \(user)",
                    advice: "end that program, unless it is Tallycam; \(Page.light(.board))")
            }
        }
        return CheckupLine(step, .ok, named.map(\.text).joined(separator: ", ") + " can be used")
    }

    private var text: String { "\(key) \(name ?? "")" }
}
