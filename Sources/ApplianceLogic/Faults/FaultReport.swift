import Settings

/// All present faults of all parts, for the console, the status and faults.txt.
public struct FaultReport: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public let fault: ApplianceFault
        /// What is wrong and what to do.
        public let text: String
    }

    /// Faults in a file, or that a file can repair, with their places.
    public internal(set) var files: [FileFault] = []
    /// Faults that are unrelated to any file.
    public internal(set) var others: [Entry] = []

    public var lines: [String] {
        files.map { "\($0.file):\($0.fault)" } + others.map(\.text)
    }

    /// The contents of faults.txt; `nil` without faults.
    public var text: [UInt8]? {
        guard !files.isEmpty || !others.isEmpty else { return nil }
        var text = "Tallycam found these faults. The light blinks for the first of them.\n"
        text += "This file disappears once all faults are repaired.\n"
        for kind in ApplianceFault.allCases {
            for fault in files where fault.kind == kind && !fault.fault.isWarning { text += Self.section(fault) }
            for entry in others where entry.fault == kind {
                text += "\n\(kind.meaning) (\(kind.blinkCount) blinks)\n  wrong:   \(entry.text)\n"
            }
        }
        for fault in files where fault.fault.isWarning { text += Self.section(fault) }
        // CR LF, so that every editor of Windows can show it.
        return Array(text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n").utf8)
    }

    private static func section(_ fault: FileFault) -> String {
        let weight = fault.fault.isWarning ? "warning" : "\(fault.kind.blinkCount) blinks"
        var text =
            "\n\(fault.file), line \(fault.fault.position.line), column \(fault.fault.position.column) (\(weight))\n"
        if !fault.fault.keyPath.isEmpty { text += "  key:     \(fault.fault.keyPath)\n" }
        text += "  wrong:   \(fault.fault.problem)\n"
        if let example = fault.fault.example { text += "  example: \(example)\n" }
        return text
    }
}
