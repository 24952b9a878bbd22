import ApplianceLogic
import Controls
import Filters
import JSONText
import LinuxIO
import Media
import Settings
import StreamLogic

// The commands of console and socket.
extension ApplianceRunner {
    private static let help = """
        status         what the camera is doing; status json for programs
        start          start the stream, as a press of the button does
        stop           stop the stream
        quality        what is being sent
        quality NAME   send this quality, until the stream ends: Low1 to High3
        set NAME VALUE [NAME VALUE...]
                       change settings of the live stream and controls of its camera, all at one frame:
                       \(RequestedChanges.nameLines.joined(separator: "\n                       "))
        controls       the camera's controls as they are; controls json for programs
        filter NAME KEY=VALUE [KEY=VALUE...]|off
                       change what the live stream's frames pass, or take a filter away
        snapshot [QUALITY]
                       keep a JPEG of a frame in the folder of device.json; JPEG quality 1 to 100
        torch NAME     off, on, live or auto, until device.json says something else
        camera NAME    let another camera of device.json be on; camera next
        webcam start|stop|allow
                       be a webcam for the computer at the USB device port, or none, until the program ends; allow
                       answers a program that waits, as a press of the button does
        faults         what is wrong
        events [N]     the last N events (20)
        reboot         start the machine again
        poweroff       end the machine
        help           this list

        """

    func execute(_ line: String, of asker: CommandAsker) -> CommandAnswer {
        let words = line.split(separator: " ").map(String.init)
        let now = MonotonicClock.now()
        switch (words.first ?? "", words.dropFirst().first, words.count) {
        case ("status", nil, 1): return CommandAnswer(text: statusText(now: now))
        case ("status", "json", 2): return CommandAnswer(text: statusJSON(now: now))
        case ("start", nil, 1): return start(now: now)
        case ("stop", nil, 1):
            personActed()
            perform(appliance.stopRequested(now: now))
            return CommandAnswer(text: stream.isRunning ? "stopping\n" : "\(appliance.state.name)\n")
        case ("quality", nil, 1): return CommandAnswer(text: qualityText)
        case ("quality", let name?, 2): return change(["quality", name], for: asker)
        case ("set", _?, let count) where count % 2 == 1: return change(words.dropFirst(), for: asker)
        case ("set", _, _): return .failed("set takes names with values, as in: set quality Medium2 zoom 2")
        case ("filter", _, _): return filter(line, for: asker)
        case ("controls", nil, 1): return listControls(asJSON: false, for: asker)
        case ("controls", "json", 2): return listControls(asJSON: true, for: asker)
        case ("snapshot", "send", 2...3): return snapshot(.send, words.dropFirst(2).first, for: asker)
        case ("snapshot", let quality, 1...2): return snapshot(.keep, quality, for: asker)
        case ("torch", let mode, 1...2): return torch(mode)
        case ("camera", let name?, 2): return switchCamera(name, for: asker)
        case ("webcam", let word?, 2): return setWebcam(word)
        case ("faults", nil, 1):
            return CommandAnswer(text: faultsText)
        case ("events", "follow", 2...3): return followEvents(words.dropFirst(2), for: asker)
        case ("events", let count, 1...2):
            let number = count.map { Int($0) ?? 0 } ?? 20
            guard (1...1000).contains(number) else {
                return .failed("events takes a number from 1 to 1000")
            }
            return CommandAnswer(text: events.lines.suffix(number).map { "\($0)\n" }.joined())
        case ("reboot", nil, 1):
            perform(appliance.powerOffRequested(.reboot, now: now))
            return CommandAnswer(text: "restarting\n")
        case ("poweroff", nil, 1):
            perform(appliance.powerOffRequested(.halt, now: now))
            return CommandAnswer(text: "powering off\n")
        case ("help", nil, 1): return CommandAnswer(text: Self.help)
        case (let name, _, _): return .failed(Self.problem(with: name))
        }
    }

    /// Of a command that is none, or has the wrong words behind it.
    private static func problem(with name: String) -> String {
        let commands = help.split(separator: "\n").filter { !$0.hasPrefix(" ") }
        let usages = commands.filter { $0.hasPrefix("\(name) ") }
        guard !name.isEmpty, !usages.isEmpty else {
            let names = commands.compactMap { $0.split(separator: " ").first.map(String.init) }
            let meant = NameSuggestion.question(for: name, among: names) ?? ";"
            return "there is no such command\(meant) help lists them"
        }
        return "\(name) takes other words:\n" + usages.joined(separator: "\n")
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

    var qualityText: String {
        guard stream.isRunning, let point = summary.point else {
            let device = files.device
            return "not live; starts at \(device.startQuality), within \(device.lowestQuality) to "
                + "\(device.highestQuality), \(device.dimension)\n"
        }
        return "\(summary.status?.qualityText ?? point.qualityName)\n"
    }

    private var faultsText: String {
        let lines = appliance.faultBook.lines
        return lines.isEmpty ? "none\n" : lines.map { "\($0)\n" }.joined()
    }
}
