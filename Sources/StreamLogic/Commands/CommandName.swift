/// Where commands can be typed.
public enum CommandSurface: String, CaseIterable, Sendable {
    /// The serial console of the camera.
    case console
    /// The control socket of the camera: one line per connection, as sent by `tallycam COMMAND`.
    case socket
    /// Standard input of `tallycam publish`: a terminal, or the input of `--commands`.
    case publish
    /// A paired browser.
    case page
}

/// The commands of all surfaces. `CommandDescription` has their arguments and their help.
public enum CommandName: String, CaseIterable, Sendable {
    case status
    case start
    case stop
    case settings
    case quality
    case set
    case openTransaction = "begin"
    case commit
    case cancel
    case mute
    case controls
    case filter
    case camera
    case target
    case cameras
    case microphones
    case pause
    case snapshot
    case record
    case torch
    case webcam
    case wifi
    case page
    case faults
    case doctor
    case events
    case reboot
    case powerOff = "poweroff"
    case help
}

/// A row of the table of commands. Every surface takes its names, arguments, help, usage errors and suggestions from
/// it, and a test compares docs/reference/console.md with it.
public struct CommandDescription: Hashable, Sendable {
    public let name: CommandName
    public let forms: [CommandForm]
    /// Summary for lists of commands, if it differs from the first form's.
    private let ownSummary: String?
    /// The answer of a surface that does not have the command; empty if all surfaces have it.
    let absence: String

    private init(_ name: CommandName, _ forms: [CommandForm], summary: String? = nil, absence: String = "") {
        self.name = name
        self.forms = forms
        self.absence = absence
        ownSummary = summary
    }

    public static let all: [CommandDescription] = [
        CommandDescription(.status, [CommandForm("[json]", "show what the camera is doing; json for programs")]),
        CommandDescription(
            .start, [CommandForm("", "start the stream, as a press of the button does", on: .appliance)],
            absence: "publish starts its stream by itself; stop ends it"),
        CommandDescription(.stop, [CommandForm("", "stop the stream")]),
        CommandDescription(.settings, [CommandForm("", "show the settings of the live stream")]),
        CommandDescription(
            .quality, [CommandForm("[NAME|RATE]", "show or set the quality: Low1 to High3, or 4.5M")]),
        CommandDescription(
            .set, [CommandForm("NAME VALUE [NAME VALUE...]", "change settings and controls, all at one frame")]),
        CommandDescription(
            .openTransaction, [CommandForm("", "collect changes until commit or cancel", on: .publish)],
            absence: absenceOfTransactions),
        CommandDescription(
            .commit, [CommandForm("", "apply the collected changes, all at one frame", on: .publish)],
            absence: absenceOfTransactions),
        CommandDescription(
            .cancel, [CommandForm("", "discard the collected changes", on: .publish)],
            absence: absenceOfTransactions),
        CommandDescription(.mute, [CommandForm("on|off", "mute or unmute the audio")]),
        CommandDescription(.controls, [CommandForm("[json]", "show the camera's controls; json for programs")]),
        CommandDescription(
            .filter,
            [
                CommandForm(
                    "NAME KEY=VALUE [KEY=VALUE...]|off", "change or remove a filter of the live stream", isText: true)
            ]),
        CommandDescription(.camera, [CommandForm("NAME|next", "switch to another camera")]),
        CommandDescription(
            .target, [CommandForm("NAME on|off", "start or stop one target of stream.json while live")]),
        CommandDescription(
            .cameras, [CommandForm("[json]", "list the cameras and which one is in use", on: .appliance)],
            absence: "publish does not list cameras: tallycam cameras does"),
        CommandDescription(
            .microphones, [CommandForm("[json]", "list the microphones and which are in use", on: .appliance)],
            absence: "publish does not list microphones: tallycam microphones does"),
        CommandDescription(.pause, [CommandForm("on|off", "send a still frame and silence, or resume")]),
        CommandDescription(
            .snapshot,
            [
                CommandForm("[QUALITY]", "save a JPEG on the card; quality 1 to 100", on: .appliance),
                CommandForm("send [QUALITY]", "answer with the JPEG file", on: [.socket, .page]),
                CommandForm("FILE [QUALITY]", "write a JPEG; quality 1 to 100 (default 90)", on: .publish),
            ], summary: "take a JPEG snapshot"),
        CommandDescription(
            .record,
            [
                CommandForm("start|stop", "start or stop a recording, also without a stream", on: .appliance),
                CommandForm("mark TEXT [TEXT...]", "note this moment beside the recording", on: .appliance),
                CommandForm("eject", "make the USB stick ready to be pulled out", on: .appliance),
            ], summary: "record on the camera",
            absence: "publish records nothing: only the camera appliance (tallycam run) does"),
        CommandDescription(
            .torch,
            [CommandForm("[off|on|live|auto]", "show or set when the flash LED is lit", on: .appliance)],
            absence: "publish cannot control the torch: only the camera appliance (tallycam run) can"),
        CommandDescription(
            .webcam,
            [CommandForm("start|stop|allow", "set USB webcam mode; allow admits a waiting program", on: .appliance)],
            absence: "publish cannot be a webcam: only the camera appliance (tallycam run) can"),
        CommandDescription(
            .wifi, [CommandForm("search [json]", "list the Wi-Fi networks in range", on: .appliance)],
            absence: "only the camera appliance (tallycam run) searches for Wi-Fi networks"),
        CommandDescription(
            .page,
            [
                CommandForm("allow [CODE]", "admit the browser that waits", on: [.console, .socket]),
                CommandForm("forget", "forget all browsers", on: [.console, .socket]),
            ], summary: "pair browsers",
            absence: "only the camera's console and tallycam page, on the camera itself, admit browsers"),
        CommandDescription(
            .faults, [CommandForm("", "show faults and how to repair them", on: .appliance)],
            absence: "publish has no list of faults: it prints each one as it happens"),
        CommandDescription(
            .doctor, [CommandForm("[json]", "check the device part by part; say what to do next", on: .appliance)],
            absence: "publish cannot check the device: tallycam doctor does"),
        CommandDescription(
            .events,
            [
                CommandForm("[N]", "show the last N events, 1 to 1000 (default 20)", on: .appliance),
                CommandForm("follow [COUNT]", "show the last COUNT events, then each new one", on: .socket),
                CommandForm("follow json", "show each new event as a JSON object", on: .socket),
            ],
            absence: "publish keeps no events: it prints each one as it happens"),
        CommandDescription(
            .reboot, [CommandForm("", "restart the machine", on: .appliance)], absence: absenceOfPower),
        CommandDescription(
            .powerOff, [CommandForm("", "power the machine off", on: .appliance)], absence: absenceOfPower),
        CommandDescription(.help, [CommandForm("", "list the commands")]),
    ]

