import ApplianceLogic
import CardStorage
import DeviceStreams
import Settings
import StreamLogic

/// What the appliance knows without asking anything. What a stream uses must not be opened.
public struct DoctorKnowledge: Sendable {
    /// The files as last read, in case that the card does not answer.
    package var files: DescriptionFiles?
    package var cardFailures: [String] = []
    package var wirelessProblem: String?
    package private(set) var lastAttempt = KeyFinding.LastAttempt.unknown
    package private(set) var deadEncoder: String?
    package private(set) var usesMicrophones = false
    package private(set) var microphoneProblem: String?
    /// Steps that are known already.
    private(set) var findings: [CheckupFinding] = []

    public init() {}

    /// - Parameters:
    ///   - summary: of the present stream; empty without one.
    ///   - isCameraTaken: whether a stream, a screen or a computer has the camera open.
    package mutating func take(
        _ summary: StreamSummary, of device: DeviceDescription, isCameraTaken: Bool, areMicrophonesTaken: Bool
    ) {
        usesMicrophones = areMicrophonesTaken
        microphoneProblem = summary.lost[.audio]
        guard isCameraTaken else { return }
        let open = DeviceList(open: summary, of: device)
        let name = open.devices.first(where: \.isInUse)?.phrase ?? "the camera"
        findings.append(.camera(.inUse(name: name, problem: summary.lost[.video])))
    }

    /// - Parameters:
    ///   - live: where the stream goes; `nil` if it is not live.
    ///   - encoder: of the present stream.
    package mutating func take(_ book: FaultBook, live destination: String?, encoder: EncoderIdentity?) {
        deadEncoder = book.deadEncoder
        cardFailures = book.cardFailures
        if let encoder {
            findings.append(.encoder(EncoderFinding(inUse: encoder.name, deadReason: book.deadEncoder)))
        }
        if let destination {
            lastAttempt = .accepted
            findings += [.notChecked(.nameLookup, .live), .server(.live(destination: destination))]
        } else if let reason = book.refusal {
            lastAttempt = .refused(reason: reason)
        }
    }

    /// - Parameter recording: the present state, which tells everything while something is being recorded or should be.
    package mutating func take(_ recording: RecordingReading, of device: DeviceDescription) {
        let reason = recording.problem.map { RecordingFinding.Place.none(reason: $0) }
        guard let place = reason ?? recording.file.map({ .inUse(file: $0) }) else { return }
        findings.append(.recording(RecordingFinding(device.record, place)))
    }

    /// The board's lines are open, so their state is known.
    /// - Parameter faults: by the keys of board.json.
    package mutating func takeLines(of board: BoardDescription?, faults: [String: String]) {
        func finding(_ key: String, _ name: String?) -> LineFinding {
            LineFinding(key, name: name, faults[key].map { .fails($0) } ?? .works)
        }
        findings.append(.button(finding("button", board?.button?.name)))
        findings.append(
            .light([finding("statusLED", board?.statusLED?.name), finding("flashLED", board?.flashLED?.name)]))
    }
}

extension BoardDescription.Light {
    fileprivate var name: String {
        switch self {
        case .line(let line): line.name
        case .led(let name), .subdevice(let name): name
        }
    }
}
