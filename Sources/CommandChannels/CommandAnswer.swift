import ApplianceLogic
import Controls
import Diagnosis
import JSONText
import Settings
import StreamLogic
import Terminal

/// The result of a command, which is rendered in several forms.
package enum CommandAnswer {
    case done([String])
    /// - Parameter done: lines about those parts of the command that were done before it failed.
    case failed(ApplianceRefusal, done: [String] = [])
    case status(ApplianceStatus)
    case quality(ApplianceStatus.QualityReading)
    case controls([ControlStatus])
    case devices(DeviceList)
    case networks([WirelessNetwork])
    /// Part of an answer: the rest follows.
    case checkup([CheckupLine])
    /// The end of the same answer.
    case checkupEnded(CheckupSummary)
    case file([UInt8])
    /// Events follow until the asker disconnects.
    /// - Parameter first: what it reads before the first event.
    case follow(ReaderForm, first: [UInt8])

    package var isGood: Bool { if case .failed = self { false } else { true } }

    /// Whether nothing follows.
    package var isComplete: Bool { if case .checkup = self { false } else { true } }

    /// For people; empty for a file.
    package var lines: [String] {
        switch self {
        case .done(let lines): lines
        case .failed(let refusal, let done): done + refusal.description.split(separator: "\n").map(String.init)
        case .status(let status): status.lines
        case .quality(let quality): [quality.text]
        case .controls(let controls): controls.map(\.description)
        case .devices(let list): list.lines
        case .networks(let found): found.isEmpty ? ["no network is in range"] : found.map(\.description)
        case .checkup(let lines): lines.map(\.description)
        case .checkupEnded(let summary): [summary.description]
        case .file, .follow: []
        }
    }

    /// The answer to both parts of a command; good if both are.
    package func followed(by next: CommandAnswer) -> CommandAnswer {
        switch (self, next) {
        case (.failed(let refusal, let done), _): .failed(refusal, done: done + next.lines)
        case (_, .failed(let refusal, let done)): .failed(refusal, done: lines + done)
        default: .done(lines + next.lines)
        }
    }

    /// Text for people has only one form.
    package func content(as form: ReaderForm) -> [UInt8] {
        switch (self, form) {
        case (.file(let bytes), _): bytes
        case (.follow(_, let first), _): first
        case (.failed(let refusal, let done), .json): refusal.jsonLine(done)
        case (.status(let status), .json): status.jsonLine
        case (.controls(let controls), .json): controls.jsonLine
        case (.devices(let list), .json): list.jsonLines
        case (.networks(let found), .json): found.jsonLine
        case (.checkup(let lines), .json): lines.flatMap(\.jsonLine)
        case (.checkupEnded(let summary), .json): summary.jsonLine
        default: Array(lines.map { "\($0)\n" }.joined().utf8)
        }
    }
}

extension WirelessNetwork {
    fileprivate var description: String {
        "\(signal) dBm  \(security.rawValue)  \(name)\(isExact ? "" : "  (its name is not text)")"
    }
}

extension [WirelessNetwork] {
    /// An array and a LF.
    package var jsonLine: [UInt8] {
        var writer = JSONLineWriter()
        return writer.arrayLine { array in
            for network in self {
                array.writeObject { object in
                    object.write("name", network.name)
                    object.write("isExact", network.isExact)
                    object.write("signal", network.signal)
                    object.write("security", network.security.rawValue)
                }
            }
        }
    }
}

extension ApplianceRefusal {
    /// An object and a LF.
    fileprivate func jsonLine(_ done: [String]) -> [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("error", name)
            object.write("text", description)
            if !done.isEmpty { object.write("done", done) }
        }
    }
}

/// - Parameter answer: a refusal, as the control socket gives it in either form.
/// - Returns: it for people, on one line.
public func refusalText(_ answer: ArraySlice<UInt8>) -> String {
    var lines = String(decoding: answer, as: UTF8.self)
    if let json = try? JSONValue(parsing: Array(answer)), case .string(let text)? = json["text"]?.content {
        lines = text
    }
    return lines.split(separator: "\n").joined(separator: "; ")
}