    private static let absenceOfTransactions =
        "only publish --commands has transactions; here one set line changes several settings at one frame"
    private static let absenceOfPower =
        "publish does not control the machine: only the camera appliance (tallycam run) does"

    public static func of(_ name: CommandName) -> CommandDescription {
        // A test checks that each name has a row.
        all.first { $0.name == name } ?? all[0]
    }
}

extension CommandDescription {
    public var summary: String { ownSummary ?? forms.first?.summary ?? "" }

    public func forms(on surface: CommandSurface) -> [CommandForm] {
        forms.filter { $0.surfaces.contains(CommandSurfaces(surface)) }
    }

    /// Each form as typed, such as "quality NAME".
    public func usages(on surface: CommandSurface) -> [String] { forms(on: surface).map(usage) }

    /// The ranges of its numbers, as the end of a sentence.
    func ranges(on surface: CommandSurface) -> String {
        var ranges: [String] = []
        for range in forms(on: surface).flatMap(\.ranges) where !ranges.contains(range) { ranges.append(range) }
        return ranges.map { "; \($0)" }.joined()
    }

    private func usage(_ form: CommandForm) -> String {
        form.arguments.isEmpty ? name.rawValue : "\(name.rawValue) \(form.arguments)"
    }

    /// The commands of a surface, in the table's order.
    public static func all(on surface: CommandSurface) -> [CommandDescription] {
        all.filter { !$0.forms(on: surface).isEmpty }
    }

    /// The answer to `help`, at most 80 columns wide.
    public static func help(on surface: CommandSurface) -> [String] {
        var lines: [String] = []
        for row in all(on: surface) {
            for form in row.forms(on: surface) { lines += helpLines(row.usage(form), form.summary) }
        }
        lines.append("Names for set:")
        for names in RequestedChanges.nameLines { lines.append("  " + names) }
        lines.append(#"Quotes group words: filter text text="Studio {time}, live""#)
        return lines
    }

    private static func helpLines(_ usage: String, _ summary: String) -> [String] {
        let column = 26
        let room = column - usage.count
        guard room >= 2 else { return [usage, String(repeating: " ", count: column) + summary] }
        return [usage + String(repeating: " ", count: room) + summary]
    }
}
