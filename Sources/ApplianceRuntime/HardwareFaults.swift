import ApplianceLogic
import BoardIO
import BoardRuntime
import Glibc
import Media
import Settings

// Faults that appear only when a description is applied, reported with the key that can fix them.
extension ApplianceDevice {
    /// Hardware that board.json names but that is missing or does not work.
    var hardwareFaults: [FileFault] {
        var faults: [FileFault] = []
        let lines =
            [
                ("button", files.board?.button.map { .line($0) }), ("flashLED", files.board?.flashLED),
                ("statusLED", files.board?.statusLED.map { .line($0) }),
            ] as [(String, BoardDescription.Light?)]
        for (key, light) in lines {
            if let light, let problem = board.faults[key] { faults.append(lightFault(key, light, "\(problem)")) }
        }
        if let failure = consolePort.failure {
            faults.append(deviceFault("console", failure, present: Self.serialPorts))
        }
        if let name = files.board?.lens, let problem = lensProblem(name) {
            faults.append(files.fault(.board, "board.json", "lens", problem))
        }
        if let failure = page.failure {
            faults.append(files.fault(.settings, "device.json", "page", failure, example: #""page": false"#))
        }
        if let failure = watchdog.failure { faults.append(deviceFault("watchdog", failure, present: Self.watchdogs)) }
        return faults
    }

    private static let serialPorts = [
        "ttyAMA0", "ttyAMA1", "ttyAMA10", "ttyS0", "ttyS1", "ttyUSB0", "ttyACM0", "ttyGS0",
    ]
    private static let watchdogs = ["watchdog", "watchdog0", "watchdog1"]

    /// - Parameter present: names below /dev; those that exist are suggested.
    private func deviceFault(_ key: String, _ problem: String, present: [String]) -> FileFault {
        let paths = present.map { name -> String in "/dev/\(name)" }.filter { access($0, F_OK) == 0 }
        let example = paths.first.map { "\"\(key)\": \"\($0)\"" }
        return files.fault(.board, "board.json", key, problem + foundNames(paths), example: example)
    }

    private func lightFault(_ key: String, _ light: BoardDescription.Light, _ problem: String) -> FileFault {
        switch light {
        case .line(let line): lineFault(key, line, problem)
        case .led: namedFault("\(key).led", problem, among: KernelLED.names)
        case .subdevice: namedFault("\(key).subdevice", problem, among: cameraParts())
        }
    }

    private func namedFault(_ key: String, _ problem: String, among names: [String]) -> FileFault {
        let name = key.split(separator: ".").last ?? ""
        return files.fault(
            .board, "board.json", key, problem + foundNames(names),
            example: names.first.map { "\"\(name)\": \"\($0)\"" })
    }

    private func lineFault(_ key: String, _ line: BoardDescription.Line, _ problem: String) -> FileFault {
        let chips = board.chips(of: key)
        let searched = (chips ?? []).filter { line.chip == nil || line.chip == $0.name || line.chip == $0.label }
        if searched.isEmpty, let chips, let first = chips.first {
            return files.fault(
                .board, "board.json", "\(key).chip",
                "there is no GPIO chip \"\(line.chip ?? "")\"\(foundNames(chips.map(\.label)))",
                example: "\"chip\": \"\(first.label)\"")
        }
        // On most boards, the other lines serve other purposes.
        let all = searched.flatMap(\.lines).filter { $0.user == nil }.map(\.name)
        let free = all.filter { $0.hasPrefix("GPIO") } + all.filter { !$0.hasPrefix("GPIO") }
        let near = NameSuggestion.nearest(to: line.name, among: free)
        let found = chips.map { $0.isEmpty ? "; the kernel has no GPIO chip" : foundNames(free) } ?? ""
        return files.fault(
            .board, "board.json", "\(key).line", problem + found,
            example: (near ?? free.first).map { "\"line\": \"\($0)\"" })
    }

    /// A device that a stream did not find, or a server that it did not reach, with the key that can fix it.
    func fileFault(for failure: FaultBook.Failure) -> FileFault {
        let (file, key) = mendingKey(of: failure)
        // If the file already says "auto", suggesting that would be useless.
        let isAutomatic = key == "camera" && files.device.camera == "auto" && failure.choices.isEmpty
        let fault = files.fault(
            failure.fault, file, key, failure.text,
            example: isAutomatic ? #""camera": "synthetic" for a test pattern"# : nil)
        guard !failure.choices.isEmpty, let example = fault.fault.example else { return fault }
        let name = key.split(separator: ".").last ?? ""
        let others = failure.choices.prefix(8).map { " or \"\(name)\": \"\($0)\"" }.joined()
        return files.fault(failure.fault, file, key, failure.text, example: example + others)
    }

    /// The key that a person would change, or at least look at.
    private func mendingKey(of failure: FaultBook.Failure) -> (file: String, key: String) {
        switch failure.fault {
        case .camera:
            // Streams and snapshots start with the first camera.
            return ("device.json", files.device.cameras.first.map { "cameras.\($0.name)" } ?? "camera")
        case .microphone:
            if !files.device.microphones.isEmpty { return ("device.json", "audio.sources[0].device") }
            return files.board?.microphone == nil ? ("device.json", "audio.source") : ("board.json", "microphone")
        case .encoder:
            return files.board?.encoder == .auto ? ("device.json", "dimension") : ("board.json", "encoder")
        default:
            guard let target = files.stream?.target(named: failure.target?.name) else { return ("stream.json", "url") }
            if case .pili = target.form { return ("stream.json", target.keyPath(of: "hosts.publish.rtmp")) }
            // The server responds but refuses a stream of this name.
            let isKeyRefused = failure.code == .netStreamFailed && files.hasStreamKey(of: target)
            return ("stream.json", target.keyPath(of: isKeyRefused ? "key" : "url"))
        }
    }
}
