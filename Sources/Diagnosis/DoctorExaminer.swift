import ApplianceLogic
import BoardIO
import BoardRuntime
import CardStorage
import DeviceStreams
import Glibc
import LinuxIO
import Media
import Settings
import Synchronization
import Transport

/// Asks for the findings of an examination. Each kind of question has a thread, which is left behind if it hangs.
struct DoctorExaminer: Sendable {
    static let timeouts = ConnectionTimeouts(lookup: .seconds(4), connect: .seconds(4), tlsHandshake: .seconds(4))
    private static let cardPatience = Duration.seconds(4)

    let settings: ApplianceSettings
    let engine: any StreamEngine
    let knowledge: DoctorKnowledge
    let card: CardCalls
    let reports: Mailbox<DoctorRun.Report>
    let threads = ThreadCount()

    /// Threads that have not reported yet.
    final class ThreadCount: Sendable {
        let value = Atomic<Int>(0)
    }

    func examineCard() throws(SystemCallError) {
        try startThread("doctor-card") {
            let settings = settings
            // Without an answer, the step's time runs out.
            let examined = try? card.call(within: Self.cardPatience) { CardExamination(of: settings) }
            return examined.map { [.card($0)] } ?? []
        }
    }

    /// Starts the threads for these steps.
    /// - Returns: what is known at once.
    func examine(_ steps: [CheckupStep], _ files: DescriptionFiles) -> [CheckupFinding] {
        var findings: [CheckupFinding] = []
        start("doctor-network", [.network, .time], steps, &findings) { networkAndTime(files) }
        start("doctor-camera", [.camera], steps, &findings) { [.camera(camera(files.device))] }
        start("doctor-encoder", [.encoder], steps, &findings) { [.encoder(encoder(files.board))] }
        start("doctor-audio", [.microphone], steps, &findings) { [.microphone(microphone(files))] }
        start("doctor-lines", [.button, .light], steps, &findings) { lines(files.board) }
        start("doctor-disk", [.recording], steps, &findings) { [.recording(recording(files.device.record))] }
        guard let stream = files.stream else {
            return findings + [CheckupStep.nameLookup, .server, .key].map { CheckupFinding.notChecked($0, .noStream) }
        }
        findings.append(.key(key(stream, in: files)))
        start("doctor-server", [.nameLookup, .server], steps, &findings) { servers(stream) }
        return findings
    }

    /// - Parameter work: its findings are sent together; it may send others before.
    private func start(
        _ name: String, _ steps: [CheckupStep], _ open: [CheckupStep], _ findings: inout [CheckupFinding],
        _ work: @escaping @Sendable () -> [CheckupFinding]
    ) {
        guard steps.contains(where: open.contains) else { return }
        do throws(SystemCallError) {
            try startThread(name) { work().map { .found($0) } }
        } catch {
            findings += steps.map { .notChecked($0, .failed("\(error)")) }
        }
    }

    /// A thread stops being counted before it reports: whoever reads the last report may start the next examination at once.
    private func startThread(
        _ name: String, _ work: @escaping @Sendable () -> [DoctorRun.Report]
    ) throws(SystemCallError) {
        threads.value.add(1, ordering: .relaxed)
        do throws(SystemCallError) {
            _ = try NamedThread(name, mayBlock: true) { [threads, reports] in
                let found = work()
                threads.value.subtract(1, ordering: .relaxed)
                for report in found { reports.send(report) }
            }
        } catch {
            threads.value.subtract(1, ordering: .relaxed)
            throw error
        }
    }

    private func networkAndTime(_ files: DescriptionFiles) -> [CheckupFinding] {
        let clock = CheckupFinding.time(time(isNeeded: files.stream?.needsClock ?? false))
        do throws(SystemCallError) {
            let links = try LinkMonitor()
            let network = NetworkFinding(
                linksUp: links.linksUp.sorted(), address: links.firstAddress, hasDefaultRoute: links.hasDefaultRoute,
                wirelessProblem: knowledge.wirelessProblem)
            return [.network(network), clock]
        } catch {
            return [.notChecked(.network, .failed("the kernel did not answer: \(error)")), clock]
        }
    }

