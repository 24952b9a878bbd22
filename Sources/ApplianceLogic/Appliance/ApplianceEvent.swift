import Media
import StreamLogic

/// An event of the device as a whole, in addition to those of its stream: docs/reference/events.md.
public enum ApplianceEvent: Event {
    /// A line for people that has no event of its own.
    case message(String)
    case deviceStateChanged(ApplianceState)
    /// - Parameter 0: what is wrong, where, and what to do.
    case faultFound(String)
    /// - Parameter reason: why, and how often it has happened lately.
    case machineRestarting(reason: String)
    case recordingChanged(RecordingReading)
    case recordingFinished(file: String, seconds: Double, byteCount: Int)
    /// A follower did not read in time, so this many events were dropped.
    case eventsDropped(count: Int)

    public var code: EventCode? { if case .machineRestarting = self { .machineRestarting } else { nil } }

    public var name: String {
        switch self {
        case .message: "message"
        case .deviceStateChanged: "deviceStateChanged"
        case .faultFound: "faultFound"
        case .machineRestarting: EventCode.machineRestarting.name
        case .recordingChanged: "recordingChanged"
        case .recordingFinished: "recordingFinished"
        case .eventsDropped: "eventsDropped"
        }
    }

    public var text: String? {
        switch self {
        case .message(let text): text
        case .deviceStateChanged(let state):
            state.name + (state.fault.map { ": \($0.meaning) (\($0.blinkCount) blinks)" } ?? "")
        case .faultFound(let line): "fault: \(line)"
        case .machineRestarting(let reason): "\(name) (\(EventCode.machineRestarting.rawValue)): \(reason)"
        case .recordingChanged(let reading): "recording: \(reading.text)"
        case .recordingFinished(let file, let seconds, let byteCount):
            "recorded \(file): \(fixed(seconds, decimals: 1)) s, \(byteCount / 1000) kB"
        case .eventsDropped(let count): "\(count) events dropped: this connection was read too slowly"
        }
    }

    public var fields: [EventField] {
        switch self {
        case .message(let text): [("message", .text(text))]
        case .deviceStateChanged(let state):
            [("state", .text(state.name))]
                + (state.fault.map { [("blinks", .integer($0.blinkCount)), ("meaning", .text($0.meaning))] } ?? [])
        case .faultFound(let line): [("fault", .text(line))]
        case .machineRestarting(let reason): [("reason", .text(reason))]
        case .recordingChanged(let reading):
            [("state", .text(reading.state.name))] + (reading.file.map { [("file", .text($0))] } ?? [])
                + (reading.problem.map { [("problem", .text($0))] } ?? [])
        case .recordingFinished(let file, let seconds, let byteCount):
            [("file", .text(file)), ("seconds", .number(seconds)), ("bytes", .integer(byteCount))]
        case .eventsDropped(let count): [("count", .integer(count))]
        }
    }
}

extension ApplianceState {
    fileprivate var fault: ApplianceFault? { if case .fault(let fault) = self { fault } else { nil } }
}
