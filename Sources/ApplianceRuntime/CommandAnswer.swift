import ApplianceLogic
import Controls
import Diagnosis
import StreamLogic
import Terminal

/// The result of a command, which is rendered in several forms.
enum CommandAnswer {
    case done([String])
    case failed(String)
    case status(ApplianceStatus)
    case quality(ApplianceStatus.QualityReading)
    case controls([ControlStatus])
    case devices(DeviceList)
    /// Part of an answer: the rest follows.
    case checkup([CheckupLine])
    /// The end of the same answer.
    case checkupEnded(CheckupSummary)
    case file([UInt8])
    /// Events follow until the asker disconnects.
    /// - Parameter first: what it reads before the first event.
    case follow(ReaderForm, first: [UInt8])

    var isGood: Bool { if case .failed = self { false } else { true } }

    /// Whether nothing follows.
    var isComplete: Bool { if case .checkup = self { false } else { true } }

    /// For people; empty for a file.
    var lines: [String] {
        switch self {
        case .done(let lines): lines
        case .failed(let reason): reason.split(separator: "\n").map(String.init)
        case .status(let status): status.lines
        case .quality(let quality): [quality.text]
        case .controls(let controls): controls.map(\.description)
        case .devices(let list): list.lines
        case .checkup(let lines): lines.map(\.description)
        case .checkupEnded(let summary): [summary.description]
        case .file, .follow: []
        }
    }

    /// Text for people has only one form.
    func content(as form: ReaderForm) -> [UInt8] {
        switch (self, form) {
        case (.file(let bytes), _): bytes
        case (.follow(_, let first), _): first
        case (.status(let status), .json): status.jsonLine
        case (.controls(let controls), .json): controls.jsonLine
        case (.devices(let list), .json): list.jsonLines
        case (.checkup(let lines), .json): lines.flatMap(\.jsonLine)
        case (.checkupEnded(let summary), .json): summary.jsonLine
        default: Array(lines.map { "\($0)\n" }.joined().utf8)
        }
    }
}