    private func time(isNeeded: Bool) -> TimeFinding {
        TimeFinding(
            settings.isClockAwaited ? .awaited : settings.asksTimeServers ? .timeServer : .system,
            isPlausible: WallClock.isPlausible,
            text: WallClock.calendarTime().text, isNeeded: isNeeded)
    }

    /// - Returns: the finding of the first key with a problem, otherwise of the leading server's.
    private func key(_ stream: StreamDescription, in files: DescriptionFiles) -> KeyFinding {
        let findings = stream.targets.map { target in
            switch target.form {
            case .pili: KeyFinding(.signature, isExample: false, knowledge.lastAttempt)
            case .plain(let plain):
                KeyFinding(
                    files.hasStreamKey(of: target) ? .separate : .inURL,
                    isExample: KeyFinding.isExample(plain.url.streamName.revealed), knowledge.lastAttempt)
            }
        }
        return findings.first(where: \.isExample) ?? findings[0]
    }
}

// The board's devices.
extension DoctorExaminer {
    private func camera(_ device: DeviceDescription) -> CameraFinding {
        let named = device.cameras.isEmpty ? [device.camera] : device.cameras.map(\.source)
        let wanted = named.filter { $0 != "auto" }
        let fileProblems = wanted.compactMap { source in
            engine.problem(ofFileSource: source).map { "\(source): \($0)" }
        }
        let needsCamera = named.contains(where: CameraFinding.isCamera)
        var list = needsCamera ? engine.list(.cameras) : DeviceList()
        list.notes = fileProblems + list.notes
        // A link such as /dev/v4l/by-id/… names the same camera.
        return .present(list, wanted: wanted.map { $0.hasPrefix("/dev/") ? realPath($0) ?? $0 : $0 })
    }

    private func encoder(_ board: BoardDescription?) -> EncoderFinding {
        var finding = board?.encoder == .openh264 ? EncoderFinding() : engine.findEncoders()
        finding.wanted = board?.encoder ?? .auto
        finding.deadReason = knowledge.deadEncoder
        return finding
    }

    private func microphone(_ files: DescriptionFiles) -> MicrophoneFinding {
        let wanted = files.wantedMicrophones
        return MicrophoneFinding(
            files.device.audioSource, wanted: wanted ?? [],
            present: wanted == nil ? DeviceList() : engine.list(.microphones),
            isInUse: knowledge.usesMicrophones, problem: knowledge.microphoneProblem)
    }

    private func lines(_ board: BoardDescription?) -> [CheckupFinding] {
        let chips = board == nil ? [] : GPIOChip.all()
        let lamps = [
            Self.finding("statusLED", board?.statusLED.map { .line($0) }, chips),
            Self.finding("flashLED", board?.flashLED, chips),
        ]
        return [.button(Self.finding("button", board?.button.map { .line($0) }, chips)), .light(lamps)]
    }

    private static func finding(_ key: String, _ light: BoardDescription.Light?, _ chips: [GPIOChip]) -> LineFinding {
        switch light {
        case nil: return LineFinding(key, name: nil)
        case .line(let line):
            let searched = chips.filter { line.chip == nil || line.chip == $0.name || line.chip == $0.label }
            guard let found = searched.flatMap(\.lines).first(where: { $0.name == line.name }) else {
                let reason = chips.isEmpty ? "the kernel has no GPIO chip" : "no GPIO chip has a line of this name"
                return LineFinding(key, name: line.name, .fails(reason))
            }
            return LineFinding(key, name: line.name, found.user.map { .taken(by: $0) } ?? .works)
        case .led(let name):
            let names = KernelLED.names
            return LineFinding(
                key, name: name, names.contains(name) ? .works : .fails("there is no such LED\(foundNames(names))"))
        case .subdevice(let name):
            let parts = cameraParts()
            return LineFinding(
                key, name: name, parts.contains(name) ? .works : .fails("there is no such flash\(foundNames(parts))"))
        }
    }
}

/// - Returns: the path without symbolic links; `nil` if there is no such file.
private func realPath(_ path: String) -> String? {
    guard let text = realpath(path, nil) else { return nil }
    defer { free(text) }
    return String(cString: text)
}
