import ApplianceLogic
import JSONText
import LinuxIO
import Media
import Settings
import StreamLogic
import Terminal

// The commands of console and socket.
extension ApplianceRunner {
    func execute(_ line: String, of asker: CommandAsker) -> CommandAnswer {
        do throws(CommandError) {
            guard let command = try TypedCommand(line, on: asker.surface) else {
                throw .unknown("", on: asker.surface)
            }
            return execute(command, of: asker, now: MonotonicClock.now())
        } catch {
            return .failed(error.description)
        }
    }

    private func execute(_ command: TypedCommand, of asker: CommandAsker, now: MediaTimestamp) -> CommandAnswer {
        let words = command.arguments
        switch command.name {
        case .status: return statusAnswer(asJSON: !words.isEmpty, now: now)
        case .start: return start(now: now)
        case .stop: return stop(now: now)
        case .settings: return listSettings(for: asker)
        case .quality where words.isEmpty: return CommandAnswer(text: "\(quality.text)\n")
        case .quality, .mute: return change([command.name.rawValue] + words, for: asker)
        case .set: return change(words, for: asker)
        case .filter: return filter(command.text, for: asker)
        case .controls: return listControls(asJSON: !words.isEmpty, for: asker)
        case .snapshot where words.first?.lowercased() == "send":
            return snapshot(.send, words.dropFirst().first, for: asker)
        case .snapshot: return snapshot(.keep, words.first, for: asker)
        case .torch: return torch(words.first?.lowercased())
        case .camera: return switchCamera(words.first ?? "", for: asker)
        case .pause: return pause(words.first?.lowercased() == "on", for: asker)
        case .webcam: return setWebcam(words.first?.lowercased() ?? "", for: asker)
        case .faults: return CommandAnswer(text: faultsText)
        case .events where words.first?.lowercased() == "follow": return followEvents(words.dropFirst())
        case .events:
            let lines = events.lines.suffix(words.first.flatMap { Int($0) } ?? 20)
            return CommandAnswer(text: lines.map { "\($0)\n" }.joined())
        case .reboot: return powerOff(.reboot, "restarting\n", now: now)
        case .powerOff: return powerOff(.halt, "powering off\n", now: now)
        case .help:
            return CommandAnswer(text: CommandDescription.help(on: asker.surface).map { "\($0)\n" }.joined())
        // The table gives them to no appliance.
        case .openTransaction, .commit, .cancel:
            return .failed(CommandError.unavailable(command.name).description)
        }
    }

    private func stop(now: MediaTimestamp) -> CommandAnswer {
        personActed()
        perform(appliance.stopRequested(now: now))
        return CommandAnswer(text: stream.isRunning ? "stopping\n" : "\(appliance.state.name)\n")
    }

    private func powerOff(_ kind: Appliance.PowerOff, _ answer: String, now: MediaTimestamp) -> CommandAnswer {
        perform(appliance.powerOffRequested(kind, now: now))
        return CommandAnswer(text: answer)
    }

    private func start(now: MediaTimestamp) -> CommandAnswer {
        personActed()
        let actions = appliance.startRequested(now: now)
        perform(actions)
        for case .refuseStart(let fault) in actions {
            return .failed(([fault.meaning] + appliance.faultBook.lines).joined(separator: "\n"))
        }
        return CommandAnswer(text: "\(appliance.state.name)\n")
    }

    private func statusAnswer(asJSON: Bool, now: MediaTimestamp) -> CommandAnswer {
        let status = status(now: now)
        guard !asJSON else { return CommandAnswer(text: String(decoding: status.jsonLine, as: UTF8.self)) }
        return CommandAnswer(text: status.lines.map { "\($0)\n" }.joined())
    }

    private var faultsText: String {
        let lines = appliance.faultBook.lines
        return lines.isEmpty ? "none\n" : lines.map { "\($0)\n" }.joined()
    }
}
