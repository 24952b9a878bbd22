import ApplianceLogic
import JSONText
import Settings
import Testing

extension Camera {
    /// What `status json` tells.
    struct Status {
        /// As the table of states names it.
        let state: String
        let isStreamWanted: Bool
        let isPaused: Bool
        /// The server in stream.json; `nil` while the file cannot be used.
        let destination: String?
        /// As `RecordingReading` names it.
        let recording: String
        /// The blink count of each present fault.
        let faults: [Int]
        /// What is wrong and how to repair it.
        let details: [String]
        /// `nil` while webcam mode is off.
        let webcam: Webcam?
    }

    struct Webcam {
        let state: String
        let waitsForPress: Bool
        let isMuted: Bool
        /// Whether a command overrides device.json.
        let isAgainstFile: Bool
        /// Why there is no gadget.
        let reason: String?
        let cameraReason: String?
        let microphoneReason: String?
    }

    func status() throws -> Status {
        let answer = Array(try ask("status json").utf8)
        let lines = answer.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        let json = try JSONValue(parsing: Array(try #require(lines.last)))
        return Status(
            state: try #require(json["state"]?.text),
            isStreamWanted: try #require(json["isStreamWanted"]?.flag), isPaused: try #require(json["paused"]?.flag),
            destination: json["destination"]?.text, recording: try #require(json["recording"]?["state"]?.text),
            faults: json["faults"]?.elements.compactMap { $0["blinks"]?.number } ?? [],
            details: json["details"]?.elements.compactMap(\.text) ?? [],
            webcam: try json["webcam"].map(webcam))
    }

    private func webcam(_ json: JSONValue) throws -> Webcam {
        Webcam(
            state: try #require(json["state"]?.text), waitsForPress: try #require(json["waitsForPress"]?.flag),
            isMuted: try #require(json["isMuted"]?.flag),
            isAgainstFile: try #require(json["isAgainstFile"]?.flag), reason: json["reason"]?.text,
            cameraReason: json["cameraReason"]?.text,
            microphoneReason: json["microphoneReason"]?.text)
    }

    func state() throws -> String { try status().state }
    func recordingState() throws -> String { try status().recording }
    func faults() throws -> [ApplianceFault] { try status().faults.compactMap(ApplianceFault.init) }
}

extension JSONValue {
    fileprivate var text: String? { if case .string(let text) = content { text } else { nil } }
    fileprivate var number: Int? { if case .integer(let number) = content { Int(number) } else { nil } }
    fileprivate var flag: Bool? { if case .bool(let flag) = content { flag } else { nil } }
    fileprivate var elements: [JSONValue] { if case .array(let elements) = content { elements } else { [] } }
}
