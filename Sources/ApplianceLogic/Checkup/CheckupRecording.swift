import Media
import RecordingLogic
import Settings

/// Where recordings go, and whether they can.
public struct RecordingFinding: Hashable, Sendable {
    public enum Place: Hashable, Sendable {
        /// The file that is being written.
        case inUse(file: String)
        case folder(String, freeByteCount: Int)
        /// - Parameter reason: why no folder can be used.
        case none(reason: String)
    }

    public let wanted: DeviceDescription.Record
    public let place: Place
    /// Why preferred disks are not used.
    public let skipped: [String]

    public init(_ wanted: DeviceDescription.Record, _ place: Place, skipped: [String] = []) {
        self.wanted = wanted
        self.place = place
        self.skipped = skipped
    }
}

extension RecordingFinding {
    private static let advice = "plug in another disk, or correct record in device.json; \(Page.light(.recording))"

    var line: CheckupLine {
        if wanted.when == .off { return CheckupLine(.recording, .ok, "device.json turns recordings off") }
        switch place {
        case .inUse(let file): return CheckupLine(.recording, .ok, "recording to \(file)")
        case .none(let reason):
            // Nobody may want to record.
            let result: CheckupResult = wanted.when == .command ? .warning : .problem
            return CheckupLine(.recording, result, "nothing can be recorded: \(reason)", advice: Self.advice)
        case .folder(let folder, let free):
            let text = "\(folder), \(fixed(Double(free) / 1e9, decimals: 1)) GB free"
            if wanted.keep == .all, free < RecordingFolder.reserve + RecordingFolder.leastRoom {
                return CheckupLine(
                    .recording, .problem, "\(text): too little, and device.json keeps all", advice: Self.advice)
            }
            guard let reason = skipped.first else { return CheckupLine(.recording, .ok, text) }
            return CheckupLine(
                .recording, .warning, "\(text); another disk cannot be used: \(reason)",
                advice: "repair that disk on a computer; \(Page.light(.recording))")
        }
    }
}
